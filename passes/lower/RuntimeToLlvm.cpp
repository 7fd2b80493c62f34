// SPDX-License-Identifier: Apache-2.0
// rt ops become calls of the C ABI. Signatures come from abi.def, so that they
// cannot drift from the runtime's.
#include "passes/lower/RuntimeToLlvm.h"

#include "mlir/Conversion/ConvertToLLVM/ToLLVMInterface.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "passes/Passes.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace hpcc;

//===----------------------------------------------------------------------===//
// The C ABI
//===----------------------------------------------------------------------===//

namespace {
struct hpcc_context;
using hpcc_range_fn = void (*)(void *, int64_t, int64_t);

template <typename T> Type abiType(MLIRContext *context) {
  if constexpr (std::is_void_v<T>)
    return LLVM::LLVMVoidType::get(context);
  else if constexpr (std::is_pointer_v<T>)
    return LLVM::LLVMPointerType::get(context);
  else if constexpr (std::is_same_v<T, bool>)
    // A C bool is passed in a whole register; extended here, so that no callee
    // can see garbage.
    return IntegerType::get(context, 32);
  else {
    static_assert(std::is_same_v<T, int64_t>, "no rule for this C type");
    return IntegerType::get(context, 64);
  }
}

template <typename Result, typename... Parameters>
LLVM::LLVMFunctionType abiFunctionType(MLIRContext *context) {
  return LLVM::LLVMFunctionType::get(abiType<Result>(context),
                                     {abiType<Parameters>(context)...});
}

LLVM::LLVMFunctionType abiEntry(StringRef name, MLIRContext *context) {
#define HPCC_ABI_ENTRY(result, entry, ...)                                     \
  if (name == #entry)                                                          \
    return abiFunctionType<result, __VA_ARGS__>(context);
#include "runtime/include/hpcc/abi.def"
  llvm_unreachable("not in abi.def");
}
} // namespace

/// Calls an entry of the C ABI, declaring it at its first use.
static LLVM::CallOp callAbi(ConversionPatternRewriter &rewriter, Operation *op,
                            StringRef name, ValueRange arguments) {
  auto module = op->getParentOfType<ModuleOp>();
  LLVM::LLVMFunctionType type = abiEntry(name, op->getContext());
  auto callee = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!callee) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(module.getBody());
    callee = LLVM::LLVMFuncOp::create(rewriter, module.getLoc(), name, type);
  }
  return LLVM::CallOp::create(rewriter, op->getLoc(), callee, arguments);
}

//===----------------------------------------------------------------------===//
// Building blocks
//===----------------------------------------------------------------------===//

