// Locations in the messages are those of this file.
// RUN: plimsoll-opt %s -plim-check-shapes -split-input-file | FileCheck %s
// RUN: plimsoll-opt %s -plim-check-shapes -cse -canonicalize -split-input-file \
// RUN:   | FileCheck %s --check-prefix=FOLD

// Every pair of extents that a loop ties together, unless both are static.
// CHECK-LABEL: func.func @matmul(
//  CHECK-SAME: %[[A:.*]]: tensor<?x?xf32>, %[[B:.*]]: tensor<?x4xf32>, %[[C:.*]]: tensor<?x4xf32>)
//       CHECK: %[[K0:.*]] = tensor.dim %[[A]], %{{.*}}
//       CHECK: %[[K1:.*]] = tensor.dim %[[B]], %{{.*}}
//       CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[K0]], %[[K1]] : index
//       CHECK: plim.require %[[SAME]], "{{.*}}check-shapes.mlir:[[# @LINE + 12]]:8: 'linalg.matmul': extent 1 of argument #0 is {0}, but extent 0 of argument #1 is {1}"(%[[K0]], %[[K1]])
//       CHECK: %[[M0:.*]] = tensor.dim %[[A]], %{{.*}}
//       CHECK: %[[M1:.*]] = tensor.dim %[[C]], %{{.*}}
//       CHECK: %[[ROWS:.*]] = arith.cmpi eq, %[[M0]], %[[M1]] : index
//       CHECK: plim.require %[[ROWS]], "{{.*}}extent 0 of argument #0 is {0}, but extent 0 of argument #2 is {1}"
//   CHECK-NOT: plim.require
//       CHECK: linalg.matmul
//  FOLD-LABEL: func.func @matmul(
// FOLD-COUNT-2: plim.require
//    FOLD-NOT: plim.require
//        FOLD: linalg.matmul
func.func @matmul(%a: tensor<?x?xf32>, %b: tensor<?x4xf32>, %c: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x4xf32>) outs(%c : tensor<?x4xf32>)
      -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// -----

