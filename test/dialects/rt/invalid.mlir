// RUN: hpcc-opt %s --split-input-file --verify-diagnostics

func.func @no_kernel(%context: !llvm.ptr, %n: index) {
  // expected-error @below {{no kernel @kernel}}
  rt.parallel_for %context @kernel from %n to %n()
  return
}

// -----

// expected-note @below {{kernel declared here}}
func.func private @kernel(f32, index, index)
func.func @captured_values_differ(%context: !llvm.ptr, %n: index) {
  // expected-error @below {{captured values and a range do not match the kernel's type '(f32, index, index) -> ()'}}
  rt.parallel_for %context @kernel from %n to %n(%n : index)
  return
}
