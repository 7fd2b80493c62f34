// SPDX-License-Identifier: Apache-2.0
// Linalg ops become functions of a range. The loops are written here rather
// than by convert-linalg-to-loops, which can neither restrict one dimension to
// a range nor keep a sum in a register.
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/FunctionArguments.h"
#include "passes/Passes.h"
#include "passes/arena/BufferSize.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

namespace hpcc {
#define GEN_PASS_DEF_LOWEROUTLINEKERNELS
#include "passes/Passes.h.inc"
} // namespace hpcc

using namespace mlir;
using namespace hpcc;

//===----------------------------------------------------------------------===//
// Merging dimensions
//===----------------------------------------------------------------------===//

/// Whether every operand that has `dim` or `dim + 1` runs through both, one
/// right after the other.
static bool runTogether(linalg::GenericOp op, unsigned dim) {
  SmallVector<utils::IteratorType> types = op.getIteratorTypesArray();
  if (types[dim] != types[dim + 1])
    return false;
  AffineExpr first = getAffineDimExpr(dim, op.getContext());
  AffineExpr second = getAffineDimExpr(dim + 1, op.getContext());
  for (AffineMap map : op.getIndexingMapsArray()) {
    std::optional<unsigned> at = map.getResultPosition(first);
    std::optional<unsigned> next = map.getResultPosition(second);
    if (at.has_value() != next.has_value() || (at && *next != *at + 1))
      return false;
  }
  return true;
}

/// Groups of adjacent dimensions that can be one loop.
static SmallVector<ReassociationIndices> groupDims(linalg::GenericOp op) {
  SmallVector<ReassociationIndices> groups;
  for (unsigned dim = 0, e = op.getNumLoops(); dim < e; ++dim) {
    if (dim > 0 && runTogether(op, dim - 1))
      groups.back().push_back(dim);
    else
      groups.push_back({dim});
  }
  return groups;
}

/// The op with merged dimensions, or as it is where nothing can be merged.
static linalg::GenericOp mergeDims(IRRewriter &rewriter, linalg::GenericOp op) {
  if (op.hasIndexSemantics() || op.getNumLoops() < 2 ||
      !llvm::all_of(op.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isProjectedPermutation(); }))
    return op;
  SmallVector<ReassociationIndices> groups = groupDims(op);
  if (groups.size() == op.getNumLoops())
    return op;
  DenseMap<int64_t, unsigned> groupOf;
  SmallVector<utils::IteratorType> types;
  for (auto [index, group] : llvm::enumerate(groups)) {
    types.push_back(op.getIteratorTypesArray()[group[0]]);
    for (int64_t dim : group)
      groupOf[dim] = index;
  }

  SmallVector<AffineMap> maps;
  SmallVector<SmallVector<ReassociationIndices>> reassociations;
  for (auto [operand, map] :
       llvm::zip_equal(op->getOpOperands(), op.getIndexingMapsArray())) {
    SmallVector<AffineExpr> results;
    SmallVector<ReassociationIndices> reassociation;
    for (auto [position, expr] : llvm::enumerate(map.getResults())) {
      unsigned dim = cast<AffineDimExpr>(expr).getPosition();
      if (groups[groupOf[dim]][0] == int64_t(dim)) {
        results.push_back(
            getAffineDimExpr(groupOf[dim], rewriter.getContext()));
        reassociation.emplace_back();
      }
      reassociation.back().push_back(position);
    }
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (type && !results.empty() &&
        !memref::CollapseShapeOp::isGuaranteedCollapsible(type, reassociation))
      return op;
    maps.push_back(
        AffineMap::get(groups.size(), 0, results, rewriter.getContext()));
    reassociations.push_back(reassociation);
  }

  rewriter.setInsertionPoint(op);
  SmallVector<Value> inputs, outputs;
  DenseMap<Value, Value> collapsed; // equal operands stay equal
  for (auto [operand, reassociation] :
       llvm::zip_equal(op->getOpOperands(), reassociations)) {
    Value value = operand.get();
    auto type = dyn_cast<MemRefType>(value.getType());
    if (type && int64_t(reassociation.size()) != type.getRank()) {
      Value &merged = collapsed[value];
      if (!merged)
        merged = memref::CollapseShapeOp::create(rewriter, op.getLoc(), value,
                                                 reassociation);
      value = merged;
    }
    (op.isDpsInput(&operand) ? inputs : outputs).push_back(value);
  }
  auto merged = linalg::GenericOp::create(rewriter, op.getLoc(), TypeRange{},
                                          inputs, outputs, maps, types);
  rewriter.inlineRegionBefore(op.getRegion(), merged.getRegion(),
                              merged.getRegion().begin());
  rewriter.eraseOp(op);
  return merged;
}

