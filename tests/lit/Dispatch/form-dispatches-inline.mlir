// RUN: plimsoll-opt %s -plim-form-dispatches=inline-constant-bytes=16 -split-input-file | FileCheck %s
// RUN: plimsoll-opt %s -plim-form-dispatches -split-input-file | FileCheck %s --check-prefix=NONE

// What is small is part of the dispatch, larger ones and odd widths are bound.
// CHECK-LABEL: func.func private @small_elementwise_0(
//  CHECK-SAME:     %{{[^:]*}}: tensor<4xf32>, %{{[^:]*}}: tensor<4xf32>)
//       CHECK:   arith.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]>
//       CHECK: func.func @small(
//   CHECK-NOT:   arith.constant
//  NONE-LABEL: func.func private @small_elementwise_0(
//   NONE-SAME:     %{{[^:]*}}: tensor<4xf32>, %{{[^:]*}}: tensor<4xf32>, %{{[^:]*}}: tensor<4xf32>)
func.func @small(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.add ins(%x, %c : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>)
      -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @large(
//       CHECK:   arith.constant dense<
//       CHECK:   plim.dispatch
func.func @large(%x: tensor<5xf32>) -> tensor<5xf32> {
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>
  %e = tensor.empty() : tensor<5xf32>
  %r = linalg.add ins(%x, %c : tensor<5xf32>, tensor<5xf32>) outs(%e : tensor<5xf32>)
      -> tensor<5xf32>
  return %r : tensor<5xf32>
}

// -----

// CHECK-LABEL: func.func @odd(
//       CHECK:   arith.constant dense<
//       CHECK:   plim.dispatch
func.func @odd(%x: tensor<3xi1>) -> tensor<3xi1> {
  %c = arith.constant dense<[true, false, true]> : tensor<3xi1>
  %e = tensor.empty() : tensor<3xi1>
  %r = linalg.max ins(%x, %c : tensor<3xi1>, tensor<3xi1>) outs(%e : tensor<3xi1>)
      -> tensor<3xi1>
  return %r : tensor<3xi1>
}