namespace {
/// What the patterns share.
template <typename Op> struct Lowering : ConvertOpToLLVMPattern<Op> {
  using ConvertOpToLLVMPattern<Op>::ConvertOpToLLVMPattern;

  static Value constant(OpBuilder &b, Location loc, int64_t value) {
    return LLVM::ConstantOp::create(b, loc, b.getI64Type(),
                                    b.getI64IntegerAttr(value));
  }

  /// Memory on the stack of the whole function: calls in a loop reuse it.
  static Value stack(ConversionPatternRewriter &rewriter, Operation *op,
                     Type type, int64_t count) {
    OpBuilder::InsertionGuard guard(rewriter);
    auto function = op->getParentOfType<FunctionOpInterface>();
    rewriter.setInsertionPointToStart(&function.getFunctionBody().front());
    Location loc = op->getLoc();
    return LLVM::AllocaOp::create(
        rewriter, loc, LLVM::LLVMPointerType::get(op->getContext()), type,
        constant(rewriter, loc, std::max<int64_t>(count, 1)));
  }

  static void store(OpBuilder &b, Location loc, Value value, Value array,
                    Type element, int64_t index) {
    Value at = LLVM::GEPOp::create(b, loc, array.getType(), element, array,
                                   ArrayRef<LLVM::GEPArg>{int32_t(index)});
    LLVM::StoreOp::create(b, loc, value, at);
  }

  Value address(OpBuilder &b, Location loc, Value descriptor, Type type) const {
    return MemRefDescriptor(descriptor)
        .bufferPtr(b, loc, *this->getTypeConverter(), cast<MemRefType>(type));
  }

  /// The extents of the buffers, one after the other, in a new array.
  Value extents(ConversionPatternRewriter &rewriter, Operation *op,
                ValueRange descriptors, ValueRange buffers) const {
    Location loc = op->getLoc();
    Type i64 = rewriter.getI64Type();
    int64_t total = 0;
    for (Value buffer : buffers)
      total += cast<MemRefType>(buffer.getType()).getRank();
    Value array = stack(rewriter, op, i64, total);
    int64_t next = 0;
    for (auto [descriptor, buffer] : llvm::zip_equal(descriptors, buffers)) {
      auto type = cast<MemRefType>(buffer.getType());
      for (int64_t dim = 0; dim < type.getRank(); ++dim) {
        Value extent =
            type.isDynamicDim(dim)
                ? MemRefDescriptor(descriptor).size(rewriter, loc, dim)
                : constant(rewriter, loc, type.getDimSize(dim));
        store(rewriter, loc, extent, array, i64, next++);
      }
    }
    return array;
  }

  /// Calls a function that fills an array of `count` numbers.
  static SmallVector<Value> callFilling(ConversionPatternRewriter &rewriter,
                                        Operation *op, StringRef name,
                                        SmallVector<Value> arguments,
                                        int64_t count) {
    Location loc = op->getLoc();
    Type i64 = rewriter.getI64Type();
    Value array = stack(rewriter, op, i64, count);
    arguments.push_back(array);
    callAbi(rewriter, op, name, arguments);
    SmallVector<Value> results;
    for (int64_t i = 0; i < count; ++i) {
      Value at = LLVM::GEPOp::create(rewriter, loc, array.getType(), i64, array,
                                     ArrayRef<LLVM::GEPArg>{int32_t(i)});
      results.push_back(LLVM::LoadOp::create(rewriter, loc, i64, at));
    }
    return results;
  }
};
} // namespace