//===----------------------------------------------------------------------===//
// Building a kernel
//===----------------------------------------------------------------------===//

/// The type of a buffer with all extents dynamic, so that kernels do not
/// depend on shapes. The innermost stride stays known.
static MemRefType shapeFree(MemRefType type) {
  SmallVector<int64_t> shape(type.getRank(), ShapedType::kDynamic);
  auto layout = type.getLayout();
  if (!layout.isIdentity()) {
    auto [strides, offset] = type.getStridesAndOffset();
    for (int64_t &stride : MutableArrayRef(strides).drop_back())
      stride = ShapedType::kDynamic;
    return MemRefType::get(shape, type.getElementType(),
                           StridedLayoutAttr::get(type.getContext(),
                                                  ShapedType::kDynamic,
                                                  strides));
  }
  return MemRefType::get(shape, type.getElementType());
}

static SmallVector<Range> loopRanges(OpBuilder &b, linalg::GenericOp op) {
  auto interface = cast<linalg::LinalgOp>(op.getOperation());
  return SmallVector<Range>(interface.createLoopRanges(b, op.getLoc()));
}

namespace {
/// One linalg op on its way to a kernel.
struct Kernel {
  linalg::GenericOp op;
  /// Loop that is split between threads; -1: none.
  int64_t split = -1;
  /// Buffers and scalars that the kernel gets, without duplicates.
  SetVector<Value> captured;
  /// Constants that the kernel makes itself.
  SetVector<Value> constants;

  explicit Kernel(linalg::GenericOp op) : op(op) {
    for (Value operand : op->getOperands())
      add(operand);
    SetVector<Value> above;
    getUsedValuesDefinedAbove(op.getRegion(), above);
    for (Value value : above)
      add(value);
    split = chooseSplit();
  }

private:
  void add(Value value) {
    Operation *definition = value.getDefiningOp();
    if (definition && definition->hasTrait<OpTrait::ConstantLike>())
      constants.insert(value);
    else
      captured.insert(value);
  }

  /// The first parallel loop that is long enough for many threads, else the
  /// longest; unknown extents count as long.
  int64_t chooseSplit() {
    constexpr int64_t kEnough = 16;
    int64_t best = -1, longest = -1;
    SmallVector<int64_t> extents = op.getStaticLoopRanges();
    for (auto [dim, type] : llvm::enumerate(op.getIteratorTypesArray())) {
      if (type != utils::IteratorType::parallel)
        continue;
      int64_t extent =
          ShapedType::isDynamic(extents[dim]) ? kEnough : extents[dim];
      if (extent >= kEnough)
        return dim;
      if (extent > longest) {
        best = dim;
        longest = extent;
      }
    }
    return best;
  }
};

/// Writes the loops of one kernel.
class LoopWriter {
public:
  LoopWriter(OpBuilder &b, linalg::GenericOp op, int64_t split, Value begin,
             Value end)
      : b(b), op(op), loc(op.getLoc()), split(split), begin(begin), end(end) {}

