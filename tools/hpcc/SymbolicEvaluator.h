// SPDX-License-Identifier: Apache-2.0
// Runs the control flow and the batch arithmetic of a function of the `comm`
// phase for one worker and one number of examples, without any tensor: loop
// bounds, branches, and the shapes of what collectives move.
#pragma once

#include "dialects/comm/IR/Comm.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"

#include <functional>

namespace hpcc {

class SymbolicEvaluator {
public:
  struct Step {
    int64_t examples; ///< Of the step, over all workers.
    int64_t rank;
    int64_t workers;
  };
  SymbolicEvaluator(mlir::func::FuncOp function, Step step);

  /// Calls `visit` at every collective, in program order, with the innermost
  /// loop's iteration (-1 outside loops). What cannot be evaluated is an error
  /// at the op in question.
  using Visitor = std::function<mlir::LogicalResult(comm::CollectiveOpInterface,
                                                    int64_t iteration)>;
  mlir::LogicalResult run(const Visitor &visit);

  // For the visitor; valid at the op it is called with.
  mlir::FailureOr<int64_t> evaluate(mlir::Value integer);
  mlir::FailureOr<llvm::SmallVector<int64_t>> shapeOf(mlir::Value shaped);

private:
  mlir::LogicalResult runBlock(mlir::Block &block, int64_t iteration);
  mlir::LogicalResult runFor(mlir::scf::ForOp loop);
  mlir::LogicalResult runIf(mlir::scf::IfOp branch, int64_t iteration);
  mlir::FailureOr<int64_t> evaluateArgument(mlir::BlockArgument argument);
  mlir::FailureOr<int64_t> evaluateOp(mlir::OpResult result);
  mlir::FailureOr<llvm::SmallVector<int64_t>>
  argumentShape(mlir::BlockArgument argument);
  mlir::FailureOr<llvm::SmallVector<int64_t>> opShape(mlir::OpResult result);
  mlir::FailureOr<llvm::SmallVector<int64_t>>
  shapeFromOperands(mlir::OpResult result);
  mlir::FailureOr<llvm::SmallVector<int64_t>>
  evaluateAll(llvm::ArrayRef<mlir::OpFoldResult> sizes);

  mlir::func::FuncOp function;
  Step step;
  const Visitor *visitor = nullptr;
  /// One map per loop iteration being run; the innermost is last.
  llvm::SmallVector<llvm::DenseMap<mlir::Value, int64_t>> frames;
};

} // namespace hpcc
