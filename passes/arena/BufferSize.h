// SPDX-License-Identifier: Apache-2.0
// The most bytes that an allocation can need.
#pragma once

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace hpcc {

/// A constant that an index never exceeds; fails where none is known.
mlir::FailureOr<int64_t> maximumOf(mlir::Value index);

/// Bytes of `alloc` at its largest, a multiple of `alignment`. Fails, with an
/// error at the allocation, where an extent has no known maximum.
mlir::FailureOr<int64_t> maximumBytes(mlir::memref::AllocOp alloc,
                                      int64_t alignment);

} // namespace hpcc
