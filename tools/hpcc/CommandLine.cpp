// SPDX-License-Identifier: Apache-2.0
// Flags -> CommandLine, and the checks that need neither model nor data.
#include "tools/hpcc/CommandLine.h"

#include "runtime/train/Schedule.h"
#include "tools/hpcc/FlagReader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

using namespace hpcc;
using llvm::StringRef;
using runtime::invalidArgument;
using runtime::Result;
using runtime::Status;

static bool isNotNegative(double x) { return x >= 0; }
static bool isBelowOne(double x) { return x >= 0 && x < 1; }

//===----------------------------------------------------------------------===//
// Groups of flags
//===----------------------------------------------------------------------===//

static void readDevices(FlagReader &flags, CommandLine &to) {
  if (flags.has(OPT_gpus) && flags.has(OPT_cpus))
    return flags.fail("--gpus and --cpus contradict each other; give one");
  if (flags.integer(OPT_gpus, 1, to.options.workers))
    to.gpus = true;
  flags.integer(OPT_cpus, 1, to.options.workers);
  if (flags.has(OPT_gpus) || flags.has(OPT_cpus))
    to.given.insert("workers");
  flags.integer(OPT_threads, 1, to.threads);
}

static void readPlaces(FlagReader &flags, CommandLine &to) {
  std::vector<std::string> places;
  if (!flags.list(OPT_place, places))
    return;
  to.given.insert("place");
  for (StringRef place : places) {
    auto [pattern, where] = place.rsplit('=');
    if (pattern.empty() || where != "data")
      return flags.fail("--place: expected PATTERN=data, got '" + place.str() +
                        "'");
    to.options.place.push_back({pattern.str(), where.str()});
  }
}

static void readMethod(FlagReader &flags, CommandLine &to) {
  Options &options = to.options;
  std::string scheme;
  if (flags.choice(OPT_scheme, scheme, {"a", "b", "c", "data"})) {
    to.given.insert("scheme");
    options.scheme = scheme == "a"   ? SchemeChoice::A
                     : scheme == "b" ? SchemeChoice::B
                     : scheme == "c" ? SchemeChoice::C
                                     : SchemeChoice::Data;
  } else if (options.workers > 1) {
    // A network without a head falls back to `data` where that is known.
    options.scheme = SchemeChoice::C;
  }
  if (flags.integer(OPT_batch, 1, options.batch))
    to.given.insert("batch");
  if (flags.integer(OPT_fc_batch, 1, options.fcBatch))
    to.given.insert("fc_batch");
  if (flags.text(OPT_fc_update, options.fcUpdate)) {
    int64_t groups = 0;
    if (options.fcUpdate != "every" && options.fcUpdate != "accumulate" &&
        (StringRef(options.fcUpdate).getAsInteger(10, groups) || groups < 1))
      flags.fail("--fc-update: expected every, accumulate or a whole number of "
                 "at least 1, got '" +
                 options.fcUpdate + "'");
    to.given.insert("fc_update");
  }
  readPlaces(flags, to);
  std::string accepted;
  flags.choice(OPT_batchnorm, accepted, {"local"});
  flags.choice(OPT_precision, accepted, {"fp32"});
  if (flags.choice(OPT_bn_variance, options.bnVariance, {"pytorch", "onnx"}))
    to.given.insert("bn_variance");
}

static void readLossOutputs(FlagReader &flags, CommandLine &to) {
  std::vector<std::string> outputs;
  if (!flags.list(OPT_loss_output, outputs))
    return;
  to.given.insert("loss_outputs");
  for (StringRef output : outputs) {
    LossOutput parsed;
    // A name may hold `=`; a weight never does.
    auto [name, weight] = output.rsplit('=');
    if (!weight.empty() && name != output &&
        !weight.getAsDouble(parsed.weight)) {
      parsed.name = name.str();
      if (parsed.weight <= 0 || name.empty())
        return flags.fail("--loss-output: expected NAME or NAME=W with W above "
                          "0, got '" +
                          output.str() + "'");
    } else {
      parsed.name = output.str();
    }
    to.options.lossOutputs.push_back(std::move(parsed));
  }
}

