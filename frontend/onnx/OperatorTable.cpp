// SPDX-License-Identifier: Apache-2.0
// Sorted by name, then by opset. A row holds until the next one of its name;
// versions that changed nothing for hpcc (new element types) have none.
#include "frontend/onnx/OperatorTable.h"

#include "frontend/onnx/ops/Handlers.h"

using namespace llvm;

namespace hpcc {

static constexpr OperatorRow table[] = {
    {"Add", 7, ops::add, "", "bias?", ops::evaluateAdd},
    {"AveragePool", 7, ops::averagePool,
     "auto_pad count_include_pad kernel_shape pads strides"},
    {"AveragePool", 10, ops::averagePool,
     "auto_pad ceil_mode count_include_pad kernel_shape pads strides"},
    {"AveragePool", 19, ops::averagePool,
     "auto_pad ceil_mode count_include_pad dilations kernel_shape pads "
     "strides"},
    {"BatchNormalization", 7, ops::batchNorm, "epsilon momentum spatial",
     ". norm_scale norm_bias running_mean running_var", nullptr,
     ops::checkBatchNorm},
    {"BatchNormalization", 14, ops::batchNorm,
     "epsilon momentum spatial training_mode",
     ". norm_scale norm_bias running_mean running_var", nullptr,
     ops::checkBatchNorm},
    {"Cast", 6, ops::cast, "to", "=", ops::evaluateCast},
    {"Cast", 19, ops::cast, "to saturate", "=", ops::evaluateCast},
    {"Clip", 6, ops::clip6, "min max"},
    {"Clip", 11, ops::clip11, ""},
    {"Concat", 4, ops::concat, "axis", "", ops::evaluateConcat},
    {"Constant", 1, ops::constant, "value", "", nullptr, ops::checkConstant},
    {"Constant", 12, ops::constant,
     "value value_float value_floats value_int value_ints", "", nullptr,
     ops::checkConstant},
    {"ConstantOfShape", 9, ops::constantOfShape, "value"},
    {"Conv", 1, ops::conv, "auto_pad dilations group kernel_shape pads strides",
     ". weight bias"},
    {"Div", 7, ops::div, "", ". norm_scale?", ops::evaluateDiv},
    {"Dropout", 7, ops::dropout7, "ratio"},
    {"Dropout", 12, ops::dropout12, "seed"},
    {"Flatten", 1, ops::flatten, "axis", "="},
    {"Gather", 1, ops::gather, "axis", "", ops::evaluateGather},
    {"Gemm", 7, ops::gemm, "alpha beta transA transB", ". weight bias", nullptr,
     ops::checkGemm},
    {"GlobalAveragePool", 1, ops::globalAveragePool, ""},
    {"GlobalMaxPool", 1, ops::globalMaxPool, ""},
    {"Identity", 1, ops::identity, "", "=", ops::evaluateIdentity},
    {"LRN", 1, ops::lrn, "alpha beta bias size"},
    {"LeakyRelu", 6, ops::leakyRelu, "alpha"},
    {"LogSoftmax", 1, ops::logSoftmax, "axis"},
    {"MatMul", 1, ops::matMul, "", ". weight"},
    {"MaxPool", 1, ops::maxPool, "auto_pad kernel_shape pads strides"},
    {"MaxPool", 8, ops::maxPool,
     "auto_pad kernel_shape pads storage_order strides"},
    {"MaxPool", 10, ops::maxPool,
     "auto_pad ceil_mode dilations kernel_shape pads storage_order strides"},
    {"Mul", 7, ops::mul, "", "norm_scale?", ops::evaluateMul},
    {"Pad", 2, ops::pad2, "mode pads value", "", nullptr, ops::checkPad},
    {"Pad", 11, ops::pad11, "mode", "", nullptr, ops::checkPad},
    {"Relu", 6, ops::relu, ""},
    {"Reshape", 5, ops::reshape, "", "= .", ops::evaluateReshape},
    {"Reshape", 14, ops::reshape, "allowzero", "= .", ops::evaluateReshape},
    {"Shape", 1, ops::shape, ""},
    {"Shape", 15, ops::shape, "start end"},
    {"Sigmoid", 6, ops::sigmoid, ""},
    {"Slice", 1, ops::slice, "axes ends starts", "", ops::evaluateSlice},
    {"Slice", 10, ops::slice, "", "", ops::evaluateSlice},
    {"Softmax", 1, ops::softmax, "axis"},
    {"Squeeze", 1, ops::squeeze, "axes", "=", ops::evaluateSqueeze},
    {"Squeeze", 13, ops::squeeze, "", "= .", ops::evaluateSqueeze},
    {"Sub", 7, ops::sub, "", "bias?", ops::evaluateSub},
    {"Sum", 6, ops::sum, "", "bias?"},
    {"Tanh", 6, ops::tanh, ""},
    {"Transpose", 1, ops::transpose, "perm", "="},
    {"Unsqueeze", 1, ops::unsqueeze, "axes", "=", ops::evaluateUnsqueeze},
    {"Unsqueeze", 13, ops::unsqueeze, "", "= .", ops::evaluateUnsqueeze},
};

ArrayRef<OperatorRow> operatorTable() { return table; }

const OperatorRow *findOperator(StringRef name, int64_t opset) {
  const OperatorRow *after =
      upper_bound(table, opset, [&](int64_t opset, const OperatorRow &row) {
        int order = name.compare(row.name);
        return order != 0 ? order < 0 : opset < row.since;
      });
  if (after == std::begin(table) || name != after[-1].name)
    return nullptr;
  return after - 1;
}

} // namespace hpcc
