// RUN: hpcc-opt %s --pass-pipeline='builtin.module(func.func(hpcc-schedule-overlap-collectives))' --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @gathers_are_prefetched
// CHECK: %[[SLOTS:.*]] = memref.alloc() : memref<128xi8>
// CHECK: %[[FIRST:.*]] = comm.start all_gather {{.*}} channel(background) : !comm.request
// CHECK: scf.for {{.*}} iter_args(%[[REQUEST:.*]] = %[[FIRST]])
// CHECK: %[[MORE:.*]] = arith.cmpi slt
// CHECK: %[[AHEAD:.*]] = comm.start all_gather {{.*}} channel(background) if %[[MORE]] : !comm.request
// CHECK: %[[SLOT:.*]] = memref.view %[[SLOTS]]
// CHECK: comm.wait %[[REQUEST]] {{.*}} outs(%[[SLOT]] : memref<2x8xf32>)
// CHECK-NEXT: linalg.copy
// CHECK: scf.yield %[[AHEAD]]
func.func @gathers_are_prefetched(%x: memref<4x8xf32>, %y: memref<2x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %own = memref.subview %x[%i, 0] [1, 8] [1, 1] : memref<4x8xf32> to memref<1x8xf32, strided<[8, 1], offset: ?>>
    %all = memref.alloc() : memref<2x8xf32>
    comm.all_gather ins(%own : memref<1x8xf32, strided<[8, 1], offset: ?>>) outs(%all : memref<2x8xf32>) channel(background)
    linalg.copy ins(%all : memref<2x8xf32>) outs(%y : memref<2x8xf32>)
  }
  return
}

// -----

// The number of passes may be zero: nothing may start then.
// CHECK-LABEL: func.func @the_first_start_asks_for_a_pass
// CHECK: %[[ANY:.*]] = arith.cmpi slt, %{{.*}}, %[[P:.*]] : index
// CHECK: comm.start broadcast {{.*}} root(%{{.*}}) channel(background) if %[[ANY]]
// CHECK: scf.for
func.func @the_first_start_asks_for_a_pass(%x: memref<8xf32>, %y: memref<8xf32>, %p: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %p step %c1 {
    %all = memref.alloc() : memref<8xf32>
    comm.broadcast ins(%x : memref<8xf32>) outs(%all : memref<8xf32>) root(%i) channel(background)
    linalg.copy ins(%all : memref<8xf32>) outs(%y : memref<8xf32>)
  }
  return
}

// -----

// CHECK-LABEL: func.func @returns_are_deferred
// CHECK: %[[SLOTS:.*]] = memref.alloc() : memref<128xi8>
// CHECK: %[[NONE:.*]] = comm.null
// CHECK: %[[LAST:.*]] = scf.for {{.*}} iter_args(%[[BEFORE:.*]] = %[[NONE]])
// CHECK: linalg.fill
// CHECK: comm.wait %[[BEFORE]] ins(%[[SLOTS]] : memref<128xi8>) outs(%arg0 : memref<4x8xf32>)
// CHECK-NEXT: %[[NOW:.*]] = comm.start reduce_scatter
// CHECK: scf.yield %[[NOW]]
// CHECK: comm.wait %[[LAST]] ins(%[[SLOTS]] : memref<128xi8>) outs(%arg0 : memref<4x8xf32>)
func.func @returns_are_deferred(%dx: memref<4x8xf32>, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %dg = memref.alloc() : memref<2x8xf32>
    linalg.fill ins(%v : f32) outs(%dg : memref<2x8xf32>)
    %own = memref.subview %dx[%i, 0] [1, 8] [1, 1] : memref<4x8xf32> to memref<1x8xf32, strided<[8, 1], offset: ?>>
    comm.reduce_scatter ins(%dg : memref<2x8xf32>) outs(%own : memref<1x8xf32, strided<[8, 1], offset: ?>>) channel(background)
  }
  return
}

// -----

// The wait of a collective outside loops moves down to the first op that needs
// its result or overwrites its source.
// CHECK-LABEL: func.func @waits_sink_to_the_first_reader
// CHECK: %[[R:.*]] = comm.start reduce_scatter
// CHECK-NEXT: linalg.fill {{.*}} outs(%[[OTHER:.*]] : memref<4xf32>)
// CHECK-NEXT: linalg.copy ins(%[[SOURCE:.*]] : memref<8xf32>) outs(%{{.*}} : memref<8xf32>)
// CHECK-NEXT: comm.wait %[[R]]
// CHECK-NEXT: linalg.copy ins(%{{.*}} : memref<4xf32>) outs(%[[OTHER]] : memref<4xf32>)
func.func @waits_sink_to_the_first_reader(%g: memref<8xf32>, %own: memref<4xf32>, %other: memref<4xf32>, %copy: memref<8xf32>, %v: f32) {
  comm.reduce_scatter ins(%g : memref<8xf32>) outs(%own : memref<4xf32>) channel(background)
  linalg.fill ins(%v : f32) outs(%other : memref<4xf32>)
  linalg.copy ins(%g : memref<8xf32>) outs(%copy : memref<8xf32>)
  linalg.copy ins(%own : memref<4xf32>) outs(%other : memref<4xf32>)
  return
}

