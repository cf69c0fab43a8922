// RUN: plimsoll-opt %s -plim-release-buffers -split-input-file | FileCheck %s

// What a function allocates and keeps to itself it releases; what it returns belongs to the caller.
// CHECK-LABEL: func.func @host(
//       CHECK: %[[RESULT:.*]] = memref.alloc() : memref<8xf32>
//       CHECK: %[[OWN:.*]] = memref.alloc() : memref<4xf32>
//       CHECK: memref.dealloc %[[OWN]]
//   CHECK-NOT: memref.dealloc
//       CHECK: return %[[RESULT]]
func.func @host(%a: memref<4xf32>) -> memref<8xf32> {
  %b = memref.alloc() : memref<8xf32>
  %d = memref.alloc() : memref<4xf32>
  memref.copy %a, %d : memref<4xf32> to memref<4xf32>
  memref.copy %d, %a : memref<4xf32> to memref<4xf32>
  return %b : memref<8xf32>
}

// -----

// An argument that is returned is cloned: it belongs to somebody else.
// CHECK-LABEL: func.func @argument(
//  CHECK-SAME: %[[A:.*]]: memref<4xf32>)
//       CHECK: %[[CLONE:.*]] = memref.alloc() : memref<4xf32>
//       CHECK: memref.copy %[[A]], %[[CLONE]]
//       CHECK: return %[[CLONE]]
func.func @argument(%a: memref<4xf32>) -> memref<4xf32> {
  return %a : memref<4xf32>
}

// -----

// So is a global.
// CHECK-LABEL: func.func @global(
//       CHECK: %[[G:.*]] = memref.get_global
//       CHECK: %[[CLONE:.*]] = memref.alloc()
//       CHECK: memref.copy %[[G]], %[[CLONE]]
//       CHECK: return %[[CLONE]]
memref.global "private" constant @table : memref<2xf32> = dense<[1.0, 2.0]>
func.func @global() -> memref<2xf32> {
  %g = memref.get_global @table : memref<2xf32>
  return %g : memref<2xf32>
}

// -----

// Dispatch functions release as well.
// CHECK-LABEL: func.func private @dispatch(
//       CHECK: %[[D:.*]] = memref.alloc()
//       CHECK: memref.dealloc %[[D]]
func.func private @dispatch(%a: memref<f32>) attributes {plim.dispatch_function} {
  %d = memref.alloc() : memref<f32>
  memref.copy %a, %d : memref<f32> to memref<f32>
  memref.copy %d, %a : memref<f32> to memref<f32>
  return
}

// -----

// The author of a kernel releases, or does not.
// CHECK-LABEL: func.func @kernel(
//       CHECK: memref.alloc()
//   CHECK-NOT: memref.dealloc
//       CHECK: return
func.func @kernel(%a: memref<4xf32>) attributes {plim.kernel} {
  %d = memref.alloc() : memref<4xf32>
  memref.copy %a, %d : memref<4xf32> to memref<4xf32>
  memref.copy %d, %a : memref<4xf32> to memref<4xf32>
  return
}

// -----

// A buffer of each iteration is released in it.
// CHECK-LABEL: func.func @in_loop(
//       CHECK: scf.for
//       CHECK: %[[D:.*]] = memref.alloc()
//       CHECK: memref.dealloc %[[D]]
//       CHECK: }
//   CHECK-NOT: memref.dealloc
//       CHECK: return
func.func @in_loop(%a: memref<4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %d = memref.alloc() : memref<4xf32>
    memref.copy %a, %d : memref<4xf32> to memref<4xf32>
    memref.copy %d, %a : memref<4xf32> to memref<4xf32>
  }
  return
}

// -----