  void write() {
    zero = arith::ConstantIndexOp::create(b, loc, 0);
    one = arith::ConstantIndexOp::create(b, loc, 1);
    for (Range range : loopRanges(b, op))
      extents.push_back(getValueOrCreateConstantIndexOp(b, loc, range.size));
    SmallVector<utils::IteratorType> types = op.getIteratorTypesArray();
    firstSummed = types.size();
    while (firstSummed > 0 &&
           types[firstSummed - 1] == utils::IteratorType::reduction)
      --firstSummed;
    for (unsigned dim = 0; dim < firstSummed; ++dim)
      enter(dim, {});
    writeElement();
  }

private:
  /// Opens a loop and leaves the builder inside.
  scf::ForOp enter(unsigned dim, ValueRange carried) {
    bool isSplit = int64_t(dim) == split;
    auto loop = scf::ForOp::create(b, loc, isSplit ? begin : zero,
                                   isSplit ? end : extents[dim], one, carried);
    ivs.push_back(loop.getInductionVar());
    if (carried.empty())
      b.setInsertionPoint(loop.getBody()->getTerminator());
    else
      b.setInsertionPointToStart(loop.getBody());
    return loop;
  }

  /// The innermost parallel element: sums run in registers.
  void writeElement() {
    SmallVector<Value> values;
    if (firstSummed == op.getNumLoops()) {
      for (OpOperand &output : op.getDpsInitsMutable())
        values.push_back(op.payloadUsesValueFromOperand(&output) ? load(output)
                                                                 : Value());
      values = writeBody(values);
    } else {
      for (OpOperand &output : op.getDpsInitsMutable())
        values.push_back(load(output));
      values = sum(firstSummed, values);
      ivs.truncate(firstSummed);
    }
    for (auto [output, value] :
         llvm::zip_equal(op.getDpsInitsMutable(), values))
      memref::StoreOp::create(b, loc, value, output.get(), indices(output));
  }

  SmallVector<Value> sum(unsigned dim, ValueRange values) {
    scf::ForOp loop = enter(dim, values);
    SmallVector<Value> carried(loop.getRegionIterArgs());
    SmallVector<Value> next = dim + 1 == op.getNumLoops()
                                  ? writeBody(carried)
                                  : sum(dim + 1, carried);
    scf::YieldOp::create(b, loc, next);
    b.setInsertionPointAfter(loop);
    return loop.getResults();
  }

  SmallVector<Value> writeBody(ArrayRef<Value> outputs) {
    IRMapping map;
    Block &body = op.getRegion().front();
    for (OpOperand *input : op.getDpsInputOperands()) {
      BlockArgument argument = op.getMatchingBlockArgument(input);
      if (!argument.use_empty())
        map.map(argument, load(*input));
    }
    for (auto [argument, value] :
         llvm::zip_equal(op.getRegionOutputArgs(), outputs))
      if (value)
        map.map(argument, value);
    for (Operation &inner : body.without_terminator()) {
      if (auto index = dyn_cast<linalg::IndexOp>(inner))
        map.map(index.getResult(), ivs[index.getDim()]);
      else
        b.clone(inner, map);
    }
    return llvm::map_to_vector(
        body.getTerminator()->getOperands(),
        [&](Value value) { return map.lookupOrDefault(value); });
  }

  SmallVector<Value> indices(OpOperand &operand) {
    SmallVector<Value> result;
    for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults()) {
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        result.push_back(ivs[dim.getPosition()]);
      else
        result.push_back(affine::AffineApplyOp::create(
            b, loc, AffineMap::get(op.getNumLoops(), 0, expr), padded()));
    }
    return result;
  }

  /// Induction variables, loops not yet entered as zero: maps of outputs do
  /// not use those.
  SmallVector<Value> padded() {
    SmallVector<Value> all(ivs);
    all.resize(op.getNumLoops(), zero);
    return all;
  }

  Value load(OpOperand &operand) {
    if (!isa<MemRefType>(operand.get().getType()))
      return operand.get();
    return memref::LoadOp::create(b, loc, operand.get(), indices(operand));
  }

  OpBuilder &b;
  linalg::GenericOp op;
  Location loc;
  int64_t split;
  Value begin, end, zero, one;
  SmallVector<Value> extents, ivs;
  unsigned firstSummed = 0;
};
} // namespace

