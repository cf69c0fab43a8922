// RUN: plimsoll-opt %s -plim-protect-partial-writes | FileCheck %s

// CHECK-LABEL: func.func @part(
//       CHECK: %[[Z:.*]] = affine.apply
//       CHECK: vector.transfer_write %arg0, %arg1[%[[Z]], %c0, %c0]
func.func @part(%v: vector<8x16xf32>, %t: tensor<1x15x16xf32>) -> tensor<1x15x16xf32> {
  %c0 = arith.constant 0 : index
  %w = vector.transfer_write %v, %t[%c0, %c0, %c0] {in_bounds = [true, true], permutation_map = affine_map<(a, b, c) -> (b, c)>}
      : vector<8x16xf32>, tensor<1x15x16xf32>
  return %w : tensor<1x15x16xf32>
}

// All of it, or a part that upstream sees to be one.
// CHECK-LABEL: func.func @others(
//   CHECK-NOT: affine.apply
func.func @others(%v: vector<8x16xf32>, %t: tensor<1x8x16xf32>, %u: tensor<15x16xf32>, %k: index)
    -> (tensor<1x8x16xf32>, tensor<15x16xf32>) {
  %c0 = arith.constant 0 : index
  %w = vector.transfer_write %v, %t[%c0, %c0, %c0] {in_bounds = [true, true], permutation_map = affine_map<(a, b, c) -> (b, c)>}
      : vector<8x16xf32>, tensor<1x8x16xf32>
  %x = vector.transfer_write %v, %u[%k, %c0] {in_bounds = [true, true]} : vector<8x16xf32>, tensor<15x16xf32>
  return %w, %x : tensor<1x8x16xf32>, tensor<15x16xf32>
}
