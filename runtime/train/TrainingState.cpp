// SPDX-License-Identifier: Apache-2.0
// One table of fields serves writing, reading and the check for missing and
// extra ones.

#include "runtime/train/TrainingState.h"

#include "runtime/data/Crc32.h"

#include <nlohmann/json.hpp>

namespace hpcc::runtime {

namespace {

using Json = nlohmann::json;

constexpr int kVersion = 1;

/// Calls visit(name, member) for every plain field.
template <typename State, typename Visitor>
void visitFields(State &state, Visitor &&visit) {
  visit("step", state.step);
  visit("epoch", state.epoch);
  visit("example", state.example);
  visit("seed", state.seed);
  visit("shuffle", state.shuffle);
  visit("dataset_size", state.datasetSize);
  visit("lr", state.rate);
  visit("lr_schedule", state.schedule);
  visit("optimizer", state.optimizer);
  visit("momentum_form", state.momentumForm);
  visit("workers", state.workers);
  visit("scheme", state.scheme);
  visit("batch", state.batch);
  visit("fc_batch", state.fcBatch);
  visit("fc_update", state.fcUpdate);
  visit("model_hash", state.modelHash);
}

bool read(const Json &json, int64_t &value) {
  if (!json.is_number_integer() ||
      (json.is_number_unsigned() &&
       json.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)))
    return false;
  value = json.get<int64_t>();
  return value >= 0;
}
bool read(const Json &json, uint64_t &value) {
  if (!json.is_number_unsigned())
    return false;
  value = json.get<uint64_t>();
  return true;
}
bool read(const Json &json, bool &value) {
  if (!json.is_boolean())
    return false;
  value = json.get<bool>();
  return true;
}
bool read(const Json &json, double &value) {
  if (!json.is_number())
    return false;
  value = json.get<double>();
  return true;
}
bool read(const Json &json, std::string &value) {
  if (!json.is_string())
    return false;
  value = json.get<std::string>();
  return true;
}

Json toJson(const FileChecksum &checksum) {
  return {{"bytes", checksum.bytes}, {"crc32", checksum.crc32}};
}

bool read(const Json &json, FileChecksum &checksum) {
  uint64_t crc = 0;
  if (!json.is_object() || json.size() != 2 || !json.contains("bytes") ||
      !json.contains("crc32") || !read(json["bytes"], checksum.bytes) ||
      !read(json["crc32"], crc) || crc > UINT32_MAX)
    return false;
  checksum.crc32 = static_cast<uint32_t>(crc);
  return true;
}

std::string dump(const Json &json) {
  return json.dump(2, ' ', /*ensure_ascii=*/true,
                   Json::error_handler_t::replace);
}

/// Over the canonical text of everything but the checksum itself.
uint32_t checksumOf(Json json) {
  json.erase("crc32");
  std::string text = dump(json);
  return crc32Of(0, std::as_bytes(std::span<const char>(text)));
}

} // namespace

std::string formatState(const StateFile &file) {
  Json json = {{"version", kVersion}};
  visitFields(file.state, [&](const char *name, const auto &member) {
    json[name] = member;
  });
  json["best"] = file.state.best ? Json(*file.state.best) : Json(nullptr);
  json["files"] = {{"parameters.safetensors", toJson(file.parameters)},
                   {"optimizer.safetensors", toJson(file.optimizer)}};
  json["crc32"] = checksumOf(json);
  return dump(json) + "\n";
}