/// The memory that a buffer lies in: an argument, a constant, or a buffer of
/// the arena (the planner keeps those apart while they are used). Null where
/// that is not known.
static Value memoryOf(Value buffer) {
  while (Operation *definition = buffer.getDefiningOp()) {
    if (auto view = dyn_cast<ViewLikeOpInterface>(definition)) {
      BlockArgument argument = dyn_cast<BlockArgument>(view.getViewSource());
      if (argument && isa<memref::ViewOp>(definition))
        return buffer;
      buffer = view.getViewSource();
      continue;
    }
    return isa<memref::GetGlobalOp>(definition) ? buffer : Value();
  }
  auto argument = cast<BlockArgument>(buffer);
  return isa<FunctionOpInterface>(argument.getOwner()->getParentOp()) ? buffer
                                                                      : Value();
}

/// Names what the body computes: its first ops.
static std::string describeBody(linalg::GenericOp op) {
  SmallVector<std::string> words;
  for (Operation &inner : op.getRegion().front().without_terminator()) {
    if (words.size() == 4)
      break;
    if (!inner.hasTrait<OpTrait::ConstantLike>() &&
        !isa<linalg::IndexOp>(inner))
      words.push_back(inner.getName().stripDialect().str());
  }
  if (words.empty())
    words.push_back(op.getNumDpsInputs() &&
                            isa<MemRefType>(op.getOperand(0).getType())
                        ? "copy"
                        : "fill");
  return llvm::join(words, "_");
}

