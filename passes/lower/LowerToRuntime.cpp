// SPDX-License-Identifier: Apache-2.0
// Primitives, collectives and batch arithmetic become rt ops; what is fixed
// about them goes into the descriptor table.
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Transforms/DialectConversion.h"
#include "passes/Contiguous.h"
#include "passes/FunctionArguments.h"
#include "passes/NodeName.h"
#include "passes/Passes.h"
#include "runtime/include/hpcc/sharding.h"

namespace hpcc {
#define GEN_PASS_DEF_LOWERTORUNTIME
#include "passes/Passes.h.inc"
} // namespace hpcc

using namespace mlir;
using namespace hpcc;

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

static std::string elementName(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << getElementTypeOrSelf(type);
  return name;
}

namespace {
/// The descriptor table under construction.
class Descriptors {
public:
  struct Entry {
    int64_t id;
    StringAttr kind;
    DictionaryAttr params;
    Location loc;
  };

  int64_t idOf(Operation *op, StringRef kind, NamedAttrList params,
               ValueRange buffers) {
    Builder b(op->getContext());
    SmallVector<Attribute> ranks, types;
    for (Value buffer : buffers) {
      auto type = cast<MemRefType>(buffer.getType());
      ranks.push_back(b.getI64IntegerAttr(type.getRank()));
      types.push_back(b.getStringAttr(elementName(type)));
    }
    params.set("node", b.getStringAttr(getNodeName(op)));
    params.set("ranks", b.getArrayAttr(ranks));
    params.set("types", b.getArrayAttr(types));
    std::pair<Attribute, Attribute> key(b.getStringAttr(kind),
                                        params.getDictionary(op->getContext()));
    auto [entry, isNew] = ids.insert({key, int64_t(entries.size())});
    if (isNew)
      entries.push_back({entry->second, cast<StringAttr>(key.first),
                         cast<DictionaryAttr>(key.second), op->getLoc()});
    return entry->second;
  }

  ArrayRef<Entry> all() const { return entries; }

private:
  DenseMap<std::pair<Attribute, Attribute>, int64_t> ids;
  SmallVector<Entry> entries;
};
} // namespace

static LogicalResult checkContiguous(Operation *op, ValueRange buffers) {
  for (Value buffer : buffers)
    if (!isContiguous(buffer))
      return op->emitError()
             << "needs row-major contiguous buffers, got " << buffer.getType();
  return success();
}

static Value contextOf(Operation *op) {
  auto function = op->getParentOfType<func::FuncOp>();
  Value context = function ? argumentOfKind(function, "context") : Value();
  if (!context)
    op->emitError() << "the function has no argument of kind \"context\"";
  return context;
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {
template <typename Op> struct Lowering : OpConversionPattern<Op> {
  Lowering(const TypeConverter &types, MLIRContext *context,
           Descriptors &descriptors)
      : OpConversionPattern<Op>(types, context), descriptors(descriptors) {}
  Descriptors &descriptors;
};

struct LowerPrimitive : Lowering<nn::PrimitiveOp> {
  using Lowering::Lowering;
  LogicalResult
  matchAndRewrite(nn::PrimitiveOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value context = contextOf(op);
    SmallVector<Value> buffers(op.getInputs());
    llvm::append_range(buffers, op.getOutputs());
    if (!context || failed(checkContiguous(op, buffers)))
      return failure();
    int64_t id = descriptors.idOf(op, op.getKind(),
                                  NamedAttrList(op.getParams()), buffers);
    rewriter.replaceOpWithNewOp<rt::ExecuteOp>(op, context, id, buffers);
    return success();
  }
};

struct LowerCollective
    : OpInterfaceConversionPattern<comm::CollectiveOpInterface> {
  LowerCollective(const TypeConverter &types, MLIRContext *context,
                  Descriptors &descriptors)
      : OpInterfaceConversionPattern(types, context), descriptors(descriptors) {
  }
  LogicalResult
  matchAndRewrite(comm::CollectiveOpInterface op, ArrayRef<Value>,
                  ConversionPatternRewriter &rewriter) const override {
    Value context = contextOf(op);
    Value source = op.getSource() ? op.getSource() : op.getDestination();
    SmallVector<Value> buffers = {source, op.getDestination()};
    if (!context || failed(checkContiguous(op, buffers)))
      return failure();
    Builder b(getContext());
    NamedAttrList params;
    params.set("op", b.getStringAttr(stringifyKind(op.getKind())));
    params.set("reduction",
               b.getStringAttr(stringifyReduction(op.getReduction())));
    params.set("channel", b.getStringAttr(stringifyChannel(op.getChannel())));
    params.set("dim", b.getI64IntegerAttr(op.getDim()));
    params.set("type", b.getStringAttr(elementName(source.getType())));
    int64_t id = descriptors.idOf(op, "comm", params, buffers);
    auto start = dyn_cast<comm::StartOp>(op.getOperation());
    Value predicate = start ? start.getPredicate() : Value();
    Value request = rt::CommStartOp::create(
        rewriter, op.getLoc(), rewriter.getI64Type(), context, id,
        op.getSource(), op.getDestination(), op.getRoot(), predicate);
    if (start) {
      rewriter.replaceOp(op, request);
      return success();
    }
    // An inline collective has completed when its start returns.
    if (op.getChannel() != comm::Channel::Inline)
      rt::CommWaitOp::create(rewriter, op.getLoc(), context, request);
    rewriter.eraseOp(op);
    return success();
  }
  Descriptors &descriptors;
};

struct LowerWait : OpConversionPattern<comm::WaitOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(comm::WaitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value context = contextOf(op);
    if (!context)
      return failure();
    rewriter.replaceOpWithNewOp<rt::CommWaitOp>(op, context,
                                                adaptor.getRequest());
    return success();
  }
};

struct LowerNull : OpConversionPattern<comm::NullOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(comm::NullOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<arith::ConstantIntOp>(op, -1, 64);
    return success();
  }
};

