// SPDX-License-Identifier: Apache-2.0
// `nn.program`: what the driver must know to bind buffers, kept where it
// survives the conversion to LLVM and printing.
#include "passes/FunctionArguments.h"
#include "passes/Passes.h"

namespace hpcc {
#define GEN_PASS_DEF_LOWERDESCRIBEPROGRAM
#include "passes/Passes.h.inc"
} // namespace hpcc

using namespace mlir;
using namespace hpcc;

/// What `dims` says of a dynamic dimension.
enum : int64_t { kLocalRows = -1, kStepRows = -2, kStorageRows = -3 };

static int64_t meaningOfRows(DictionaryAttr argument) {
  if (stringIn(argument, "rows") == "step")
    return kStepRows;
  StringRef split = stringIn(argument, "split");
  return split.empty() || split == "replicated" ? kLocalRows : kStorageRows;
}

static FailureOr<DictionaryAttr> describe(func::FuncOp function,
                                          unsigned index) {
  Builder b(function.getContext());
  DictionaryAttr argument = argumentOf(function, index);
  if (!argument)
    return function.emitError()
           << "argument #" << index << " has no " << kArgument;
  NamedAttrList attrs(argument);
  Type type = function.getArgumentTypes()[index];
  if (auto memref = dyn_cast<MemRefType>(type)) {
    SmallVector<int64_t> dims(memref.getShape());
    for (auto [dim, extent] : llvm::enumerate(dims)) {
      if (!ShapedType::isDynamic(extent))
        continue;
      if (dim != 0)
        return function.emitError()
               << "argument #" << index << " of type " << type
               << " has a dynamic dimension other than the first";
      extent = meaningOfRows(argument);
    }
    attrs.set("element", TypeAttr::get(memref.getElementType()));
    attrs.set("dims", b.getDenseI64ArrayAttr(dims));
  } else {
    attrs.set("element", TypeAttr::get(type));
  }
  return attrs.getDictionary(function.getContext());
}

namespace {
struct DescribeProgram : hpcc::impl::LowerDescribeProgramBase<DescribeProgram> {
  void runOnOperation() override {
    auto module = cast<ModuleOp>(getOperation());
    Builder b(&getContext());
    NamedAttrList functions;
    for (func::FuncOp function : module.getOps<func::FuncOp>()) {
      if (!function.isPublic() || !argumentOfKind(function, "context"))
        continue;
      SmallVector<Attribute> arguments;
      for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i) {
        FailureOr<DictionaryAttr> argument = describe(function, i);
        if (failed(argument))
          return signalPassFailure();
        arguments.push_back(*argument);
      }
      functions.set(function.getSymName(), b.getArrayAttr(arguments));
    }
    SmallVector<Attribute> parameters;
    for (nn::ParameterOp parameter :
         llvm::make_early_inc_range(module.getOps<nn::ParameterOp>())) {
      NamedAttrList attrs(parameter->getDiscardableAttrDictionary());
      for (NamedAttribute attr :
           cast<DictionaryAttr>(parameter->getPropertiesAsAttribute()))
        if (attr.getValue() && attr.getName() != "sym_name")
          attrs.set(attr.getName(), attr.getValue());
      attrs.set("name", parameter.getSymNameAttr());
      parameters.push_back(attrs.getDictionary(&getContext()));
      parameter.erase();
    }
    NamedAttribute program[] = {
        b.getNamedAttr("functions", functions.getDictionary(&getContext())),
        b.getNamedAttr("parameters", b.getArrayAttr(parameters)),
    };
    module->setAttr("nn.program", b.getDictionaryAttr(program));
  }
};
} // namespace