static void readLearning(FlagReader &flags, CommandLine &to) {
  Options &options = to.options;
  auto given = [&](bool wasGiven, StringRef key) {
    if (wasGiven)
      to.given.insert(key);
  };
  given(flags.choice(OPT_loss, options.loss, {"softmax", "logistic", "mse"}),
        "loss");
  readLossOutputs(flags, to);
  std::string optimizer;
  flags.choice(OPT_optimizer, optimizer, {"sgd"});
  flags.number(OPT_lr, to.lr, isNotNegative, "of at least 0");
  given(flags.number(OPT_momentum, options.momentum, isBelowOne, "in [0, 1)"),
        "momentum");
  given(flags.choice(OPT_momentum_form, options.momentumForm,
                     {"pytorch", "caffe"}),
        "momentum_form");
  options.nesterov = flags.has(OPT_nesterov);
  given(options.nesterov, "nesterov");
  if (options.nesterov && options.momentum == 0)
    flags.fail("--nesterov needs a --momentum above 0");
  given(flags.number(OPT_weight_decay, options.weightDecay, isNotNegative,
                     "of at least 0"),
        "weight_decay");
  given(flags.list(OPT_no_decay, options.noDecay), "no_decay");
  for (const std::string &role : options.noDecay)
    if (role != "bias" && role != "norm")
      flags.fail("--no-decay: expected bias, norm or both, got '" + role + "'");
  if (flags.text(OPT_lr_schedule, to.lrSchedule))
    if (auto schedule = runtime::Schedule::parse(to.lrSchedule); !schedule)
      flags.fail("--lr-schedule: " + schedule.status().message());
  given(flags.choice(OPT_lr_scaling, options.lrScaling,
                     {"none", "linear", "sqrt"}),
        "lr_scaling");
  given(flags.integer(OPT_base_batch, 1, options.baseBatch), "base_batch");
  given(flags.integer(OPT_seed, 0, options.seed), "seed");
}

static void readWeights(FlagReader &flags, CommandLine &to) {
  flags.integer(OPT_classes, 1, to.classes);
  flags.list(OPT_reinit, to.reinit);
  if (flags.list(OPT_freeze, to.options.freeze))
    to.given.insert("freeze");
}

static void readData(FlagReader &flags, CommandLine &to) {
  flags.text(OPT_data, to.data);
  flags.text(OPT_val, to.val);
  flags.text(OPT_eval, to.eval);
  flags.integer(OPT_epochs, 1, to.epochs);
  flags.integer(OPT_steps, 1, to.steps);
  if (flags.has(OPT_epochs) && flags.has(OPT_steps))
    flags.fail("--epochs and --steps contradict each other; give one");
  to.shuffle = !flags.has(OPT_no_shuffle);
  flags.numbers(OPT_mean, to.mean);
  flags.numbers(OPT_std, to.deviation);
  for (float deviation : to.deviation)
    if (deviation <= 0)
      flags.fail("--std: expected numbers above 0, got " +
                 std::to_string(deviation));
  flags.text(OPT_export, to.exportFile);
  flags.text(OPT_checkpoint, to.checkpoint);
  flags.integer(OPT_save_every, 1, to.saveEvery);
  flags.text(OPT_resume, to.resume);
  flags.text(OPT_log, to.log);
}

static void readInspection(FlagReader &flags, CommandLine &to) {
  auto phase = [&](FlagID id, StringRef flag, std::optional<Phase> &into) {
    std::string name;
    if (!flags.text(id, name))
      return;
    into = parsePhase(name);
    if (into)
      return;
    std::vector<std::string> names;
    for (const PhaseInfo &info : phases())
      names.push_back(info.name.str());
    flags.fail((flag + ": expected one of " + llvm::join(names, ", ") +
                ", got '" + name + "'")
                   .str());
  };
  phase(OPT_emit, "--emit", to.emit);
  phase(OPT_from, "--from", to.from);
  flags.text(OPT_dump_ir, to.dumpIR);
  to.verifyComm = flags.has(OPT_verify_comm);
  flags.text(OPT_infer, to.infer);
  flags.text(OPT_output, to.output);
  flags.text(OPT_dump_gradients, to.dumpGradients);
}

//===----------------------------------------------------------------------===//
// Flags that need or exclude each other
//===----------------------------------------------------------------------===//

static void checkCombinations(FlagReader &flags, const CommandLine &line) {
  auto needs = [&](std::initializer_list<std::pair<FlagID, StringRef>> some,
                   bool condition, StringRef what) {
    for (auto [id, name] : some)
      if (flags.has(id) && !condition)
        flags.fail((name + " needs " + what).str());
  };
  bool data = !line.data.empty();
  needs({{OPT_val, "--val"},
         {OPT_epochs, "--epochs"},
         {OPT_steps, "--steps"},
         {OPT_no_shuffle, "--no-shuffle"},
         {OPT_checkpoint, "--checkpoint"},
         {OPT_log, "--log"},
         {OPT_verify_comm, "--verify-comm"},
         {OPT_dump_gradients, "--dump-gradients"}},
        data, "--data");
  needs({{OPT_save_every, "--save-every"}}, !line.checkpoint.empty(),
        "--checkpoint DIR");
  needs({{OPT_mean, "--mean"}, {OPT_std, "--std"}}, data || !line.eval.empty(),
        "--data or --eval");
  needs({{OPT_infer, "--infer"}}, !line.output.empty(), "--output OUT.npz");
  needs({{OPT_output, "--output"}}, !line.infer.empty(), "--infer IN.npz");
  needs({{OPT_resume, "--resume"}}, line.runs(),
        "--data, --eval, --infer or --export");
  for (auto [id, name] :
       {std::pair<FlagID, StringRef>{OPT_data, "--data"}, {OPT_eval, "--eval"}})
    if (flags.has(id) && !line.infer.empty())
      flags.fail((name + " and --infer contradict each other; give one").str());
  if (line.from && (line.classes || !line.reinit.empty()))
    flags.fail("--classes and --reinit act at import; the IR of --from has "
               "passed it");
  if (line.from && line.emit && *line.emit < *line.from)
    flags.fail(
        "--emit=" + phaseName(*line.emit).str() +
        " comes before the phase of --from=" + phaseName(*line.from).str());
  if (!line.from && line.options.batch < line.options.workers)
    flags.fail("--batch " + std::to_string(line.options.batch) +
               " is below the number of workers; give each of the " +
               std::to_string(line.options.workers) +
               " workers at least one example");
}

