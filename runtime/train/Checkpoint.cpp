// SPDX-License-Identifier: Apache-2.0
// Folders of checkpoints: writing one so that it appears whole, choosing one,
// and checking that it has exactly what the program needs.

#include "runtime/train/Checkpoint.h"

#include "runtime/base/File.h"
#include "runtime/data/Array.h"
#include "runtime/train/TrainingState.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace hpcc::runtime {

namespace fs = std::filesystem;

namespace {

constexpr const char *kParameters = "parameters.safetensors";
constexpr const char *kOptimizer = "optimizer.safetensors";
constexpr const char *kState = "state.json";
constexpr std::string_view kPrefix = "step-";
constexpr std::string_view kMomentumSuffix = ":momentum";
/// Temporaries of a writer that was killed are removed by the next one.
constexpr std::string_view kTemporary = ".tmp-";

std::string join(const std::string &directory, const std::string &name) {
  return (fs::path(directory) / name).string();
}

std::string folderName(int64_t step) {
  std::string digits = std::to_string(step);
  return std::string(kPrefix) +
         std::string(digits.size() < 9 ? 9 - digits.size() : 0, '0') + digits;
}

/// Steps of the complete checkpoints, newest first, with their folder names.
std::vector<std::pair<int64_t, std::string>>
listCheckpoints(const std::string &directory) {
  std::vector<std::pair<int64_t, std::string>> found;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end;
       it.increment(error)) {
    std::string name = it->path().filename().string();
    if (!name.starts_with(kPrefix))
      continue;
    int64_t step = 0;
    const char *last = name.data() + name.size();
    auto [rest, failed] =
        std::from_chars(name.data() + kPrefix.size(), last, step);
    if (failed == std::errc() && rest == last && step >= 0)
      found.emplace_back(step, name);
  }
  std::sort(found.rbegin(), found.rend());
  return found;
}

Status systemError(const std::string &action, const std::string &path,
                   const std::string &reason) {
  return environmentError("cannot " + action + " '" + path + "': " + reason);
}

std::vector<TensorView> parameterViews(const Program &program,
                                       const LogicalState &state) {
  std::vector<TensorView> views;
  for (size_t i = 0; i < program.parameters.size(); ++i)
    views.push_back({program.parameters[i].name, program.parameters[i].shape,
                     state.values[i]});
  return views;
}

std::vector<TensorView> optimizerViews(const Program &program,
                                       const LogicalState &state) {
  std::vector<TensorView> views;
  for (size_t i = 0; i < program.parameters.size(); ++i)
    if (hasSlot(program, program.parameters[i].name, StorageSlot::Momentum))
      views.push_back(
          {program.parameters[i].name + std::string(kMomentumSuffix),
           program.parameters[i].shape, state.momentum[i]});
  return views;
}

/// Moves the tensors into the places that the views of an empty state name:
/// every one of them must be there, with its shape, and no other.
Status fill(const std::string &path, std::vector<Tensor> tensors,
            const std::vector<TensorView> &wanted,
            std::vector<std::vector<float> *> places) {
  std::string missing;
  for (size_t i = 0; i < wanted.size(); ++i) {
    auto found =
        std::find_if(tensors.begin(), tensors.end(), [&](const Tensor &tensor) {
          return tensor.name == wanted[i].name;
        });
    if (found == tensors.end()) {
      missing += (missing.empty() ? "'" : ", '") + wanted[i].name + "'";
      continue;
    }
    if (found->shape != wanted[i].shape)
      return invalidArgument("'" + path + "': '" + found->name + "' is " +
                             shapeToString(found->shape) + ", the model's is " +
                             shapeToString(wanted[i].shape));
    *places[i] = std::move(found->values);
    tensors.erase(found);
  }
  if (!missing.empty())
    return invalidArgument("'" + path + "' has no " + missing +
                           ", which the model needs");
  if (!tensors.empty())
    return invalidArgument("'" + path + "' has '" + tensors[0].name +
                           "', which the model does not have");
  return {};
}

