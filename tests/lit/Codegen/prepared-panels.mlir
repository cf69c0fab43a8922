// RUN: plimsoll-opt %s -plim-choose-panels -plim-pack-panels -canonicalize -cse -split-input-file | FileCheck %s

// Of panels that are there those are read in place that begin with the columns of a step.
//       CHECK: #[[$PANEL:.*]] = affine_map<()[s0, s1] -> ((s0 + s1) floordiv 16)>
// CHECK-LABEL: func.func private @whole(
//  CHECK-SAME: %[[A:.*]]: tensor<64x512xf32>, %[[P:.*]]: tensor<9x512x16xf32>
//       CHECK: scf.for %[[N:.*]] = %{{.*}} to %c144 step %c48
//       CHECK:   scf.for %[[I:.*]] = %{{.*}} to %c48 step %c16
//       CHECK:     %[[AT:.*]] = affine.apply #[[$PANEL]]()[%[[I]], %[[N]]]
//       CHECK:     %[[PANEL:.*]] = tensor.extract_slice %[[P]][%[[AT]], 0, 0] [1, 512, 16] [1, 1, 1]
//       CHECK:     linalg.generic {{.*}} ins(%[[A]], %[[PANEL]] : tensor<64x512xf32>, tensor<512x16xf32>)
func.func private @whole(%a: tensor<64x512xf32>, %p: tensor<9x512x16xf32>, %c: tensor<64x144xf32>)
    -> tensor<64x144xf32> attributes {plim.dispatch_function} {
  %c0 = arith.constant 0 : index
  %c48 = arith.constant 48 : index
  %c144 = arith.constant 144 : index
  %b = plim.unpack_panels %p {column = 1 : i64, rest = array<i64: 0>} : tensor<9x512x16xf32> -> tensor<512x144xf32>
  %r = scf.for %n = %c0 to %c144 step %c48 iter_args(%so = %c) -> tensor<64x144xf32> {
    %columns = tensor.extract_slice %b[0, %n] [512, 48] [1, 1] : tensor<512x144xf32> to tensor<512x48xf32>
    %old = tensor.extract_slice %so[0, %n] [64, 48] [1, 1] : tensor<64x144xf32> to tensor<64x48xf32>
    %new = linalg.matmul ins(%a, %columns : tensor<64x512xf32>, tensor<512x48xf32>) outs(%old : tensor<64x48xf32>) -> tensor<64x48xf32>
    %all = tensor.insert_slice %new into %so[0, %n] [64, 48] [1, 1] : tensor<64x48xf32> into tensor<64x144xf32>
    scf.yield %all : tensor<64x144xf32>
  }
  return %r : tensor<64x144xf32>
}

// -----

// Every other step begins in the middle of one: its columns are gathered from two.
//   CHECK-DAG: #[[$PANEL:.*]] = affine_map<()[s0, s1] -> ((s0 + s1) floordiv 16)>
//   CHECK-DAG: #[[$LANE:.*]] = affine_map<()[s0, s1] -> ((s0 + s1) mod 16)>
// CHECK-LABEL: func.func private @halves(
//  CHECK-SAME: %[[A:.*]]: tensor<64x512xf32>, %[[P:.*]]: tensor<9x512x16xf32>
//       CHECK: scf.for %[[N:.*]] = %{{.*}} to %c144 step %c24
//       CHECK:   %[[COLUMN:.*]] = linalg.index 1
//       CHECK:   %[[AT:.*]] = affine.apply #[[$PANEL]]()[%[[COLUMN]], %[[N]]]
//       CHECK:   %[[LANE:.*]] = affine.apply #[[$LANE]]()[%[[COLUMN]], %[[N]]]
//       CHECK:   tensor.extract %[[P]][%[[AT]], %{{.*}}, %[[LANE]]]
//   CHECK-NOT:   tensor.extract_slice %[[P]]
func.func private @halves(%a: tensor<64x512xf32>, %p: tensor<9x512x16xf32>, %c: tensor<64x144xf32>)
    -> tensor<64x144xf32> attributes {plim.dispatch_function} {
  %c0 = arith.constant 0 : index
  %c24 = arith.constant 24 : index
  %c144 = arith.constant 144 : index
  %b = plim.unpack_panels %p {column = 1 : i64, rest = array<i64: 0>} : tensor<9x512x16xf32> -> tensor<512x144xf32>
  %r = scf.for %n = %c0 to %c144 step %c24 iter_args(%so = %c) -> tensor<64x144xf32> {
    %columns = tensor.extract_slice %b[0, %n] [512, 24] [1, 1] : tensor<512x144xf32> to tensor<512x24xf32>
    %old = tensor.extract_slice %so[0, %n] [64, 24] [1, 1] : tensor<64x144xf32> to tensor<64x24xf32>
    %new = linalg.matmul ins(%a, %columns : tensor<64x512xf32>, tensor<512x24xf32>) outs(%old : tensor<64x24xf32>) -> tensor<64x24xf32>
    %all = tensor.insert_slice %new into %so[0, %n] [64, 24] [1, 1] : tensor<64x24xf32> into tensor<64x144xf32>
    scf.yield %all : tensor<64x144xf32>
  }
  return %r : tensor<64x144xf32>
}
