// SPDX-License-Identifier: Apache-2.0
// Public tensor functions get buffers as arguments. State is thus owned by the
// caller and updated in place; `ml_program.global` was rejected because it
// copies whole parameters.
#include "passes/FunctionArguments.h"
#include "passes/Passes.h"

namespace hpcc {
#define GEN_PASS_DEF_BUFFERIZEWRAPFUNCTIONS
#include "passes/Passes.h.inc"
} // namespace hpcc

using namespace mlir;
using namespace hpcc;

static MemRefType bufferType(RankedTensorType type) {
  return MemRefType::get(type.getShape(), type.getElementType());
}

/// For each result the argument it aliases, or -1.
static FailureOr<SmallVector<int64_t>> aliases(func::FuncOp function) {
  SmallVector<int64_t> aliased(function.getNumResults(), -1);
  SmallVector<bool> taken(function.getNumArguments(), false);
  for (unsigned i = 0, e = function.getNumResults(); i < e; ++i) {
    auto dict = function.getResultAttrOfType<DictionaryAttr>(i, kResult);
    auto index = dict ? dict.getAs<IntegerAttr>("arg") : IntegerAttr();
    if (!index)
      continue;
    int64_t argument = index.getInt();
    if (argument < 0 || argument >= int64_t(function.getNumArguments()))
      return function.emitError()
             << "result #" << i << " aliases argument #" << argument << " of "
             << function.getNumArguments();
    if (function.getArgumentTypes()[argument] != function.getResultTypes()[i])
      return function.emitError()
             << "result #" << i << " has type " << function.getResultTypes()[i]
             << " but aliases argument #" << argument << " of type "
             << function.getArgumentTypes()[argument];
    if (taken[argument])
      return function.emitError() << "two results alias argument #" << argument;
    taken[argument] = true;
    aliased[i] = argument;
  }
  return aliased;
}

static bool isTensorFunction(func::FuncOp function) {
  auto isTensor = [](Type type) { return isa<RankedTensorType>(type); };
  return !function.isExternal() && function.isPublic() &&
         (llvm::any_of(function.getArgumentTypes(), isTensor) ||
          llvm::any_of(function.getResultTypes(), isTensor));
}

/// `nn.arg` of the argument that takes a result.
static DictionaryAttr resultArgument(func::FuncOp function, unsigned index) {
  Builder b(function.getContext());
  NamedAttrList attrs;
  auto dict = function.getResultAttrOfType<DictionaryAttr>(index, kResult);
  if (dict)
    attrs = NamedAttrList(dict);
  StringRef kind = stringIn(dict, "kind");
  StringRef name = stringIn(dict, "name");
  if (name.empty())
    if (auto output =
            function.getResultAttrOfType<StringAttr>(index, "nn.name"))
      name = output.getValue();
  attrs.set("name", b.getStringAttr(name.empty() ? kind : name));
  attrs.set("of", b.getStringAttr(kind.empty() ? "output" : kind));
  attrs.set("kind", b.getStringAttr("result"));
  return attrs.getDictionary(function.getContext());
}

static LogicalResult wrap(func::FuncOp function) {
  FailureOr<SmallVector<int64_t>> aliased = aliases(function);
  if (failed(aliased))
    return failure();
  auto terminator =
      dyn_cast<func::ReturnOp>(function.getBody().back().getTerminator());
  if (!function.getBody().hasOneBlock() || !terminator)
    return function.emitError() << "expected one block that returns";
  for (unsigned i = 0, e = function.getNumResults(); i < e; ++i)
    if (!isa<RankedTensorType>(function.getResultTypes()[i]))
      return function.emitError()
             << "result #" << i << " must be a ranked tensor, got "
             << function.getResultTypes()[i];

  MLIRContext *context = function.getContext();
  Block &entry = function.getBody().front();
  OpBuilder b = OpBuilder::atBlockBegin(&entry);
  SmallVector<BlockArgument> arguments(entry.getArguments());
  for (auto [index, argument] : llvm::enumerate(arguments)) {
    auto tensor = dyn_cast<RankedTensorType>(argument.getType());
    if (!tensor)
      continue;
    bool written = llvm::is_contained(*aliased, int64_t(index));
    argument.setType(bufferType(tensor));
    auto value = bufferization::ToTensorOp::create(
        b, argument.getLoc(), tensor, argument, /*restrict=*/true, written);
    argument.replaceAllUsesExcept(value, value);
  }

  b.setInsertionPoint(terminator);
  SmallVector<DictionaryAttr> attributes;
  function.getAllArgAttrs(attributes);
  SmallVector<Value> results(terminator.getOperands());
  for (auto [index, result] : llvm::enumerate(results)) {
    Value destination;
    if (int64_t argument = (*aliased)[index]; argument >= 0) {
      destination = arguments[argument];
    } else {
      destination = entry.addArgument(
          bufferType(cast<RankedTensorType>(result.getType())),
          result.getLoc());
      attributes.push_back(DictionaryAttr::get(
          context, b.getNamedAttr(kArgument, resultArgument(function, index))));
    }
    auto store = bufferization::MaterializeInDestinationOp::create(
        b, result.getLoc(), TypeRange{}, result, destination);
    store.setRestrict(true);
    store.setWritable(true);
  }
  terminator.getOperandsMutable().clear();

  entry.insertArgument(0u, LLVM::LLVMPointerType::get(context),
                       function.getLoc());
  attributes.insert(
      attributes.begin(),
      DictionaryAttr::get(
          context,
          b.getNamedAttr(kArgument, b.getDictionaryAttr(b.getNamedAttr(
                                        "kind", b.getStringAttr("context"))))));
  function.removeResAttrsAttr();
  function.setFunctionType(b.getFunctionType(entry.getArgumentTypes(), {}));
  function.setAllArgAttrs(attributes);
  function->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(),
                    b.getUnitAttr());
  return success();
}

namespace {
struct WrapFunctions : hpcc::impl::BufferizeWrapFunctionsBase<WrapFunctions> {
  void runOnOperation() override {
    for (func::FuncOp function :
         getOperation()->getRegion(0).getOps<func::FuncOp>())
      if (isTensorFunction(function) && failed(wrap(function)))
        return signalPassFailure();
  }
};
} // namespace
