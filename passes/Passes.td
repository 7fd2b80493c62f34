// SPDX-License-Identifier: Apache-2.0
// All passes, in pipeline order; each room adds its own file.
include "mlir/Pass/PassBase.td"
include "passes/normalize/Passes.td"
include "passes/training/Passes.td"
include "passes/partition/Passes.td"
include "passes/comm/Passes.td"
include "passes/layout/Passes.td"
include "passes/fuse/Passes.td"
include "passes/bufferize/Passes.td"
include "passes/schedule/Passes.td"
include "passes/arena/Passes.td"
include "passes/lower/Passes.td"
include "passes/verify/Passes.td"
