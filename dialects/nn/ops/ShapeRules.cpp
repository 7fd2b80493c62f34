// SPDX-License-Identifier: Apache-2.0
// What verifiers and costs ask about shapes.
#include "dialects/nn/ops/ShapeRules.h"

using namespace mlir;
using namespace hpcc::nn;

bool hpcc::nn::shapeMatches(Type type, ArrayRef<int64_t> expected) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
  return shape.size() == expected.size() &&
         llvm::all_of(llvm::zip_equal(shape, expected), [](auto pair) {
           return extentsMatch(std::get<0>(pair), std::get<1>(pair));
         });
}

std::string hpcc::nn::shapeText(ArrayRef<int64_t> shape) {
  if (shape.empty())
    return "of a scalar";
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(
      shape, os,
      [&](int64_t extent) {
        if (ShapedType::isDynamic(extent))
          os << '?';
        else
          os << extent;
      },
      "x");
  return text;
}

LogicalResult hpcc::nn::checkShape(Operation *op, StringRef what, Type type,
                                   ArrayRef<int64_t> expected) {
  if (shapeMatches(type, expected))
    return success();
  return op->emitOpError() << what << " must have shape " << shapeText(expected)
                           << ", got "
                           << shapeText(
                                  cast<RankedTensorType>(type).getShape());
}

LogicalResult hpcc::nn::checkRank(Operation *op, StringRef what, Type type,
                                  int64_t expected) {
  int64_t rank = cast<RankedTensorType>(type).getRank();
  if (rank == expected)
    return success();
  return op->emitOpError() << what << " must have rank " << expected << ", got "
                           << type;
}

bool hpcc::nn::hasBatch(Type type) {
  auto ranked = cast<RankedTensorType>(type);
  return ranked.getRank() > 0 && ranked.isDynamicDim(0);
}

int64_t hpcc::nn::elementCount(Type type, int64_t batch) {
  int64_t count = 1;
  for (int64_t extent : cast<RankedTensorType>(type).getShape())
    count *= ShapedType::isDynamic(extent) ? batch : extent;
  return count;
}

LogicalResult hpcc::nn::checkWindow(Operation *op, Window window,
                                    int64_t spatialRank) {
  auto check = [&](StringRef name, ArrayRef<int64_t> values, int64_t expected,
                   int64_t least) -> LogicalResult {
    if (static_cast<int64_t>(values.size()) != expected)
      return op->emitOpError() << "`" << name << "` must have " << expected
                               << " entries, got " << values.size();
    for (int64_t value : values)
      if (value < least)
        return op->emitOpError() << "`" << name << "` must be at least "
                                 << least << ", got " << value;
    return success();
  };
  if (failed(check("kernel", window.kernel, spatialRank, 1)) ||
      failed(check("strides", window.strides, spatialRank, 1)) ||
      failed(check("dilations", window.dilations, spatialRank, 1)))
    return failure();
  return check("pads", window.pads, 2 * spatialRank, 0);
}

SmallVector<int64_t> hpcc::nn::windowOutput(ArrayRef<int64_t> input,
                                            Window window) {
  SmallVector<int64_t> output;
  for (auto [i, in] : llvm::enumerate(input)) {
    if (ShapedType::isDynamic(in)) {
      output.push_back(ShapedType::kDynamic);
      continue;
    }
    int64_t covered = (window.kernel[i] - 1) * window.dilations[i] + 1;
    int64_t room =
        in + window.pads[i] + window.pads[i + input.size()] - covered;
    output.push_back(room < 0 ? 0 : room / window.strides[i] + 1);
  }
  return output;
}