// One that is carried around the loop is released when the next one takes its place; no op of the
// bufferization dialect is left.
// CHECK-LABEL: func.func @carried(
//       CHECK: scf.for
//       CHECK: memref.alloc()
//       CHECK: memref.dealloc
//   CHECK-NOT: bufferization.
func.func @carried(%a: memref<4xf32>, %n: index) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %a) -> memref<4xf32> {
    %d = memref.alloc() : memref<4xf32>
    memref.copy %t, %d : memref<4xf32> to memref<4xf32>
    scf.yield %d : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// -----

// The caller releases a result by its base: an allocation that is returned whole goes over, under
// whatever shape; one that is returned twice, or in part, is copied.
// CHECK-LABEL: func.func @whole(
//       CHECK: %[[A:.*]] = memref.alloc() : memref<8xf32>
//       CHECK: %[[R:.*]] = memref.expand_shape %[[A]]
//   CHECK-NOT: memref.alloc
//   CHECK-NOT: memref.dealloc
//       CHECK: return %[[R]]
func.func @whole() -> memref<2x4xf32> {
  %a = memref.alloc() : memref<8xf32>
  %r = memref.expand_shape %a [[0, 1]] output_shape [2, 4] : memref<8xf32> into memref<2x4xf32>
  return %r : memref<2x4xf32>
}
// CHECK-LABEL: func.func @twice(
//       CHECK: %[[A:.*]] = memref.alloc() : memref<8xf32>
//       CHECK: %[[COPY:.*]] = memref.alloc() : memref<8xf32>
//       CHECK: memref.copy %[[A]], %[[COPY]]
//   CHECK-NOT: memref.dealloc
//       CHECK: return %[[A]], %[[COPY]]
func.func @twice() -> (memref<8xf32>, memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  return %a, %a : memref<8xf32>, memref<8xf32>
}
// CHECK-LABEL: func.func @part(
//       CHECK: %[[A:.*]] = memref.alloc() : memref<8xf32>
//       CHECK: %[[COPY:.*]] = memref.alloc() : memref<4xf32>
//       CHECK: memref.copy %{{.*}}, %[[COPY]]
//       CHECK: memref.dealloc %[[A]]
//       CHECK: return %[[COPY]]
func.func @part() -> memref<4xf32> {
  %a = memref.alloc() : memref<8xf32>
  %v = memref.subview %a[0] [4] [1] : memref<8xf32> to memref<4xf32>
  return %v : memref<4xf32>
}

// -----

// The result is made in the donated argument, which nothing reads any more.
// CHECK-LABEL: func.func @donated_in_time(
//  CHECK-SAME: %[[X:[a-z0-9]+]]: memref<4xf32>
//       CHECK: %[[H:.*]] = memref.alloc()
//       CHECK: memref.copy %[[X]], %[[H]]
//       CHECK: memref.copy %[[H]], %[[X]]
//   CHECK-NOT: memref.copy
//       CHECK: memref.dealloc %[[H]]
//       CHECK: return %[[X]]
func.func @donated_in_time(%x: memref<4xf32> {plim.donate = 0}) -> memref<4xf32> {
  %h = memref.alloc() : memref<4xf32>
  memref.copy %x, %h : memref<4xf32> to memref<4xf32>
  %r = memref.alloc() : memref<4xf32>
  memref.copy %h, %r : memref<4xf32> to memref<4xf32>
  return %r : memref<4xf32>
}

// -----

// Something reads the argument after the result was begun, through another name: a copy in the end.
// CHECK-LABEL: func.func @donated_too_late(
//  CHECK-SAME: %[[X:[a-z0-9]+]]: memref<4xf32>
//       CHECK: %[[R:.*]] = memref.alloc()
//       CHECK: memref.copy %[[H:.*]], %[[R]]
//       CHECK: memref.copy %[[R]], %[[X]]
//       CHECK: return %[[X]]
func.func @donated_too_late(%x: memref<4xf32> {plim.donate = 0}, %h: memref<4xf32>) -> memref<4xf32> {
  %view = memref.expand_shape %x [[0, 1]] output_shape [2, 2] : memref<4xf32> into memref<2x2xf32>
  %same = memref.collapse_shape %view [[0, 1]] : memref<2x2xf32> into memref<4xf32>
  %r = memref.alloc() : memref<4xf32>
  memref.copy %h, %r : memref<4xf32> to memref<4xf32>
  memref.copy %same, %h : memref<4xf32> to memref<4xf32>
  return %r : memref<4xf32>
}

// -----

// Two that change places, and a third one: all are read before one is written.
// CHECK-LABEL: func.func @swapped(
//  CHECK-SAME: %[[X:[a-z0-9]+]]: memref<4xf32> {{.*}}, %[[Y:[a-z0-9]+]]: memref<4xf32> {
//       CHECK: memref.copy %[[X]], %[[RESULT:[a-z0-9_]+]] :
//       CHECK: memref.copy %[[Y]], %[[OLD_Y:[a-z0-9_]+]] :
//       CHECK: memref.copy %[[X]], %[[OLD_X:[a-z0-9_]+]] :
//       CHECK: memref.copy %[[OLD_Y]], %[[X]]
//       CHECK: memref.copy %[[OLD_X]], %[[Y]]
//       CHECK: return %[[RESULT]], %[[X]], %[[Y]]
func.func @swapped(%x: memref<4xf32> {plim.donate = 1}, %y: memref<4xf32> {plim.donate = 2})
    -> (memref<4xf32>, memref<4xf32>, memref<4xf32>) {
  return %x, %y, %x : memref<4xf32>, memref<4xf32>, memref<4xf32>
}
