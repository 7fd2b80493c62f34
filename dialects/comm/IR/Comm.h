// SPDX-License-Identifier: Apache-2.0
// The comm dialect: collectives between workers.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/comm/IR/CommDialect.h.inc"

#include "dialects/comm/IR/CommEnums.h.inc"

#include "dialects/comm/IR/CommInterfaces.h.inc"

namespace hpcc::comm {
/// What every collective writes, so that none is dropped, merged or moved
/// across another.
struct ChannelResource : mlir::SideEffects::Resource::Base<ChannelResource> {
  llvm::StringRef getName() final { return "comm.channel"; }
};

// Shared definitions of the collective ops.
llvm::LogicalResult verifyCollective(CollectiveOpInterface op);
bool readsOperand(CollectiveOpInterface op, mlir::OpOperand &operand);
llvm::LogicalResult
bufferizeCollective(CollectiveOpInterface op, mlir::RewriterBase &rewriter,
                    const mlir::bufferization::BufferizationOptions &options,
                    mlir::bufferization::BufferizationState &state);
void collectiveEffects(
    CollectiveOpInterface op,
    llvm::SmallVectorImpl<mlir::MemoryEffects::EffectInstance> &effects);
} // namespace hpcc::comm

#define GET_TYPEDEF_CLASSES
#include "dialects/comm/IR/CommTypes.h.inc"

#define GET_OP_CLASSES
#include "dialects/comm/IR/Comm.h.inc"