static llvm::json::Value toJson(Attribute attr) {
  if (auto string = dyn_cast<StringAttr>(attr))
    return string.getValue().str();
  if (auto boolean = dyn_cast<BoolAttr>(attr))
    return boolean.getValue();
  if (auto integer = dyn_cast<IntegerAttr>(attr))
    return integer.getInt();
  if (auto real = dyn_cast<FloatAttr>(attr))
    return real.getValueAsDouble();
  if (isa<UnitAttr>(attr))
    return true;
  llvm::json::Array array;
  if (auto elements = dyn_cast<ArrayAttr>(attr)) {
    for (Attribute element : elements)
      array.push_back(toJson(element));
    return array;
  }
  if (auto elements = dyn_cast<DenseI64ArrayAttr>(attr)) {
    for (int64_t element : elements.asArrayRef())
      array.push_back(element);
    return array;
  }
  if (auto dict = dyn_cast<DictionaryAttr>(attr)) {
    llvm::json::Object object;
    for (NamedAttribute entry : dict)
      object[entry.getName().getValue()] = toJson(entry.getValue());
    return object;
  }
  // Anything else has a textual form that the runtime can name in a message.
  std::string text;
  llvm::raw_string_ostream(text) << attr;
  return text;
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {
struct LowerDefine : Lowering<rt::DefineOp> {
  using Lowering::Lowering;
  LogicalResult
  matchAndRewrite(rt::DefineOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    std::string json;
    llvm::raw_string_ostream(json) << toJson(op.getParams());
    std::string prefix = "descriptor_" + std::to_string(op.getId());
    Value kind = global(rewriter, op, prefix + "_kind", op.getKind().str());
    Value params = global(rewriter, op, prefix, json);
    callAbi(rewriter, op, "hpcc_rt_define",
            {adaptor.getCtx(), constant(rewriter, op.getLoc(), op.getId()),
             kind, params});
    rewriter.eraseOp(op);
    return success();
  }

  static Value global(ConversionPatternRewriter &rewriter, rt::DefineOp op,
                      StringRef name, std::string text) {
    text.push_back('\0');
    auto module = op->getParentOfType<ModuleOp>();
    LLVM::GlobalOp made;
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(module.getBody());
      made = LLVM::GlobalOp::create(
          rewriter, op.getLoc(),
          LLVM::LLVMArrayType::get(rewriter.getI8Type(), text.size()),
          /*isConstant=*/true, LLVM::Linkage::Internal, name,
          rewriter.getStringAttr(text));
    }
    return LLVM::AddressOfOp::create(rewriter, op.getLoc(), made);
  }
};

struct LowerExecute : Lowering<rt::ExecuteOp> {
  using Lowering::Lowering;
  LogicalResult
  matchAndRewrite(rt::ExecuteOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto pointer = LLVM::LLVMPointerType::get(getContext());
    Value array = stack(rewriter, op, pointer, op.getBuffers().size());
    for (auto [index, descriptor] : llvm::enumerate(adaptor.getBuffers()))
      store(
          rewriter, loc,
          address(rewriter, loc, descriptor, op.getBuffers()[index].getType()),
          array, pointer, index);
    Value dims = extents(rewriter, op, adaptor.getBuffers(), op.getBuffers());
    callAbi(
        rewriter, op, "hpcc_rt_execute",
        {adaptor.getCtx(), constant(rewriter, loc, op.getId()), array, dims});
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerCommStart : Lowering<rt::CommStartOp> {
  using Lowering::Lowering;
  LogicalResult
  matchAndRewrite(rt::CommStartOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value source, sourceDims;
    if (op.getSource()) {
      source =
          address(rewriter, loc, adaptor.getSource(), op.getSource().getType());
      sourceDims = extents(rewriter, op, adaptor.getSource(), op.getSource());
    }
    Value destination = address(rewriter, loc, adaptor.getDestination(),
                                op.getDestination().getType());
    Value destinationDims =
        extents(rewriter, op, adaptor.getDestination(), op.getDestination());
    // In place, the destination is what the worker contributes to.
    if (!source) {
      source = destination;
      sourceDims = destinationDims;
    }
    Value root = op.getRoot() ? adaptor.getRoot() : constant(rewriter, loc, -1);
    Type flag = rewriter.getI32Type();
    Value predicate =
        op.getPredicate()
            ? LLVM::ZExtOp::create(rewriter, loc, flag, adaptor.getPredicate())
                  .getResult()
            : LLVM::ConstantOp::create(rewriter, loc, flag,
                                       rewriter.getI32IntegerAttr(1))
                  .getResult();
    auto call =
        callAbi(rewriter, op, "hpcc_rt_comm_start",
                {adaptor.getCtx(), constant(rewriter, loc, op.getId()), source,
                 sourceDims, destination, destinationDims, root, predicate});
    rewriter.replaceOp(op, call);
    return success();
  }
};

struct LowerCommWait : Lowering<rt::CommWaitOp> {
  using Lowering::Lowering;
  LogicalResult
  matchAndRewrite(rt::CommWaitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    callAbi(rewriter, op, "hpcc_rt_comm_wait",
            {adaptor.getCtx(), adaptor.getRequest()});
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerChunk : Lowering<rt::ChunkOp> {
  using Lowering::Lowering;
  LogicalResult
  matchAndRewrite(rt::ChunkOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    rewriter.replaceOp(
        op, callFilling(rewriter, op, "hpcc_rt_chunk",
                        {constant(rewriter, loc, op.getScheme()),
                         constant(rewriter, loc, op.getWorkers()),
                         constant(rewriter, loc, op.getBatch()),
                         constant(rewriter, loc, op.getFcBatch()),
                         adaptor.getN(), adaptor.getRank(), adaptor.getPass()},
                        4));
    return success();
  }
};

struct LowerShard : Lowering<rt::ShardOp> {
  using Lowering::Lowering;
  LogicalResult
  matchAndRewrite(rt::ShardOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    rewriter.replaceOp(op,
                       callFilling(rewriter, op, "hpcc_rt_shard",
                                   {constant(rewriter, loc, op.getExtent()),
                                    constant(rewriter, loc, op.getWorkers()),
                                    adaptor.getRank()},
                                   2));
    return success();
  }
};

struct LowerExamples : Lowering<rt::ExamplesOp> {
  using Lowering::Lowering;
  LogicalResult
  matchAndRewrite(rt::ExamplesOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    rewriter.replaceOp(
        op,
        callFilling(rewriter, op, "hpcc_rt_examples",
                    {adaptor.getN(), constant(rewriter, loc, op.getWorkers()),
                     adaptor.getRank()},
                    2));
    return success();
  }
};

/// The captured values travel in a struct on the stack; a function per kernel
/// unpacks them.
struct LowerParallelFor : Lowering<rt::ParallelForOp> {
  using Lowering::Lowering;
  LogicalResult
  matchAndRewrite(rt::ParallelForOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SmallVector<Type> types(adaptor.getCaptured().getTypes());
    auto captured = LLVM::LLVMStructType::getLiteral(getContext(), types);
    Value memory = stack(rewriter, op, captured, 1);
    for (auto [index, value] : llvm::enumerate(adaptor.getCaptured()))
      LLVM::StoreOp::create(rewriter, loc, value,
                            field(rewriter, loc, captured, memory, index));
    LLVM::LLVMFuncOp body = unpacking(rewriter, op, captured);
    Value pointer = LLVM::AddressOfOp::create(rewriter, loc, body);
    callAbi(rewriter, op, "hpcc_rt_parallel_for",
            {adaptor.getCtx(), pointer, memory, adaptor.getBegin(),
             adaptor.getEnd()});
    rewriter.eraseOp(op);
    return success();
  }

private:
  static Value field(OpBuilder &b, Location loc, Type structure, Value memory,
                     int64_t index) {
    return LLVM::GEPOp::create(b, loc, memory.getType(), structure, memory,
                               ArrayRef<LLVM::GEPArg>{0, int32_t(index)});
  }

  LLVM::LLVMFuncOp unpacking(ConversionPatternRewriter &rewriter,
                             rt::ParallelForOp op,
                             LLVM::LLVMStructType captured) const {
    auto module = op->getParentOfType<ModuleOp>();
    std::string name = op.getKernel().str() + "_range";
    if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
      return known;
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToEnd(module.getBody());
    Location loc = op.getLoc();
    Type i64 = rewriter.getI64Type();
    auto pointer = LLVM::LLVMPointerType::get(getContext());
    auto type = LLVM::LLVMFunctionType::get(
        LLVM::LLVMVoidType::get(getContext()), {pointer, i64, i64});
    auto function = LLVM::LLVMFuncOp::create(rewriter, loc, name, type,
                                             LLVM::Linkage::Internal);
    Block *entry = function.addEntryBlock(rewriter);
    rewriter.setInsertionPointToStart(entry);
    SmallVector<Value> arguments;
    for (auto [index, value] : llvm::enumerate(op.getCaptured())) {
      Value packed = LLVM::LoadOp::create(
          rewriter, loc, captured.getBody()[index],
          field(rewriter, loc, captured, entry->getArgument(0), index));
      if (auto memref = dyn_cast<MemRefType>(value.getType()))
        MemRefDescriptor::unpack(rewriter, loc, packed, memref, arguments);
      else
        arguments.push_back(packed);
    }
    arguments.push_back(entry->getArgument(1));
    arguments.push_back(entry->getArgument(2));
    LLVM::CallOp::create(rewriter, loc, TypeRange{}, op.getKernel(), arguments);
    LLVM::ReturnOp::create(rewriter, loc, ValueRange{});
    return function;
  }
};

struct RuntimeToLlvmInterface : ConvertToLLVMPatternInterface {
  using ConvertToLLVMPatternInterface::ConvertToLLVMPatternInterface;

  void populateConvertToLLVMConversionPatterns(
      ConversionTarget &target, LLVMTypeConverter &types,
      RewritePatternSet &patterns) const final {
    target.addIllegalDialect<rt::RtDialect>();
    patterns.add<LowerDefine, LowerExecute, LowerCommStart, LowerCommWait,
                 LowerChunk, LowerShard, LowerExamples, LowerParallelFor>(
        types);
  }
};
} // namespace

void hpcc::registerRuntimeToLlvm(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, rt::RtDialect *dialect) {
    dialect->addInterfaces<RuntimeToLlvmInterface>();
  });
}
