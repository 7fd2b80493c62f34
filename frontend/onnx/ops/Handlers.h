// SPDX-License-Identifier: Apache-2.0
// The import handlers, one family per file, as the operator table names them.
#pragma once

#include "frontend/onnx/NodeImport.h"

namespace hpcc::ops {

using llvm::LogicalResult;

// Constant.cpp
LogicalResult constant(NodeImport &);
LogicalResult checkConstant(NodeImport &);
LogicalResult constantOfShape(NodeImport &);
LogicalResult identity(NodeImport &);

// Elementwise.cpp
LogicalResult add(NodeImport &);
LogicalResult sub(NodeImport &);
LogicalResult mul(NodeImport &);
LogicalResult div(NodeImport &);
LogicalResult sum(NodeImport &);
LogicalResult relu(NodeImport &);
LogicalResult leakyRelu(NodeImport &);
LogicalResult sigmoid(NodeImport &);
LogicalResult tanh(NodeImport &);
LogicalResult clip6(NodeImport &);
LogicalResult clip11(NodeImport &);
LogicalResult cast(NodeImport &);

// Conv.cpp, Pool.cpp
LogicalResult conv(NodeImport &);
LogicalResult maxPool(NodeImport &);
LogicalResult averagePool(NodeImport &);
LogicalResult globalAveragePool(NodeImport &);
LogicalResult globalMaxPool(NodeImport &);

// Linear.cpp
LogicalResult gemm(NodeImport &);
LogicalResult checkGemm(NodeImport &);
LogicalResult matMul(NodeImport &);

// Normalize.cpp, Dropout.cpp
LogicalResult batchNorm(NodeImport &);
LogicalResult checkBatchNorm(NodeImport &);
LogicalResult lrn(NodeImport &);
LogicalResult dropout7(NodeImport &);
LogicalResult dropout12(NodeImport &);

// Shape.cpp
LogicalResult reshape(NodeImport &);
LogicalResult flatten(NodeImport &);
LogicalResult squeeze(NodeImport &);
LogicalResult unsqueeze(NodeImport &);

// Move.cpp
LogicalResult transpose(NodeImport &);
LogicalResult concat(NodeImport &);
LogicalResult pad2(NodeImport &);
LogicalResult pad11(NodeImport &);
LogicalResult checkPad(NodeImport &);
LogicalResult slice(NodeImport &);

// Softmax.cpp
LogicalResult softmax(NodeImport &);
LogicalResult logSoftmax(NodeImport &);

// ShapeArithmetic.cpp: on small integer tensors
LogicalResult shape(NodeImport &);
LogicalResult gather(NodeImport &);
LogicalResult evaluateGather(NodeImport &);
LogicalResult evaluateSlice(NodeImport &);
LogicalResult evaluateCast(NodeImport &);
LogicalResult evaluateConcat(NodeImport &);
LogicalResult evaluateSqueeze(NodeImport &);
LogicalResult evaluateUnsqueeze(NodeImport &);
LogicalResult evaluateReshape(NodeImport &);
LogicalResult evaluateIdentity(NodeImport &);
LogicalResult evaluateAdd(NodeImport &);
LogicalResult evaluateSub(NodeImport &);
LogicalResult evaluateMul(NodeImport &);
LogicalResult evaluateDiv(NodeImport &);

} // namespace hpcc::ops
