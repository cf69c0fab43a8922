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
//       CHECK: cf.assert %[[SAME]], "{{.*}}check-shapes.mlir:[[# @LINE + 12]]:8: extent 1 of operand 0 and extent 0 of operand 1 of 'linalg.matmul' differ"
//       CHECK: %[[M0:.*]] = tensor.dim %[[A]], %{{.*}}
//       CHECK: %[[M1:.*]] = tensor.dim %[[C]], %{{.*}}
//       CHECK: %[[ROWS:.*]] = arith.cmpi eq, %[[M0]], %[[M1]] : index
//       CHECK: cf.assert %[[ROWS]], "{{.*}}extent 0 of operand 0 and extent 0 of operand 2 of 'linalg.matmul' differ"
//   CHECK-NOT: cf.assert
//       CHECK: linalg.matmul
//  FOLD-LABEL: func.func @matmul(
// FOLD-COUNT-2: cf.assert
//    FOLD-NOT: cf.assert
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
//       CHECK: cf.assert
//   CHECK-NOT: cf.assert
//       CHECK: linalg.exp
func.func @half_static(%a: tensor<4xf32>, %c: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.exp ins(%a : tensor<4xf32>) outs(%c : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// All static: nothing to do.
// CHECK-LABEL: func.func @static(
//   CHECK-NOT: cf.assert
//   CHECK-NOT: tensor.dim
//       CHECK: linalg.exp
func.func @static(%a: tensor<4xf32>, %c: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.exp ins(%a : tensor<4xf32>) outs(%c : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// Equal by construction: the check folds away.
//  FOLD-LABEL: func.func @by_construction(
//    FOLD-NOT: cf.assert
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
//       CHECK: cf.assert
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
//   CHECK-DAG: %[[KERNEL:.*]] = tensor.dim %[[K]]
//   CHECK-DAG: %[[OUT:.*]] = tensor.dim %[[C]]
//   CHECK-DAG: arith.subi %[[OUT]], %{{.*}}
//   CHECK-DAG: arith.subi %[[KERNEL]], %{{.*}}
//       CHECK: %[[LAST:.*]] = arith.addi
//       CHECK: %[[SIZE:.*]] = tensor.dim %[[A]]
//       CHECK: %[[INSIDE:.*]] = arith.cmpi slt, %[[LAST]], %[[SIZE]]
//       CHECK: %[[FINE:.*]] = arith.ori %[[INSIDE]], %{{.*}} : i1
//       CHECK: cf.assert %[[FINE]], "{{.*}}extent 0 of operand 0 of 'linalg.conv_1d' is too small for the window that reads it"
//       CHECK: linalg.conv_1d
func.func @window(%a: tensor<?xf32>, %k: tensor<?xf32>, %c: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.conv_1d ins(%a, %k : tensor<?xf32>, tensor<?xf32>) outs(%c : tensor<?xf32>)
      -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// A static window is left to the verifier of the op.
// CHECK-LABEL: func.func @static_window(
//   CHECK-NOT: cf.assert
//       CHECK: return
func.func @static_window(%a: tensor<8xf32>, %k: tensor<3xf32>, %c: tensor<6xf32>) -> tensor<6xf32> {
  %r = linalg.conv_1d ins(%a, %k : tensor<8xf32>, tensor<3xf32>) outs(%c : tensor<6xf32>)
      -> tensor<6xf32>
  return %r : tensor<6xf32>
}

// -----

// Buffers are the author's own.
// CHECK-LABEL: func.func @buffers(
//   CHECK-NOT: cf.assert
//       CHECK: return
func.func @buffers(%a: memref<?xf32>, %c: memref<?xf32>) {
  linalg.exp ins(%a : memref<?xf32>) outs(%c : memref<?xf32>)
  return
}

// -----

// The slice that is written must lie inside of its destination, unless it is empty; an extent of
// which all is known was checked by the verifier of the op.
// CHECK-LABEL: func.func @insertion(
//  CHECK-SAME: %[[A:.*]]: tensor<?x4xf32>, %[[C:.*]]: tensor<?x8xf32>, %[[I:.*]]: index, %[[N:.*]]: index)
//       CHECK: %[[EXTENT:.*]] = tensor.dim %[[A]]
//       CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[EXTENT]], %[[N]]
//       CHECK: cf.assert %[[SAME]], "{{.*}}the source does not have the size of the slice in dimension 0"
//       CHECK: %[[LAST:.*]] = arith.addi %[[I]], %{{.*}}
//       CHECK: %[[END:.*]] = tensor.dim %[[C]], %{{.*}}
//   CHECK-DAG: %[[BEHIND:.*]] = arith.cmpi sge, %[[I]], %{{.*}}
//   CHECK-DAG: %[[BEFORE:.*]] = arith.cmpi slt, %[[LAST]], %[[END]]
//   CHECK-DAG: %[[EMPTY:.*]] = arith.cmpi eq, %[[N]], %{{.*}}
//       CHECK: %[[GOOD:.*]] = arith.ori %[[EMPTY]], %{{.*}} : i1
//       CHECK: cf.assert %[[GOOD]], "{{.*}}check-shapes.mlir:[[# @LINE + 5]]:8: the slice leaves the destination in dimension 0"
//   CHECK-NOT: in dimension 1
//       CHECK: tensor.insert_slice
func.func @insertion(%a: tensor<?x4xf32>, %c: tensor<?x8xf32>, %i: index, %n: index)
    -> tensor<?x8xf32> {
  %r = tensor.insert_slice %a into %c[%i, 2] [%n, 4] [1, 1] : tensor<?x4xf32> into tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}
// CHECK-LABEL: func.func @static_insertion(
//   CHECK-NOT: cf.assert
//       CHECK: return
func.func @static_insertion(%a: tensor<4xf32>, %c: tensor<8xf32>) -> tensor<8xf32> {
  %r = tensor.insert_slice %a into %c[2] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// An extent must be the product of those that it is expanded to.
// CHECK-LABEL: func.func @expansion(
//  CHECK-SAME: %[[A:.*]]: tensor<?x6xf32>, %[[N:.*]]: index, %[[M:.*]]: index)
//       CHECK: arith.muli {{.*}}%[[N]]
//       CHECK: %[[PRODUCT:.*]] = arith.muli {{.*}}%[[M]]
//       CHECK: %[[SIZE:.*]] = tensor.dim %[[A]], %{{.*}}
//       CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[PRODUCT]], %[[SIZE]]
//       CHECK: cf.assert %[[SAME]], "{{.*}}check-shapes.mlir:[[# @LINE + 4]]:8: extent 0 cannot be expanded to the extents given"
//   CHECK-NOT: cf.assert
//       CHECK: tensor.expand_shape
func.func @expansion(%a: tensor<?x6xf32>, %n: index, %m: index) -> tensor<?x?x2x3xf32> {
  %r = tensor.expand_shape %a [[0, 1], [2, 3]] output_shape [%n, %m, 2, 3]
      : tensor<?x6xf32> into tensor<?x?x2x3xf32>
  return %r : tensor<?x?x2x3xf32>
}

// -----

// Slices and elements that are read, where they are read; inside of the body of an op there is no
// check of each element.
// CHECK-LABEL: func.func @extraction(
//       CHECK: scf.for
//       CHECK: cf.assert %{{.*}}, "{{.*}}check-shapes.mlir:[[# @LINE + 7]]:10: 'tensor.extract_slice': {{.*}}
//       CHECK: cf.assert %{{.*}}, "{{.*}}'tensor.extract_slice': {{.*}}
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
//       CHECK: cf.assert %{{.*}}, "{{.*}}'tensor.extract': {{.*}}
//       CHECK: tensor.extract
func.func @element(%a: tensor<?xf32>, %i: index) -> f32 {
  %r = tensor.extract %a[%i] : tensor<?xf32>
  return %r : f32
}
// CHECK-LABEL: func.func @element_in_body(
//   CHECK-NOT: cf.assert
//       CHECK: return
func.func @element_in_body(%a: tensor<8xf32>, %b: tensor<8xindex>) -> tensor<8xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                       iterator_types = ["parallel"]}
      ins(%b : tensor<8xindex>) outs(%a : tensor<8xf32>) {
  ^bb0(%i: index, %old: f32):
    %y = tensor.extract %a[%i] : tensor<8xf32>
    linalg.yield %y : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