Result<StateFile> parseState(std::string_view text) {
  // Hostile nesting must not reach the recursive writer in checksumOf.
  auto shallow = [](int depth, Json::parse_event_t, Json &) {
    return depth < 8;
  };
  Json json = Json::parse(text, shallow, /*allow_exceptions=*/false);
  if (!json.is_object())
    return invalidArgument("it is cut off or no JSON");
  uint64_t crc = 0;
  if (!json.contains("crc32") || !read(json["crc32"], crc) ||
      crc != checksumOf(json))
    return invalidArgument("its checksum is wrong");
  if (!json.contains("version") || json["version"] != kVersion)
    return invalidArgument("its version is not " + std::to_string(kVersion));

  StateFile file;
  std::string wrong;
  size_t fields = 4; // version, best, files, crc32
  visitFields(file.state, [&](const char *name, auto &member) {
    ++fields;
    if (!json.contains(name) || !read(json[name], member))
      wrong += (wrong.empty() ? "'" : ", '") + std::string(name) + "'";
  });
  if (json.contains("best") && json["best"].is_number())
    file.state.best = json["best"].get<double>();
  else if (!json.contains("best") || !json["best"].is_null())
    wrong += (wrong.empty() ? "" : ", ") + std::string("'best'");
  const Json files = json.value("files", Json());
  if (!files.is_object() || files.size() != 2 ||
      !files.contains("parameters.safetensors") ||
      !files.contains("optimizer.safetensors") ||
      !read(files["parameters.safetensors"], file.parameters) ||
      !read(files["optimizer.safetensors"], file.optimizer))
    wrong += (wrong.empty() ? "" : ", ") + std::string("'files'");
  if (!wrong.empty())
    return invalidArgument("missing or malformed: " + wrong);
  if (json.size() != fields)
    return invalidArgument("it has fields that this version does not know");
  return file;
}

namespace {

std::string quoted(const std::string &text) { return "'" + text + "'"; }

} // namespace

Status checkResume(const TrainingState &saved, const TrainingState &now,
                   std::vector<std::string> &remarks) {
  auto refuse = [](const std::string &what, const std::string &was,
                   const std::string &is, const std::string &todo) {
    return invalidArgument("the checkpoint was made with " + what + " " + was +
                           ", this run has " + is + "; " + todo);
  };
  if (!saved.modelHash.empty() && !now.modelHash.empty() &&
      saved.modelHash != now.modelHash)
    return refuse("the model of hash", saved.modelHash, now.modelHash,
                  "continue with the same .onnx and the same model options");
  if (saved.seed != now.seed)
    return refuse("--seed", std::to_string(saved.seed),
                  std::to_string(now.seed),
                  "pass --seed " + std::to_string(saved.seed));
  if (saved.optimizer != now.optimizer)
    return refuse("--optimizer", saved.optimizer, now.optimizer,
                  "its state cannot be converted");
  if (saved.momentumForm != now.momentumForm)
    return refuse("--momentum-form", saved.momentumForm, now.momentumForm,
                  "pass --momentum-form " + saved.momentumForm);
  if (saved.datasetSize != now.datasetSize)
    return refuse("a data set of", std::to_string(saved.datasetSize),
                  std::to_string(now.datasetSize),
                  "the position in the epoch would mean other examples");
  if (saved.shuffle != now.shuffle)
    return refuse("data order", saved.shuffle ? "shuffled" : "--no-shuffle",
                  now.shuffle ? "shuffled" : "--no-shuffle",
                  "use the same order");

  auto remark = [&](const std::string &what, const std::string &was,
                    const std::string &is) {
    if (was != is)
      remarks.push_back("resuming with " + what + " " + is +
                        " (the checkpoint has " + was + ")");
  };
  remark("--lr", Json(saved.rate).dump(), Json(now.rate).dump());
  remark("--lr-schedule", quoted(saved.schedule), quoted(now.schedule));
  remark("--batch", std::to_string(saved.batch), std::to_string(now.batch));
  remark("--fc-update", saved.fcUpdate, now.fcUpdate);
  size_t before = remarks.size();
  remark("workers", std::to_string(saved.workers), std::to_string(now.workers));
  remark("--scheme", saved.scheme, now.scheme);
  remark("--fc-batch", std::to_string(saved.fcBatch),
         std::to_string(now.fcBatch));
  if (remarks.size() > before && now.scheme != "data" &&
      now.fcUpdate != "accumulate")
    remarks.push_back("with --fc-update " + now.fcUpdate +
                      " the passes, and so the trajectory, change with them");
  return {};
}

} // namespace hpcc::runtime