// A static extent against a dynamic one is compared as well.
// CHECK-LABEL: func.func @half_static(
//       CHECK: tensor.dim %{{.*}}
//       CHECK: plim.require
//   CHECK-NOT: plim.require
//       CHECK: linalg.exp
func.func @half_static(%a: tensor<4xf32>, %c: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.exp ins(%a : tensor<4xf32>) outs(%c : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// All static: nothing to do.
// CHECK-LABEL: func.func @static(
//   CHECK-NOT: plim.require
//   CHECK-NOT: tensor.dim
//       CHECK: linalg.exp
func.func @static(%a: tensor<4xf32>, %c: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.exp ins(%a : tensor<4xf32>) outs(%c : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// Equal by construction: the check folds away.
//  FOLD-LABEL: func.func @by_construction(
//    FOLD-NOT: plim.require
//        FOLD: linalg.exp
func.func @by_construction(%a: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.exp ins(%a : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// The check stands in the loop where the op stands.
// CHECK-LABEL: func.func @in_loop(
//       CHECK: scf.for
//       CHECK: plim.require
//       CHECK: linalg.exp
func.func @in_loop(%a: tensor<?xf32>, %c: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %c) -> tensor<?xf32> {
    %s = linalg.exp ins(%a : tensor<?xf32>) outs(%t : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %s : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

// A window must end inside of its input, if the op iterates at all.
// CHECK-LABEL: func.func @window(
//  CHECK-SAME: %[[A:.*]]: tensor<?xf32>, %[[K:.*]]: tensor<?xf32>, %[[C:.*]]: tensor<?xf32>)
//       CHECK: %[[SIZE:.*]] = tensor.dim %[[A]]
//   CHECK-DAG: %[[OUT:.*]] = tensor.dim %[[C]]
//   CHECK-DAG: %[[KERNEL:.*]] = tensor.dim %[[K]]
//   CHECK-DAG: arith.subi %[[OUT]], %{{.*}}
//   CHECK-DAG: arith.subi %[[KERNEL]], %{{.*}}
//       CHECK: %[[LAST:.*]] = arith.addi
//       CHECK: %[[INSIDE:.*]] = arith.cmpi slt, %[[LAST]], %[[SIZE]]
//       CHECK: arith.ori
//       CHECK: plim.require %{{.*}}, "{{.*}}'linalg.conv_1d': indices from {0} to {1} leave dimension 0 of argument #0, which has {2}"
//       CHECK: linalg.conv_1d
func.func @window(%a: tensor<?xf32>, %k: tensor<?xf32>, %c: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.conv_1d ins(%a, %k : tensor<?xf32>, tensor<?xf32>) outs(%c : tensor<?xf32>)
      -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// A static window that fits leaves nothing.
// CHECK-LABEL: func.func @static_window(
//   CHECK-NOT: plim.require
//       CHECK: return
func.func @static_window(%a: tensor<8xf32>, %k: tensor<3xf32>, %c: tensor<6xf32>) -> tensor<6xf32> {
  %r = linalg.conv_1d ins(%a, %k : tensor<8xf32>, tensor<3xf32>) outs(%c : tensor<6xf32>)
      -> tensor<6xf32>
  return %r : tensor<6xf32>
}

// -----

// Buffers are checked as tensors are; those of kernels are the author's own.
// CHECK-LABEL: func.func @buffers(
//       CHECK: plim.require
//       CHECK: linalg.exp
func.func @buffers(%a: memref<?xf32>, %c: memref<?xf32>) {
  linalg.exp ins(%a : memref<?xf32>) outs(%c : memref<?xf32>)
  return
}
// CHECK-LABEL: func.func @buffers_of_a_kernel(
//   CHECK-NOT: plim.require
//       CHECK: return
func.func @buffers_of_a_kernel(%a: memref<?xf32>, %c: memref<?xf32>) attributes {plim.kernel} {
  linalg.exp ins(%a : memref<?xf32>) outs(%c : memref<?xf32>)
  return
}

// -----

// The slice that is written must lie inside of its destination, unless it is empty; an extent of
// which all is known was checked by the verifier of the op.
// CHECK-LABEL: func.func @insertion(
//  CHECK-SAME: %[[A:.*]]: tensor<?x4xf32>, %[[C:.*]]: tensor<?x8xf32>, %[[I:.*]]: index, %[[N:.*]]: index)
//       CHECK: %[[EMPTY:.*]] = arith.cmpi eq, %[[N]], %{{.*}}
//       CHECK: %[[EXTENT:.*]] = tensor.dim %[[A]]
//       CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[EXTENT]], %[[N]]
//       CHECK: plim.require %[[SAME]], "{{.*}}the source has {0} elements in dimension 0 of a slice of {1}"
//       CHECK: %[[END:.*]] = tensor.dim %[[C]], %{{.*}}
//       CHECK: arith.cmpi ult, %[[I]], %[[END]]
//       CHECK: arith.andi %[[EMPTY]], %{{.*}} : i1
//       CHECK: %[[GOOD:.*]] = arith.ori %{{.*}}, %{{.*}} : i1
//       CHECK: plim.require %[[GOOD]], "{{.*}}check-shapes.mlir:[[# @LINE + 5]]:8: 'tensor.insert_slice': the slice of {0} elements from {1} in steps of {2} leaves dimension 0 of {{.*}}, which has {3}"
//   CHECK-NOT: leaves dimension 1
//       CHECK: tensor.insert_slice
func.func @insertion(%a: tensor<?x4xf32>, %c: tensor<?x8xf32>, %i: index, %n: index)
    -> tensor<?x8xf32> {
  %r = tensor.insert_slice %a into %c[%i, 2] [%n, 4] [1, 1] : tensor<?x4xf32> into tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}
// CHECK-LABEL: func.func @static_insertion(
//   CHECK-NOT: plim.require
//       CHECK: return
func.func @static_insertion(%a: tensor<4xf32>, %c: tensor<8xf32>) -> tensor<8xf32> {
  %r = tensor.insert_slice %a into %c[2] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// An extent must be the product of those that it is expanded to.
// CHECK-LABEL: func.func @expansion(
//  CHECK-SAME: %[[A:.*]]: tensor<?x6xf32>, %[[N:.*]]: index, %[[M:.*]]: index)
//       CHECK: %[[SIZE:.*]] = tensor.dim %[[A]], %{{.*}}
//       CHECK: arith.divsi %[[SIZE]]
//       CHECK: plim.require %{{.*}}, "{{.*}}check-shapes.mlir:[[# @LINE + 4]]:8: 'tensor.expand_shape': extent 0, which is {0}, cannot be expanded to the extents given"(%[[SIZE]])
//   CHECK-NOT: plim.require
//       CHECK: tensor.expand_shape
func.func @expansion(%a: tensor<?x6xf32>, %n: index, %m: index) -> tensor<?x?x2x3xf32> {
  %r = tensor.expand_shape %a [[0, 1], [2, 3]] output_shape [%n, %m, 2, 3]
      : tensor<?x6xf32> into tensor<?x?x2x3xf32>
  return %r : tensor<?x?x2x3xf32>
}

// -----

// Slices and elements that host code accesses, where it does.
// CHECK-LABEL: func.func @extraction(
//       CHECK: scf.for
//       CHECK: plim.require %{{.*}}, "{{.*}}check-shapes.mlir:[[# @LINE + 6]]:10: 'tensor.extract_slice': {{.*}}
//       CHECK: tensor.extract_slice
func.func @extraction(%a: tensor<?xf32>, %n: index, %m: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %a) -> tensor<?xf32> {
    %s = tensor.extract_slice %a[%i] [%m] [1] : tensor<?xf32> to tensor<?xf32>
    scf.yield %s : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
// CHECK-LABEL: func.func @element(
//  CHECK-SAME: %[[A:.*]]: tensor<?xf32>, %[[I:.*]]: index)
//       CHECK: %[[N:.*]] = tensor.dim %[[A]]
//       CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[I]], %[[N]] : index
//       CHECK: plim.require %[[INSIDE]], "{{.*}}check-shapes.mlir:[[# @LINE + 3]]:8: 'tensor.extract': index out of range in dimension 0 of tensor<?xf32>, which has {1}: {0}"(%[[I]], %[[N]])
//       CHECK: tensor.extract
func.func @element(%a: tensor<?xf32>, %i: index) -> f32 {
  %r = tensor.extract %a[%i] : tensor<?xf32>
  return %r : f32
}
// CHECK-LABEL: func.func @written(
//       CHECK: plim.require %{{.*}} "{{.*}}index out of range in dimension 1 of tensor<4x?xf32>
//   CHECK-NOT: plim.require
//       CHECK: tensor.insert
func.func @written(%a: tensor<4x?xf32>, %x: f32, %i: index) -> tensor<4x?xf32> {
  %c3 = arith.constant 3 : index
  %r = tensor.insert %x into %a[%c3, %i] : tensor<4x?xf32>
  return %r : tensor<4x?xf32>
}
// CHECK-LABEL: func.func @memrefs(
//       CHECK: plim.require %{{.*}} "{{.*}}index out of range in dimension 0 of memref<?xf32>
//       CHECK: memref.load
//       CHECK: plim.require %{{.*}} "{{.*}}index out of range in dimension 0 of memref<4xf32>
//       CHECK: memref.store
func.func @memrefs(%a: memref<?xf32>, %b: memref<4xf32>, %i: index) {
  %x = memref.load %a[%i] : memref<?xf32>
  memref.store %x, %b[%i] : memref<4xf32>
  return
}
// Kernels are their author's.
// CHECK-LABEL: func.func @kernel(
//   CHECK-NOT: plim.require
//       CHECK: return
func.func @kernel(%a: memref<?xf32>, %i: index) -> f32 attributes {plim.kernel} {
  %x = memref.load %a[%i] : memref<?xf32>
  return %x : f32
}

// -----

// In the body of an op the loop goes on, and reads nothing.
// CHECK-LABEL: func.func @gather(
//  CHECK-SAME: %[[A:.*]]: tensor<?x8xf32>, %[[B:.*]]: tensor<?x8xindex>
//       CHECK: linalg.generic
//       CHECK: ^bb0(%[[I:.*]]: index, %{{.*}}: f32):
//       CHECK: %[[N:.*]] = tensor.dim %[[A]]
//       CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[I]], %[[N]] : index
//       CHECK: %[[OK:.*]] = plim.check %[[INSIDE]], "{{.*}}check-shapes.mlir:[[# @LINE + 19]]:10: index out of range in dimension 0 of tensor<?x8xf32>"
//   CHECK-NOT: plim.check
//       CHECK: %[[V:.*]] = scf.if %[[OK]] -> (f32) {
//       CHECK:   %[[READ:.*]] = tensor.extract %[[A]][%[[I]], %{{.*}}]
//       CHECK:   scf.yield %[[READ]]
//       CHECK: } else {
//       CHECK:   %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
//       CHECK:   scf.yield %[[ZERO]]
//       CHECK: }
//       CHECK: linalg.yield %[[V]]
//   CHECK-NOT: plim.require
func.func @gather(%a: tensor<?x8xf32>, %b: tensor<?x8xindex>, %c: tensor<?x8xf32>)
    -> tensor<?x8xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>,
                                        affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<?x8xindex>) outs(%c : tensor<?x8xf32>) {
  ^bb0(%i: index, %old: f32):
    %j = linalg.index 1 : index
    %y = tensor.extract %a[%i, %j] : tensor<?x8xf32>
    linalg.yield %y : f32
  } -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// -----

// Each index that can be wrong has a check of its own; a complex number has a zero of its own.
// CHECK-LABEL: func.func @two(
//       CHECK: %[[FIRST:.*]] = plim.check %{{.*}}, "{{.*}}in dimension 0 of
//       CHECK: %[[SECOND:.*]] = plim.check %{{.*}}, "{{.*}}in dimension 1 of
//       CHECK: %[[BOTH:.*]] = arith.andi %[[FIRST]], %[[SECOND]] : i1
//       CHECK: scf.if %[[BOTH]] -> (complex<f32>)
//       CHECK: complex.constant [0.000000e+00 : f32, 0.000000e+00 : f32]
func.func @two(%a: tensor<4x4xcomplex<f32>>, %b: tensor<8xindex>, %c: tensor<8xcomplex<f32>>)
    -> tensor<8xcomplex<f32>> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                       iterator_types = ["parallel"]}
      ins(%b : tensor<8xindex>) outs(%c : tensor<8xcomplex<f32>>) {
  ^bb0(%i: index, %old: complex<f32>):
    %y = tensor.extract %a[%i, %i] : tensor<4x4xcomplex<f32>>
    linalg.yield %y : complex<f32>
  } -> tensor<8xcomplex<f32>>
  return %r : tensor<8xcomplex<f32>>
}

// -----

// A loop index of an equal extent, a constant, a clamp, and what the type of the data bounds.
// CHECK-LABEL: func.func @inside(
//   CHECK-NOT: plim.check
//   CHECK-NOT: scf.if
//       CHECK: return
func.func @inside(%a: tensor<?xf32>, %b: tensor<256xf32>, %q: tensor<?xi8>, %c: tensor<?xf32>)
    -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                       iterator_types = ["parallel"]}
      ins(%q : tensor<?xi8>) outs(%e : tensor<?xf32>) {
  ^bb0(%k: i8, %old: f32):
    %i = linalg.index 0 : index
    %v0 = tensor.extract %a[%i] : tensor<?xf32>
    %v1 = tensor.extract %b[%c7] : tensor<256xf32>
    %w = arith.extsi %k : i8 to i32
    %c128 = arith.constant 128 : i32
    %s = arith.addi %w, %c128 : i32
    %p = arith.index_cast %s : i32 to index
    %v2 = tensor.extract %b[%p] : tensor<256xf32>
    %c255 = arith.constant 255 : index
    %low = arith.maxsi %p, %c0 : index
    %clamped = arith.minsi %low, %c255 : index
    %v3 = tensor.extract %b[%clamped] : tensor<256xf32>
    %s0 = arith.addf %v0, %v1 : f32
    %s1 = arith.addf %s0, %v2 : f32
    %s2 = arith.addf %s1, %v3 : f32
    linalg.yield %s2 : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// A loop whose end depends on what is read cannot go on.
// CHECK-LABEL: func.func @walk(
//       CHECK: scf.while
//       CHECK: plim.require %{{.*}}, "{{.*}}index out of range
//   CHECK-NOT: plim.check
//       CHECK: tensor.extract
func.func @walk(%next: tensor<?xindex>, %c: tensor<8xindex>) -> tensor<8xindex> {
  %c0 = arith.constant 0 : index
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>],
                       iterator_types = ["parallel"]} outs(%c : tensor<8xindex>) {
  ^bb0(%i: index):
    %end = scf.while (%at = %i) : (index) -> index {
      %more = arith.cmpi ne, %at, %c0 : index
      scf.condition(%more) %at : index
    } do {
    ^bb0(%at: index):
      %then = tensor.extract %next[%at] : tensor<?xindex>
      scf.yield %then : index
    }
    linalg.yield %end : index
  } -> tensor<8xindex>
  return %r : tensor<8xindex>
}
