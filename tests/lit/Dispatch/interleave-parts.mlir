// RUN: plimsoll-opt %s -plim-interleave-parts -canonicalize -cse -split-input-file | FileCheck %s

// Each element of a row is chosen by its place, in whatever order they were inserted.
//   CHECK-DAG: #[[$ROW:.*]] = affine_map<(d0, d1) -> (d0)>
//   CHECK-DAG: #[[$ALL:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @three(
//  CHECK-SAME:   %[[X:.*]]: tensor<?xf32>, %[[Y:.*]]: tensor<?xf32>, %[[Z:.*]]: tensor<?x1xf32>
//   CHECK-DAG:   %[[C0:.*]] = arith.constant 0 : index
//   CHECK-DAG:   %[[C1:.*]] = arith.constant 1 : index
//       CHECK:   %[[W:.*]] = tensor.collapse_shape %[[Z]] {{\[\[}}0, 1]]
//   CHECK-NOT:   tensor.insert_slice
//       CHECK:   linalg.generic {indexing_maps = [#[[$ROW]], #[[$ROW]], #[[$ROW]], #[[$ALL]]], iterator_types = ["parallel", "parallel"]}
//  CHECK-SAME:     ins(%[[Y]], %[[X]], %[[W]] :
//       CHECK:   ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %[[C:.*]]: f32, %{{.*}}: f32):
//       CHECK:     %[[K:.*]] = linalg.index 1
//       CHECK:     %[[SECOND:.*]] = arith.cmpi eq, %[[K]], %[[C1]]
//       CHECK:     %[[BC:.*]] = arith.select %[[SECOND]], %[[B]], %[[C]]
//       CHECK:     %[[FIRST:.*]] = arith.cmpi eq, %[[K]], %[[C0]]
//       CHECK:     arith.select %[[FIRST]], %[[A]], %[[BC]]
func.func @three(%x: tensor<?xf32>, %y: tensor<?xf32>, %z: tensor<?x1xf32>, %n: index) -> tensor<?x3xf32> {
  %e = tensor.empty(%n) : tensor<?x3xf32>
  %a = tensor.insert_slice %x into %e[0, 1] [%n, 1] [1, 1] : tensor<?xf32> into tensor<?x3xf32>
  %b = tensor.insert_slice %y into %a[0, 0] [%n, 1] [1, 1] : tensor<?xf32> into tensor<?x3xf32>
  %c = tensor.insert_slice %z into %b[0, 2] [%n, 1] [1, 1] : tensor<?x1xf32> into tensor<?x3xf32>
  return %c : tensor<?x3xf32>
}

// -----

// Not all of a row; the same element twice; a part of the rows; rows of what has a value already; more than eight; what is used on the way.
// CHECK-LABEL: func.func @others(
//   CHECK-NOT:   linalg.generic
//       CHECK:   return
func.func @others(%x: tensor<8xf32>, %p: tensor<7xf32>, %old: tensor<8x2xf32>, %many: tensor<8x9xf32>)
    -> (tensor<8x3xf32>, tensor<8x2xf32>, tensor<8x2xf32>, tensor<8x2xf32>, tensor<8x2xf32>, tensor<8x2xf32>) {
  %e3 = tensor.empty() : tensor<8x3xf32>
  %a0 = tensor.insert_slice %x into %e3[0, 0] [8, 1] [1, 1] : tensor<8xf32> into tensor<8x3xf32>
  %a1 = tensor.insert_slice %x into %a0[0, 2] [8, 1] [1, 1] : tensor<8xf32> into tensor<8x3xf32>
  %e2 = tensor.empty() : tensor<8x2xf32>
  %b0 = tensor.insert_slice %x into %e2[0, 1] [8, 1] [1, 1] : tensor<8xf32> into tensor<8x2xf32>
  %b1 = tensor.insert_slice %x into %b0[0, 1] [8, 1] [1, 1] : tensor<8xf32> into tensor<8x2xf32>
  %c0 = tensor.insert_slice %p into %e2[0, 0] [7, 1] [1, 1] : tensor<7xf32> into tensor<8x2xf32>
  %c1 = tensor.insert_slice %x into %c0[0, 1] [8, 1] [1, 1] : tensor<8xf32> into tensor<8x2xf32>
  %d0 = tensor.insert_slice %x into %old[0, 0] [8, 1] [1, 1] : tensor<8xf32> into tensor<8x2xf32>
  %d1 = tensor.insert_slice %x into %d0[0, 1] [8, 1] [1, 1] : tensor<8xf32> into tensor<8x2xf32>
  %f0 = tensor.insert_slice %x into %e2[0, 0] [8, 1] [1, 1] : tensor<8xf32> into tensor<8x2xf32>
  %f1 = tensor.insert_slice %x into %f0[0, 1] [8, 1] [1, 1] : tensor<8xf32> into tensor<8x2xf32>
  return %a1, %b1, %c1, %d1, %f0, %f1 : tensor<8x3xf32>, tensor<8x2xf32>, tensor<8x2xf32>, tensor<8x2xf32>, tensor<8x2xf32>, tensor<8x2xf32>
}