// -----

// CHECK-LABEL: func.func @waits_sink_to_the_first_writer_of_the_source
// CHECK: comm.start reduce_scatter
// CHECK-NEXT: %{{.*}} = memref.subview
// CHECK-NEXT: comm.wait
// CHECK-NEXT: linalg.fill
func.func @waits_sink_to_the_first_writer_of_the_source(%g: memref<8xf32>, %own: memref<4xf32>, %v: f32) {
  comm.reduce_scatter ins(%g : memref<8xf32>) outs(%own : memref<4xf32>) channel(background)
  %part = memref.subview %g[2] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 2>>
  linalg.fill ins(%v : f32) outs(%part : memref<4xf32, strided<[1], offset: 2>>)
  return
}

// -----

// CHECK-LABEL: func.func @waits_stay_in_the_function
// CHECK: comm.start all_gather_in_place outs
// CHECK-NEXT: comm.wait
// CHECK-NEXT: return
func.func @waits_stay_in_the_function(%w: memref<8xf32>) {
  comm.all_gather_in_place outs(%w : memref<8xf32>) channel(background)
  return
}

// -----

// CHECK-LABEL: func.func @inline_collectives_stay
// CHECK: comm.all_reduce
// CHECK-NOT: comm.start
func.func @inline_collectives_stay(%a: memref<f32>, %b: memref<f32>) {
  comm.all_reduce ins(%a : memref<f32>) outs(%b : memref<f32>) channel(inline)
  return
}

// -----

// CHECK-LABEL: func.func @a_source_written_in_the_loop_is_not_prefetched
// CHECK: scf.for
// CHECK-NOT: iter_args
// CHECK: comm.start all_gather
// CHECK-NEXT: comm.wait
func.func @a_source_written_in_the_loop_is_not_prefetched(%x: memref<1x8xf32>, %y: memref<2x8xf32>, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %all = memref.alloc() : memref<2x8xf32>
    // expected-remark @below {{not overlapped with other passes: not started early because the loop writes its source in linalg.fill; not finished late because its source is not a buffer of the loop}}
    comm.all_gather ins(%x : memref<1x8xf32>) outs(%all : memref<2x8xf32>) channel(background)
    linalg.copy ins(%all : memref<2x8xf32>) outs(%y : memref<2x8xf32>)
    linalg.fill ins(%v : f32) outs(%x : memref<1x8xf32>)
  }
  return
}

// -----

// CHECK-LABEL: func.func @a_destination_used_before_is_not_prefetched
// CHECK-NOT: iter_args
func.func @a_destination_used_before_is_not_prefetched(%x: memref<1x8xf32>, %y: memref<2x8xf32>, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %all = memref.alloc() : memref<2x8xf32>
    linalg.fill ins(%v : f32) outs(%all : memref<2x8xf32>)
    // expected-remark @below {{not started early because its destination is used before it in linalg.fill}}
    comm.all_gather ins(%x : memref<1x8xf32>) outs(%all : memref<2x8xf32>) channel(background)
    linalg.copy ins(%all : memref<2x8xf32>) outs(%y : memref<2x8xf32>)
  }
  return
}

// -----

// CHECK-LABEL: func.func @a_destination_read_in_the_loop_is_not_deferred
// CHECK-NOT: iter_args
func.func @a_destination_read_in_the_loop_is_not_deferred(%d: memref<4xf32>, %y: memref<4xf32>, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %g = memref.alloc() : memref<8xf32>
    linalg.fill ins(%v : f32) outs(%g : memref<8xf32>)
    // expected-remark @below {{not finished late because the loop uses its destination in linalg.copy}}
    comm.reduce_scatter ins(%g : memref<8xf32>) outs(%d : memref<4xf32>) channel(background)
    linalg.copy ins(%d : memref<4xf32>) outs(%y : memref<4xf32>)
  }
  return
}

// -----

// CHECK-LABEL: func.func @a_source_overwritten_after_the_return_is_not_deferred
// CHECK-NOT: iter_args
func.func @a_source_overwritten_after_the_return_is_not_deferred(%d: memref<4xf32>, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %g = memref.alloc() : memref<8xf32>
    linalg.fill ins(%v : f32) outs(%g : memref<8xf32>)
    // expected-remark @below {{not finished late because its source is overwritten after it in linalg.fill}}
    comm.reduce_scatter ins(%g : memref<8xf32>) outs(%d : memref<4xf32>) channel(background)
    linalg.fill ins(%v : f32) outs(%g : memref<8xf32>)
  }
  return
}

// -----

func.func @slots_need_a_maximum(%x: memref<?x8xf32>, %n: index, %y: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    // expected-error @below {{no maximum is known for dimension 0 of 'memref<?x8xf32>'}}
    %all = memref.alloc(%n) : memref<?x8xf32>
    comm.all_gather ins(%x : memref<?x8xf32>) outs(%all : memref<?x8xf32>) channel(background)
    linalg.copy ins(%all : memref<?x8xf32>) outs(%y : memref<?x8xf32>)
  }
  return
}
