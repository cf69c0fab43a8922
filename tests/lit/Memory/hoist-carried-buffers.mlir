// RUN: plimsoll-opt %s -plim-hoist-carried-buffers -canonicalize | FileCheck %s

// The loop has memory of its own; what changes places is read before any of it is written.
// CHECK-LABEL: func.func @rounds(
//  CHECK-SAME:     %[[X:.*]]: memref<8xf32>, %[[Y:.*]]: memref<8xf32>
//       CHECK:   %[[A:.*]] = memref.alloc() : memref<8xf32>
//       CHECK:   memref.copy %[[X]], %[[A]]
//       CHECK:   %[[B:.*]] = memref.alloc() : memref<8xf32>
//       CHECK:   memref.copy %[[Y]], %[[B]]
//       CHECK:   %[[P:.*]] = memref.alloc() : memref<8xf32>
//       CHECK:   %[[Q:.*]] = memref.alloc() : memref<8xf32>
//       CHECK:   scf.for
//   CHECK-NOT:   iter_args
//       CHECK:     %[[NEW:.*]] = memref.alloc
//       CHECK:     linalg.add ins(%[[A]], %[[B]] : memref<8xf32>, memref<8xf32>) outs(%[[NEW]]
//       CHECK:     memref.copy %[[B]], %[[P]]
//       CHECK:     memref.copy %[[NEW]], %[[Q]]
//       CHECK:     memref.copy %[[P]], %[[A]]
//       CHECK:     memref.copy %[[Q]], %[[B]]
//       CHECK:   return %[[A]], %[[B]]
func.func @rounds(%x: memref<8xf32>, %y: memref<8xf32>, %n: index) -> (memref<8xf32>, memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (memref<8xf32>, memref<8xf32>) {
    %c = memref.alloc() : memref<8xf32>
    linalg.add ins(%a, %b : memref<8xf32>, memref<8xf32>) outs(%c : memref<8xf32>)
    scf.yield %b, %c : memref<8xf32>, memref<8xf32>
  }
  return %r#0, %r#1 : memref<8xf32>, memref<8xf32>
}

// What the condition hands on as it came is in the memory of the loop.
// CHECK-LABEL: func.func @while(
//       CHECK:   %[[A:.*]] = memref.alloc() : memref<8xf32>
//       CHECK:   memref.copy %{{.*}}, %[[A]]
//       CHECK:   scf.while : () -> ()
//       CHECK:     memref.load %[[A]]
//       CHECK:   do
//       CHECK:     %[[C:.*]] = memref.alloc
//       CHECK:     linalg.exp ins(%[[A]] : memref<8xf32>) outs(%[[C]]
//       CHECK:     memref.copy %[[C]], %[[A]]
//       CHECK:   return %[[A]]
func.func @while(%x: memref<8xf32>, %most: f32) -> memref<8xf32> {
  %c0 = arith.constant 0 : index
  %r = scf.while (%a = %x) : (memref<8xf32>) -> memref<8xf32> {
    %v = memref.load %a[%c0] : memref<8xf32>
    %goes = arith.cmpf olt, %v, %most : f32
    scf.condition(%goes) %a : memref<8xf32>
  } do {
  ^bb0(%b: memref<8xf32>):
    %c = memref.alloc() : memref<8xf32>
    linalg.exp ins(%b : memref<8xf32>) outs(%c : memref<8xf32>)
    scf.yield %c : memref<8xf32>
  }
  return %r : memref<8xf32>
}

// CHECK-LABEL: func.func @branches(
//       CHECK:   %[[M:.*]] = memref.alloc() : memref<8xf32>
//       CHECK:   scf.if
//       CHECK:     memref.copy %{{.*}}, %[[M]]
//       CHECK:   else
//       CHECK:     memref.copy %{{.*}}, %[[M]]
//       CHECK:   return %[[M]]
func.func @branches(%x: memref<8xf32>, %is: i1) -> memref<8xf32> {
  %r = scf.if %is -> (memref<8xf32>) {
    %c = memref.alloc() : memref<8xf32>
    linalg.exp ins(%x : memref<8xf32>) outs(%c : memref<8xf32>)
    scf.yield %c : memref<8xf32>
  } else {
    scf.yield %x : memref<8xf32>
  }
  return %r : memref<8xf32>
}

// CHECK-LABEL: func.func @open(
//       CHECK:   scf.for {{.*}} iter_args
func.func @open(%x: memref<?xf32>, %n: index) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (memref<?xf32>) {
    %c = memref.alloc(%i) : memref<?xf32>
    memref.copy %a, %c : memref<?xf32> to memref<?xf32>
    scf.yield %c : memref<?xf32>
  }
  return %r : memref<?xf32>
}

// The source hands buffers on: what is written through them is in those.
// CHECK-LABEL: func.func @kernel(
//   CHECK-NOT:   plim.carries_buffers
//   CHECK-NOT:   memref.alloc
//       CHECK:   return
func.func @kernel(%x: memref<8xf32>, %y: memref<8xf32>, %n: index, %z: f32) attributes {plim.carries_buffers} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (memref<8xf32>, memref<8xf32>) {
    memref.store %z, %a[%i] : memref<8xf32>
    scf.yield %b, %a : memref<8xf32>, memref<8xf32>
  }
  return
}
