// SPDX-License-Identifier: Apache-2.0
// All op families of the nn dialect.
include "dialects/nn/ops/Structure.td"
include "dialects/nn/ops/Elementwise.td"
include "dialects/nn/ops/Linear.td"
include "dialects/nn/ops/Conv.td"
include "dialects/nn/ops/Pool.td"
include "dialects/nn/ops/Normalize.td"
include "dialects/nn/ops/Shape.td"
include "dialects/nn/ops/Softmax.td"
include "dialects/nn/ops/Dropout.td"
include "dialects/nn/ops/Loss.td"
include "dialects/nn/ops/Optimizer.td"
