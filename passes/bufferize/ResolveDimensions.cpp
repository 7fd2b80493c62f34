// SPDX-License-Identifier: Apache-2.0
// Extents of arguments, computed from the number of examples and the rank.
#include "mlir/IR/Matchers.h"
#include "passes/FunctionArguments.h"
#include "passes/Options.h"
#include "passes/Passes.h"

namespace hpcc {
#define GEN_PASS_DEF_BUFFERIZERESOLVEDIMENSIONS
#include "passes/Passes.h.inc"
} // namespace hpcc

using namespace mlir;
using namespace hpcc;

namespace {
/// The extents of one function's arguments, each computed once, at entry.
class Extents {
public:
  Extents(func::FuncOp function, const Options &options)
      : function(function), options(options),
        builder(OpBuilder::atBlockBegin(&function.getBody().front())) {}

  /// The extent of dimension 0 of an argument; null where nothing says it.
  Value of(BlockArgument argument) {
    DictionaryAttr dict = argumentOf(function, argument.getArgNumber());
    StringRef kind = stringIn(dict, "kind");
    if (stringIn(dict, "split") == "dim0")
      return shardRows(dict);
    if (kind == "input" || kind == "target" || kind == "position")
      return localRows();
    if (kind == "result" && stringIn(dict, "of") == "output")
      return stringIn(dict, "rows") == "step" ? stepRows() : localRows();
    return {};
  }
  /// The first input that a function without `examples` counts.
  memref::DimOp counted;

private:
  Value rank() {
    if (Value value = argumentOfKind(function, "rank"))
      return value;
    return zero();
  }
  Value zero() {
    if (!cachedZero)
      cachedZero =
          arith::ConstantIndexOp::create(builder, function.getLoc(), 0);
    return cachedZero;
  }
  Value stepRows() { return argumentOfKind(function, "examples"); }
  Value localRows() {
    if (cachedRows)
      return cachedRows;
    Location loc = function.getLoc();
    if (Value n = argumentOfKind(function, "examples")) {
      cachedRows = nn::ExamplesOp::create(builder, loc, n, rank(),
                                          options.workers, options.batch)
                       .getCount();
      return cachedRows;
    }
    Value input = argumentOfKind(function, "input");
    if (!input)
      return {};
    counted = memref::DimOp::create(builder, loc, input, zero());
    int64_t most = sharding::ceilDiv(options.batch, options.workers);
    cachedRows = nn::ExamplesOp::create(builder, loc, counted, zero(), 1, most)
                     .getCount();
    return cachedRows;
  }
  Value shardRows(DictionaryAttr dict) {
    auto segments = dict.getAs<ArrayAttr>("segments");
    auto segment = segments && segments.size() == 1
                       ? dyn_cast<DictionaryAttr>(segments[0])
                       : DictionaryAttr();
    Attribute shape = segment ? segment.get("shape") : Attribute();
    int64_t extent = -1;
    if (auto array = dyn_cast_or_null<DenseI64ArrayAttr>(shape))
      extent = array.empty() ? -1 : array[0];
    else if (auto array = dyn_cast_or_null<ArrayAttr>(shape))
      if (auto first =
              array.empty() ? IntegerAttr() : dyn_cast<IntegerAttr>(array[0]))
        extent = first.getInt();
    if (extent < 0)
      return {};
    Value &size = cachedShards[extent];
    if (!size)
      size = nn::ShardOp::create(builder, function.getLoc(), rank(), extent,
                                 options.workers)
                 .getSize();
    return size;
  }

  func::FuncOp function;
  const Options &options;
  OpBuilder builder;
  Value cachedZero, cachedRows;
  DenseMap<int64_t, Value> cachedShards;
};

struct ResolveDimensions
    : hpcc::impl::BufferizeResolveDimensionsBase<ResolveDimensions> {
  void runOnOperation() override {
    auto module = cast<ModuleOp>(getOperation());
    FailureOr<Options> options = Options::get(module);
    if (failed(options))
      return signalPassFailure();
    for (func::FuncOp function : module.getOps<func::FuncOp>())
      if (!function.isExternal() && failed(resolve(function, *options)))
        return signalPassFailure();
  }

  static LogicalResult resolve(func::FuncOp function, const Options &options) {
    SmallVector<memref::DimOp> dims;
    function.walk([&](memref::DimOp dim) { dims.push_back(dim); });
    Extents extents(function, options);
    for (memref::DimOp dim : dims) {
      auto argument = dyn_cast<BlockArgument>(dim.getSource());
      if (!argument || argument.getOwner() != &function.getBody().front())
        continue;
      std::optional<int64_t> index = dim.getConstantIndex();
      Value extent = index == 0 ? extents.of(argument) : Value();
      if (!extent)
        return dim.emitError()
               << "the extent of argument #" << argument.getArgNumber() << " ("
               << argumentOf(function, argument.getArgNumber())
               << ") along dimension " << index.value_or(-1)
               << " follows neither from the number of examples nor from a "
                  "shard";
      dim.replaceAllUsesWith(extent);
      dim.erase();
    }
    return success();
  }
};
} // namespace