Result<Checkpoint> loadFolder(const std::string &folder,
                              const Program &program) {
  std::string statePath = join(folder, kState);
  Result<std::vector<std::byte>> text = readFile(statePath, 1 << 20);
  if (!text)
    return text.status();
  Result<StateFile> file =
      parseState({reinterpret_cast<const char *>(text->data()), text->size()});
  if (!file)
    return invalidArgument("'" + statePath +
                           "' is damaged: " + file.status().message());
  Checkpoint checkpoint{file->state, makeZeroState(program)};
  LogicalState &tensors = checkpoint.tensors;

  std::string path = join(folder, kParameters);
  Result<std::vector<Tensor>> values = readSafetensors(path, file->parameters);
  if (!values)
    return values.status();
  std::vector<std::vector<float> *> places;
  for (std::vector<float> &tensor : tensors.values)
    places.push_back(&tensor);
  if (Status status = fill(path, std::move(*values),
                           parameterViews(program, tensors), places);
      !status)
    return status;

  path = join(folder, kOptimizer);
  Result<std::vector<Tensor>> slots = readSafetensors(path, file->optimizer);
  if (!slots)
    return slots.status();
  places.clear();
  for (size_t i = 0; i < program.parameters.size(); ++i)
    if (hasSlot(program, program.parameters[i].name, StorageSlot::Momentum))
      places.push_back(&tensors.momentum[i]);
  if (Status status = fill(path, std::move(*slots),
                           optimizerViews(program, tensors), places);
      !status)
    return status;
  return checkpoint;
}

} // namespace

Result<LoadedCheckpoint> loadCheckpoint(const std::string &path,
                                        const Program &program) {
  std::error_code error;
  if (!fs::is_directory(path, error))
    return invalidArgument("no checkpoint at '" + path +
                           "': it is not a directory");
  auto found = listCheckpoints(path);
  if (found.empty()) {
    // One checkpoint's own folder: the user chose it, so no other will do.
    if (!fs::exists(join(path, kState), error))
      return invalidArgument("no checkpoint in '" + path + "'");
    Result<Checkpoint> checkpoint = loadFolder(path, program);
    if (!checkpoint)
      return checkpoint.status();
    return LoadedCheckpoint{std::move(*checkpoint), path, ""};
  }
  std::string problems;
  for (const auto &[step, name] : found) {
    std::string folder = join(path, name);
    Result<Checkpoint> checkpoint = loadFolder(folder, program);
    if (checkpoint) {
      std::string warning;
      if (!problems.empty())
        warning = "a newer checkpoint is damaged (" + problems +
                  "); continuing from '" + folder + "', step " +
                  std::to_string(checkpoint->state.step);
      return LoadedCheckpoint{std::move(*checkpoint), folder, warning};
    }
    problems += (problems.empty() ? "" : "; ") + checkpoint.status().message();
  }
  return invalidArgument("no usable checkpoint in '" + path + "': " + problems);
}

Result<CheckpointWriter>
CheckpointWriter::open(const std::string &directory,
                       std::optional<int64_t> resumedStep,
                       std::vector<std::string> &warnings) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error)
    return systemError("create the checkpoint directory", directory,
                       error.message());
  if (::access(directory.c_str(), W_OK | X_OK) != 0)
    return systemError("write to the checkpoint directory", directory,
                       std::strerror(errno));
  for (const auto &[step, name] : listCheckpoints(directory)) {
    if (!resumedStep)
      return invalidArgument(
          "'" + directory + "' already holds a checkpoint of step " +
          std::to_string(step) + "; continue it with --resume '" + directory +
          "', or choose another directory");
    if (step <= *resumedStep)
      continue;
    std::string aside = "aside-" + name;
    fs::remove_all(join(directory, aside), error);
    fs::rename(join(directory, name), join(directory, aside), error);
    if (error)
      return systemError("move aside", join(directory, name), error.message());
    warnings.push_back("'" + name +
                       "' is later than the step that this run "
                       "continues from; it is now '" +
                       aside + "'");
  }
  // Left by a writer that was killed.
  for (fs::directory_iterator it(directory, error), end; !error && it != end;
       it.increment(error))
    if (it->path().filename().string().starts_with(kTemporary)) {
      std::error_code ignored;
      fs::remove_all(it->path(), ignored);
    }
  return CheckpointWriter(directory);
}

