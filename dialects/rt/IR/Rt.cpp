// SPDX-License-Identifier: Apache-2.0
// Registration of the rt dialect.
#include "dialects/rt/IR/Rt.h"

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
