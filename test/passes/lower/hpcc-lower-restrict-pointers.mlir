// RUN: hpcc-opt %s --hpcc-lower-restrict-pointers | FileCheck %s

// CHECK: llvm.func @kernel(%arg0: !llvm.ptr, %arg1: !llvm.ptr {llvm.noalias})
// CHECK-NOT: rt.restrict
llvm.func @kernel(%a: !llvm.ptr, %b: !llvm.ptr) attributes {rt.restrict = array<i64: 1>} {
  llvm.return
}
