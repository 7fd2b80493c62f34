// SPDX-License-Identifier: Apache-2.0
// Loading and lowering.
#include "tools/hpcc/Session.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace hpcc;
using runtime::invalidArgument;
using runtime::Status;

Status hpcc::alreadyReported() { return invalidArgument(""); }

Session::Session(const CommandLine &line) : line(line) {
  DialectRegistry registry;
  registerPhaseDialects(registry);
  // Two cores are not worth the thread pool, and the dumps need one thread.
  context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->printOpOnDiagnostic(false);
  diagnostics = std::make_unique<DiagnosticPrinter>(*context);
}
Session::~Session() = default;

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

Status Session::load() {
  Status status = line.from ? parse() : import();
  if (!status.ok())
    return status;
  FailureOr<Options> options = Options::get(*current);
  if (failed(options))
    return alreadyReported();
  effective = *options;
  return {};
}

Status Session::import() {
  ImportOptions options;
  options.classes = line.classes;
  options.reinit = line.reinit;
  FailureOr<ImportedModel> imported = importOnnx(*context, line.model, options);
  if (failed(imported))
    return alreadyReported();
  current = std::move(imported->module);
  model = std::move(imported->file);
  line.options.set(*current);
  return {};
}

Status Session::parse() {
  reached = *line.from;
  std::string error;
  // As a source manager, so that messages have lines.
  llvm::SourceMgr sources;
  auto buffer = llvm::MemoryBuffer::getFile(line.model);
  if (!buffer)
    return invalidArgument("cannot read '" + line.model +
                           "': " + buffer.getError().message());
  sources.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  current = parseSourceFile<ModuleOp>(sources, context.get());
  if (!current)
    return alreadyReported();
  auto path = (*current)->getAttrOfType<StringAttr>("nn.model");
  if (!path)
    return invalidArgument("'" + line.model +
                           "' lacks the attribute nn.model, which names the "
                           ".onnx file that holds the parameters' values");
  auto opened = ModelFile::open(path.getValue());
  if (!opened)
    return invalidArgument(llvm::toString(opened.takeError()));
  model = std::move(*opened);
  return checkGivenOptions();
}

/// Options that a flag repeats must be those of the IR: they act no more.
Status Session::checkGivenOptions() {
  auto inFile = (*current)->getAttrOfType<DictionaryAttr>("nn.options");
  OwningOpRef<ModuleOp> asked =
      ModuleOp::create(UnknownLoc::get(context.get()));
  line.options.set(*asked);
  auto wanted = (*asked)->getAttrOfType<DictionaryAttr>("nn.options");
  for (const auto &key : line.given.keys()) {
    Attribute has = inFile ? inFile.get(key) : Attribute();
    Attribute want = wanted.get(key);
    if (has == want)
      continue;
    std::string text;
    llvm::raw_string_ostream os(text);
    std::string flag = key.str();
    std::replace(flag.begin(), flag.end(), '_', '-');
    if (key == "loss_outputs")
      flag = "loss-output";
    os << "--" << (key == "workers" ? "cpus" : StringRef(flag))
       << " is part of the IR that --from reads: it has ";
    if (has)
      has.print(os, /*elideType=*/true);
    else
      os << "the default";
    os << ", the flag says ";
    want.print(os, /*elideType=*/true);
    os << "; compile again from the .onnx file, or drop the flag";
    return invalidArgument(text);
  }
  return {};
}

void Session::setOptions(const Options &options) {
  effective = options;
  options.set(*current);
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static OpPrintingFlags printingFlags() {
  OpPrintingFlags flags;
  // Values read like the graph's; locations carry node names, which later
  // phases put into messages and patterns.
  flags.printNameLocAsPrefix();
  flags.enableDebugInfo(/*enable=*/true, /*prettyForm=*/false);
  return flags;
}

void Session::print(llvm::raw_ostream &os) {
  (*current)->print(os, printingFlags());
  os << "\n";
}

static std::string phaseFolder(Phase phase) {
  return llvm::formatv("{0:2}-{1}", unsigned(phase), phaseName(phase)).str();
}

void Session::configureDumps(PassManager &manager, Phase phase) {
  if (line.dumpIR.empty())
    return;
  std::string folder = phaseFolder(phase);
  std::replace(folder.begin(), folder.end(), ' ', '0');
  manager.enableIRPrintingToFileTree(
      [](Pass *, Operation *) { return false; },
      [](Pass *, Operation *) { return true; }, /*printModuleScope=*/true,
      /*printAfterOnlyOnChange=*/false, /*printAfterOnlyOnFailure=*/false,
      line.dumpIR + "/" + folder, printingFlags());
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

/// A function goes when nothing calls it.
static void eraseOtherFunctions(ModuleOp module,
                                const llvm::StringSet<> &keep) {
  for (StringRef name : {"forward", "gradients", "train_step", "eval_step"})
    if (auto function = module.lookupSymbol<func::FuncOp>(name);
        function && !keep.contains(name) &&
        SymbolTable::symbolKnownUseEmpty(function, module))
      function.erase();
}

Status Session::lower(Phase to, const llvm::StringSet<> &keep,
                      const Observer &observe) {
  PhaseHooks hooks;
  hooks.configure = [&](PassManager &manager, Phase phase) {
    configureDumps(manager, phase);
  };
  bool erased = keep.empty();
  hooks.reached = [&](ModuleOp module, Phase phase) -> LogicalResult {
    if (observe && failed(observe(module, phase)))
      return failure();
    if (!erased && phase >= Phase::Training && phase < Phase::Llvm) {
      eraseOtherFunctions(module, keep);
      erased = true;
    }
    return success();
  };
  if (failed(runPhases(*current, reached, to, target, hooks)))
    return alreadyReported();
  reached = to;
  FailureOr<Options> options = Options::get(*current);
  if (failed(options))
    return alreadyReported();
  effective = *options;
  return {};
}
