// SPDX-License-Identifier: Apache-2.0
// `rt.restrict` of kernels becomes llvm.noalias of their pointers.
#include "passes/Passes.h"

namespace hpcc {
#define GEN_PASS_DEF_LOWERRESTRICTPOINTERS
#include "passes/Passes.h.inc"
} // namespace hpcc

using namespace mlir;
using namespace hpcc;

namespace {
struct RestrictPointers
    : hpcc::impl::LowerRestrictPointersBase<RestrictPointers> {
  void runOnOperation() override {
    getOperation()->walk([](LLVM::LLVMFuncOp function) {
      auto pointers = dyn_cast_or_null<DenseI64ArrayAttr>(
          function->removeAttr("rt.restrict"));
      if (!pointers)
        return;
      for (int64_t index : pointers.asArrayRef())
        function.setArgAttr(index, LLVM::LLVMDialect::getNoAliasAttrName(),
                            UnitAttr::get(function.getContext()));
    });
  }
};
} // namespace
