// SPDX-License-Identifier: Apache-2.0
// Prints the imported IR of a model (locations and remarks included, if asked
// for), reads one tensor, or writes the model again with some tensors set.
#include "frontend/export/Export.h"
#include "frontend/onnx/Import.h"
#include "frontend/onnx/OperatorTable.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

static cl::opt<std::string> model(cl::Positional, cl::desc("model.onnx"));
static cl::opt<bool> listOperators("operators", cl::desc("print the table"));
static cl::opt<int> classes("classes");
static cl::list<std::string> reinit("reinit");
static cl::opt<bool> locations("locations", cl::desc("print locations"));
static cl::opt<bool> remarks("remarks", cl::desc("print remarks and warnings"));
static cl::opt<std::string> tensorName("read", cl::desc("print this tensor"));
static cl::opt<std::string> output("export", cl::desc("write this file"));
static cl::opt<uint64_t> threshold("external-threshold",
                                   cl::init(2'000'000'000));
static cl::list<std::string>
    assignments("set", cl::desc("name=value: fill a tensor before the export"));
static cl::list<std::string>
    resized("resize", cl::desc("name=d0xd1: another shape for the export"));

static int fail(Error error) {
  errs() << "error: " << toString(std::move(error)) << "\n";
  return 1;
}

static int readTensor(const hpcc::ModelFile &file) {
  auto values = file.readFloats(tensorName);
  if (!values)
    return fail(values.takeError());
  for (float value : *values)
    outs() << value << "\n";
  return 0;
}

static int exportModel(const hpcc::ModelFile &file) {
  std::vector<std::vector<float>> storage(assignments.size());
  std::vector<hpcc::TrainedTensor> tensors;
  for (auto [assignment, values] : zip(assignments, storage)) {
    auto [name, value] = StringRef(assignment).rsplit('=');
    auto shape = file.shape(name);
    if (!shape)
      return fail(shape.takeError());
    for (StringRef entry : resized) {
      auto [resizedName, dims] = entry.rsplit('=');
      SmallVector<StringRef> parts;
      dims.split(parts, 'x');
      if (resizedName != name)
        continue;
      shape->clear();
      for (StringRef part : parts)
        shape->push_back(std::stoll(part.str()));
    }
    int64_t count = 1;
    for (int64_t dim : *shape)
      count *= dim;
    values.assign(count, std::stof(value.str()));
    tensors.push_back({name.str(), *shape, values});
  }
  if (Error error = hpcc::exportOnnx(file, tensors, output,
                                     {.externalThreshold = threshold}))
    return fail(std::move(error));
  return 0;
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv);
  if (listOperators) {
    for (const hpcc::OperatorRow &row : hpcc::operatorTable())
      outs() << row.name << " " << row.since << "\n";
    return 0;
  }
  if (!tensorName.empty() || !output.empty()) {
    auto file = hpcc::ModelFile::open(model);
    if (!file)
      return fail(file.takeError());
    return tensorName.empty() ? exportModel(**file) : readTensor(**file);
  }
  mlir::MLIRContext context;
  context.getDiagEngine().registerHandler([](mlir::Diagnostic &diagnostic) {
    auto print = [](StringRef kind, mlir::Diagnostic &text) {
      errs() << kind << ": " << text.str() << "\n";
    };
    if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error) {
      print("error", diagnostic);
      for (mlir::Diagnostic &note : diagnostic.getNotes())
        print("note", note);
    } else if (remarks) {
      bool isRemark =
          diagnostic.getSeverity() == mlir::DiagnosticSeverity::Remark;
      errs() << diagnostic.getLocation() << ": ";
      print(isRemark ? "remark" : "warning", diagnostic);
    }
  });
  hpcc::ImportOptions options;
  options.classes = classes;
  options.reinit.assign(reinit.begin(), reinit.end());
  auto imported = hpcc::importOnnx(context, model, options);
  if (failed(imported))
    return 1;
  mlir::OpPrintingFlags flags;
  if (locations)
    flags.enableDebugInfo(true, false);
  imported->module->print(outs(), flags);
  return 0;
}
