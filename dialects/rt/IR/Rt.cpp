// SPDX-License-Identifier: Apache-2.0
// Registration of the rt dialect.
#include "dialects/rt/IR/Rt.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace hpcc::rt;

#include "dialects/rt/IR/RtDialect.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/rt/IR/Rt.cpp.inc"

void RtDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/rt/IR/Rt.cpp.inc"
      >();
}

LogicalResult ParallelForOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel =
      symbols.lookupNearestSymbolFrom<func::FuncOp>(*this, getKernelAttr());
  // After conversion to LLVM the kernel is no func.func.
  if (!kernel)
    return symbols.lookupNearestSymbolFrom(*this, getKernelAttr())
               ? success()
               : emitOpError() << "no kernel " << getKernelAttr();
  SmallVector<Type> expected(getCaptured().getTypes());
  Type index = IndexType::get(getContext());
  expected.append({index, index});
  if (kernel.getFunctionType() !=
      FunctionType::get(getContext(), expected, {})) {
    InFlightDiagnostic diag =
        emitOpError() << "captured values and a range do not match "
                      << "the kernel's type " << kernel.getFunctionType();
    diag.attachNote(kernel.getLoc()) << "kernel declared here";
    return diag;
  }
  return success();
}