Result<CommandLine>
hpcc::parseCommandLine(llvm::ArrayRef<const char *> arguments) {
  llvm::BumpPtrAllocator allocator;
  llvm::StringSaver saver(allocator);
  Result<llvm::opt::InputArgList> args = parseFlags(arguments, saver);
  if (!args)
    return args.status();
  CommandLine line;
  line.help = args->hasArg(OPT_help);
  line.version = args->hasArg(OPT_version);
  if (line.help || line.version)
    return line;
  FlagReader flags(*args);
  readDevices(flags, line);
  readMethod(flags, line);
  readLearning(flags, line);
  readWeights(flags, line);
  readData(flags, line);
  readInspection(flags, line);
  std::vector<std::string> inputs = args->getAllArgValues(OPT_INPUT);
  if (inputs.empty())
    flags.fail("no model given; usage: hpcc MODEL.onnx [FLAG]...");
  else if (inputs.size() > 1)
    flags.fail("expected one model, got '" + inputs[0] + "' and '" + inputs[1] +
               "'");
  else
    line.model = inputs[0];
  checkCombinations(flags, line);
  if (!flags.status().ok())
    return flags.status();
  return line;
}

//===----------------------------------------------------------------------===//
// Output paths
//===----------------------------------------------------------------------===//

/// Opens the file as writing it later would; leaves nothing behind.
static Status checkFile(StringRef flag, const std::string &path) {
  namespace fs = std::filesystem;
  std::error_code error;
  bool existed = fs::exists(path, error);
  if (fs::is_directory(path, error))
    return invalidArgument((flag + ": '" + path + "' is a directory").str());
  int descriptor =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return invalidArgument(
        (flag + ": cannot write '" + path +
         "': " + std::error_code(errno, std::generic_category()).message())
            .str());
  ::close(descriptor);
  if (!existed)
    ::unlink(path.c_str());
  return {};
}

/// Creates the directory and a file in it, as a checkpoint will.
static Status checkDirectory(StringRef flag, const std::string &path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error)
    return invalidArgument(
        (flag + ": cannot create '" + path + "': " + error.message()).str());
  std::string probe = path + "/.hpcc-probe-" + std::to_string(::getpid());
  return checkFile(flag, probe);
}

Status hpcc::checkOutputPaths(const CommandLine &line) {
  for (auto [flag, path] :
       {std::pair<StringRef, const std::string &>{"--export", line.exportFile},
        {"--log", line.log},
        {"--output", line.output},
        {"--dump-gradients", line.dumpGradients}})
    if (!path.empty())
      if (Status status = checkFile(flag, path); !status.ok())
        return status;
  for (auto [flag, path] : {std::pair<StringRef, const std::string &>{
                                "--checkpoint", line.checkpoint},
                            {"--dump-ir", line.dumpIR}})
    if (!path.empty())
      if (Status status = checkDirectory(flag, path); !status.ok())
        return status;
  return {};
}

void hpcc::printHelp(llvm::raw_ostream &os) {
  os << "Trains a network from an ONNX file on many workers and writes it back "
        "to ONNX.\n"
        "Without --data it compiles and prints the plan.\n\n"
        "Usage: hpcc MODEL.onnx [FLAG]...\n\n";
  flagTable().printHelp(os, "hpcc MODEL.onnx [FLAG]...", "hpcc");
  os << "\nPhases of --emit and --from:\n";
  for (const PhaseInfo &info : phases()) {
    os << "  " << info.name;
    os.indent(12 - info.name.size()) << info.description << "\n";
  }
  os << "\nExit codes: 0 done, 1 a mistake in the model, data or flags, 2 the "
        "machine cannot\n(device, disk, a worker lost), 3 interrupted with a "
        "checkpoint saved.\n";
}