static func::FuncOp buildKernel(OpBuilder &b, const Kernel &kernel) {
  linalg::GenericOp op = kernel.op;
  SmallVector<Type> types;
  DenseMap<Value, unsigned> sharing;
  SmallVector<Value> memories;
  bool allKnown = true;
  for (Value value : kernel.captured) {
    auto memref = dyn_cast<MemRefType>(value.getType());
    types.push_back(memref ? Type(shapeFree(memref)) : value.getType());
    memories.push_back(memref ? memoryOf(value) : Value());
    if (memref) {
      allKnown &= bool(memories.back());
      ++sharing[memories.back()];
    }
  }
  types.append({b.getIndexType(), b.getIndexType()});
  auto function = func::FuncOp::create(b, op.getLoc(), "kernel",
                                       b.getFunctionType(types, {}));
  function.setPrivate();
  // Positions among the arguments of the LLVM function, where a buffer of rank
  // r is {allocated, aligned, offset, r sizes, r strides}.
  SmallVector<int64_t> restricted;
  int64_t position = 0;
  for (auto [value, memory] : llvm::zip_equal(kernel.captured, memories)) {
    auto memref = dyn_cast<MemRefType>(value.getType());
    if (memory && allKnown && sharing[memory] == 1)
      restricted.push_back(position + 1);
    position += memref ? 3 + 2 * memref.getRank() : 1;
  }
  if (!restricted.empty())
    function->setAttr("rt.restrict", b.getDenseI64ArrayAttr(restricted));

  Block *entry = function.addEntryBlock();
  OpBuilder inner = OpBuilder::atBlockBegin(entry);
  func::ReturnOp::create(inner, op.getLoc());
  inner.setInsertionPointToStart(entry);
  IRMapping map;
  for (auto [value, argument] :
       llvm::zip(kernel.captured, entry->getArguments()))
    map.map(value, argument);
  for (Value value : kernel.constants)
    inner.clone(*value.getDefiningOp(), map);
  auto copy = cast<linalg::GenericOp>(inner.clone(*op, map));
  inner.setInsertionPoint(copy);
  unsigned captured = kernel.captured.size();
  LoopWriter(inner, copy, kernel.split, entry->getArgument(captured),
             entry->getArgument(captured + 1))
      .write();
  copy.erase();
  return function;
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {
struct OutlineKernels : hpcc::impl::LowerOutlineKernelsBase<OutlineKernels> {
  using LowerOutlineKernelsBase::LowerOutlineKernelsBase;

  void runOnOperation() override {
    auto module = cast<ModuleOp>(getOperation());
    SmallVector<linalg::LinalgOp> ops;
    module.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    SymbolTable symbols(module);
    llvm::StringMap<func::FuncOp> kernels;
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops)
      if (failed(outline(rewriter, op, symbols, kernels)))
        return signalPassFailure();
  }

private:
  LogicalResult outline(IRRewriter &rewriter, linalg::LinalgOp op,
                        SymbolTable &symbols,
                        llvm::StringMap<func::FuncOp> &kernels) {
    auto function = op->getParentOfType<func::FuncOp>();
    Value context = argumentOfKind(function, "context");
    if (!context)
      return op.emitError()
             << "the function has no argument of kind \"context\"";
    if (!op.hasPureBufferSemantics())
      return op.emitError() << "expected buffers, not tensors";
    rewriter.setInsertionPoint(op);
    auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
    if (!generic) {
      FailureOr<linalg::GenericOp> general =
          linalg::generalizeNamedOp(rewriter, op);
      if (failed(general))
        return op.emitError() << "cannot be written as loops";
      generic = *general;
    }
    // Asked now: the product of two unknown extents has no known maximum.
    bool isLarge = mostElements(generic) >= grain;
    generic = mergeDims(rewriter, generic);
    Kernel kernel(generic);
    func::FuncOp callee =
        share(buildKernel(rewriter, kernel), generic, symbols, kernels);
    call(rewriter, kernel, callee, isLarge ? context : Value());
    rewriter.eraseOp(generic);
    return success();
  }

  /// The kernel of the same text made before, or `fresh` under its name.
  static func::FuncOp share(func::FuncOp fresh, linalg::GenericOp op,
                            SymbolTable &symbols,
                            llvm::StringMap<func::FuncOp> &kernels) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    fresh->print(stream, OpPrintingFlags().useLocalScope());
    func::FuncOp &known = kernels[text];
    if (known) {
      fresh.erase();
      return known;
    }
    uint64_t hash = llvm::xxh3_64bits(llvm::arrayRefFromStringRef(text));
    fresh->remove();
    fresh.setName("kernel_" + describeBody(op) + "_" +
                  llvm::utohexstr(hash, /*LowerCase=*/true, 16));
    symbols.insert(fresh);
    return known = fresh;
  }

  /// A parallel call where there is a context to run it in, else a plain one.
  static void call(IRRewriter &rewriter, const Kernel &kernel,
                   func::FuncOp callee, Value context) {
    linalg::GenericOp op = kernel.op;
    Location loc = op.getLoc();
    rewriter.setInsertionPoint(op);
    SmallVector<Value> arguments;
    for (auto [value, type] :
         llvm::zip(kernel.captured, callee.getArgumentTypes())) {
      Value argument = value;
      if (argument.getType() != type)
        argument = memref::CastOp::create(rewriter, loc, type, argument);
      arguments.push_back(argument);
    }
    Value begin = arith::ConstantIndexOp::create(rewriter, loc, 0);
    Value end = begin;
    if (kernel.split >= 0)
      end = getValueOrCreateConstantIndexOp(
          rewriter, loc, loopRanges(rewriter, op)[kernel.split].size);
    if (kernel.split >= 0 && context) {
      rt::ParallelForOp::create(rewriter, loc, context, callee.getSymName(),
                                begin, end, arguments);
      return;
    }
    arguments.append({begin, end});
    func::CallOp::create(rewriter, loc, callee, arguments);
  }

  /// Elements of the iteration space at most; large where that is unknown.
  static int64_t mostElements(linalg::GenericOp op) {
    OpBuilder b(op);
    int64_t elements = 1;
    for (Range range : loopRanges(b, op)) {
      std::optional<int64_t> extent = getConstantIntValue(range.size);
      if (!extent) {
        FailureOr<int64_t> bound = maximumOf(cast<Value>(range.size));
        if (failed(bound))
          return std::numeric_limits<int64_t>::max();
        extent = *bound;
      }
      if (llvm::MulOverflow(elements, *extent, elements))
        return std::numeric_limits<int64_t>::max();
    }
    return elements;
  }
};
} // namespace