struct LowerChunk : OpConversionPattern<nn::ChunkOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(nn::ChunkOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    int64_t scheme = op.getScheme() == "a"   ? int64_t(sharding::Scheme::a)
                     : op.getScheme() == "b" ? int64_t(sharding::Scheme::b)
                                             : int64_t(sharding::Scheme::c);
    rewriter.replaceOpWithNewOp<rt::ChunkOp>(
        op, op->getResultTypes(), op.getN(), op.getRank(), op.getPass(), scheme,
        op.getWorkers(), op.getBatch(), op.getFcBatch());
    return success();
  }
};

struct LowerShard : OpConversionPattern<nn::ShardOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(nn::ShardOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<rt::ShardOp>(op, op->getResultTypes(),
                                             op.getRank(), op.getExtent(),
                                             op.getWorkers());
    return success();
  }
};

struct LowerExamples : OpConversionPattern<nn::ExamplesOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(nn::ExamplesOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<rt::ExamplesOp>(
        op, op->getResultTypes(), op.getN(), op.getRank(), op.getWorkers());
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

struct LowerToRuntime : hpcc::impl::LowerToRuntimeBase<LowerToRuntime> {
  void runOnOperation() override {
    auto module = cast<ModuleOp>(getOperation());
    MLIRContext *context = &getContext();
    Descriptors descriptors;
    TypeConverter types;
    types.addConversion([](Type type) { return type; });
    types.addConversion([](comm::RequestType type) -> Type {
      return IntegerType::get(type.getContext(), 64);
    });
    ConversionTarget target(*context);
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    target.addIllegalDialect<comm::CommDialect>();
    target.addIllegalOp<nn::PrimitiveOp, nn::ChunkOp, nn::ShardOp,
                        nn::ExamplesOp>();
    RewritePatternSet patterns(context);
    patterns.add<LowerPrimitive, LowerCollective>(types, context, descriptors);
    patterns.add<LowerWait, LowerNull, LowerChunk, LowerShard, LowerExamples>(
        types, context);
    scf::populateSCFStructuralTypeConversionsAndLegality(types, patterns,
                                                         target);
    if (failed(applyPartialConversion(module, target, std::move(patterns))))
      return signalPassFailure();
    if (module.lookupSymbol("init")) {
      module.emitError() << "there is a function @init already";
      return signalPassFailure();
    }
    writeInit(module, descriptors);
  }

  static void writeInit(ModuleOp module, const Descriptors &descriptors) {
    OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
    auto init = func::FuncOp::create(
        b, module.getLoc(), "init",
        b.getFunctionType({LLVM::LLVMPointerType::get(b.getContext())}, {}));
    init.setArgAttr(0, kArgument,
                    b.getDictionaryAttr(
                        b.getNamedAttr("kind", b.getStringAttr("context"))));
    init->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(),
                  b.getUnitAttr());
    Block *entry = init.addEntryBlock();
    b.setInsertionPointToStart(entry);
    for (const Descriptors::Entry &entryOf : descriptors.all())
      rt::DefineOp::create(b, entryOf.loc, entry->getArgument(0), entryOf.id,
                           entryOf.kind.getValue(), entryOf.params);
    func::ReturnOp::create(b, module.getLoc());
  }
};
} // namespace