Result<std::string> CheckpointWriter::save(const Program &program,
                                           const Checkpoint &checkpoint,
                                           bool isBest) {
  std::string name = folderName(checkpoint.state.step);
  std::string folder = join(path, name);
  std::string temporary = join(path, std::string(kTemporary) + name);
  std::error_code error;
  fs::remove_all(temporary, error);
  if (!fs::create_directory(temporary, error))
    return systemError("create", temporary, error.message());

  // Until the rename, failure leaves only the temporary behind.
  auto write = [&]() -> Status {
    StateFile file{checkpoint.state, {}, {}};
    Result<FileChecksum> parameters =
        writeSafetensors(join(temporary, kParameters),
                         parameterViews(program, checkpoint.tensors));
    if (!parameters)
      return parameters.status();
    file.parameters = *parameters;
    Result<FileChecksum> optimizer =
        writeSafetensors(join(temporary, kOptimizer),
                         optimizerViews(program, checkpoint.tensors));
    if (!optimizer)
      return optimizer.status();
    file.optimizer = *optimizer;
    Result<File> state = File::create(join(temporary, kState));
    if (!state)
      return state.status();
    if (Status status = state->write(formatState(file)); !status)
      return status;
    if (Status status = state->sync(); !status)
      return status;
    if (Status status = state->close(); !status)
      return status;
    return syncDirectory(temporary);
  };
  if (Status status = write(); !status) {
    fs::remove_all(temporary, error);
    return environmentError("the checkpoint of step " +
                            std::to_string(checkpoint.state.step) +
                            " could not be saved: " + status.message());
  }

  // The same step again: the old folder may be linked as best and is whole, so
  // it goes only when the new one is in place.
  std::string replaced = join(path, std::string(kTemporary) + "old-" + name);
  bool exists = fs::exists(folder, error);
  if (exists)
    fs::rename(folder, replaced, error);
  if (!error)
    fs::rename(temporary, folder, error);
  if (error)
    return systemError("rename", temporary, error.message());
  if (Status status = syncDirectory(path); !status)
    return status;
  if (exists)
    fs::remove_all(replaced, error);
  if (isBest)
    if (Status status = pointBest(name); !status)
      return status;
  removeOld();
  return folder;
}

Status CheckpointWriter::pointBest(const std::string &name) {
  std::string link = join(path, "best");
  std::string temporary = join(path, std::string(kTemporary) + "best");
  std::error_code error;
  fs::remove(temporary, error);
  fs::create_directory_symlink(name, temporary, error);
  if (!error)
    fs::rename(temporary, link, error);
  if (error)
    return systemError("update", link, error.message());
  return syncDirectory(path);
}

void CheckpointWriter::removeOld() {
  std::error_code error;
  std::string best =
      fs::read_symlink(join(path, "best"), error).filename().string();
  auto found = listCheckpoints(path);
  for (size_t i = 2; i < found.size(); ++i) {
    if (found[i].second == best)
      continue;
    // Renamed first: half a folder must not look like a checkpoint.
    std::string doomed =
        join(path, std::string(kTemporary) + "old-" + found[i].second);
    fs::rename(join(path, found[i].second), doomed, error);
    if (!error)
      fs::remove_all(doomed, error);
  }
}

} // namespace hpcc::runtime
