// RUN: plimsoll-opt %s -plim-infer-borders -split-input-file | FileCheck %s

// What is inserted into zeros has a border, in all dispatches of the function that reads it the least of them: of one here, the
// other one is narrower at the begin.
func.func private @pad(%x: tensor<4x6x6xf32>, %e: tensor<4x10x9xf32>) -> tensor<4x10x9xf32> attributes {plim.dispatch_function} {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x10x9xf32>) -> tensor<4x10x9xf32>
  %p = tensor.insert_slice %x into %f[0, 2, 1] [4, 6, 6] [1, 1, 1] : tensor<4x6x6xf32> into tensor<4x10x9xf32>
  return %p : tensor<4x10x9xf32>
}
func.func private @pad_less(%x: tensor<4x6x6xf32>, %e: tensor<4x10x9xf32>) -> tensor<4x10x9xf32> attributes {plim.dispatch_function} {
  %zero = arith.constant -0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x10x9xf32>) -> tensor<4x10x9xf32>
  %p = tensor.insert_slice %x into %f[0, 1, 3] [4, 6, 6] [1, 1, 1] : tensor<4x6x6xf32> into tensor<4x10x9xf32>
  return %p : tensor<4x10x9xf32>
}
// Not with anything but zeros around it.
func.func private @pad_ones(%x: tensor<4x6x6xf32>, %e: tensor<4x10x9xf32>) -> tensor<4x10x9xf32> attributes {plim.dispatch_function} {
  %one = arith.constant 1.0 : f32
  %f = linalg.fill ins(%one : f32) outs(%e : tensor<4x10x9xf32>) -> tensor<4x10x9xf32>
  %p = tensor.insert_slice %x into %f[0, 2, 1] [4, 6, 6] [1, 1, 1] : tensor<4x6x6xf32> into tensor<4x10x9xf32>
  return %p : tensor<4x10x9xf32>
}
// CHECK-LABEL: func.func private @reads(
//  CHECK-SAME:   tensor<4x10x9xf32> {plim.zero_borders = array<i64: 0, 0, 2, 2, 1, 2>}
func.func private @reads(%x: tensor<4x10x9xf32>, %e: tensor<4x10x9xf32>) -> tensor<4x10x9xf32> attributes {plim.dispatch_function} {
  return %x : tensor<4x10x9xf32>
}
// CHECK-LABEL: func.func private @reads_both(
//  CHECK-SAME:   tensor<4x10x9xf32> {plim.zero_borders = array<i64: 0, 0, 1, 2, 1, 0>}
func.func private @reads_both(%x: tensor<4x10x9xf32>, %e: tensor<4x10x9xf32>) -> tensor<4x10x9xf32> attributes {plim.dispatch_function} {
  return %x : tensor<4x10x9xf32>
}
// CHECK-LABEL: func.func private @reads_anything(
//   CHECK-NOT:   zero_borders
//       CHECK:   return
func.func private @reads_anything(%x: tensor<4x10x9xf32>, %y: tensor<4x10x9xf32>, %e: tensor<4x10x9xf32>) -> tensor<4x10x9xf32> attributes {plim.dispatch_function} {
  return %x : tensor<4x10x9xf32>
}
func.func @main(%x: tensor<4x6x6xf32>, %y: tensor<4x10x9xf32>) -> (tensor<4x10x9xf32>, tensor<4x10x9xf32>, tensor<4x10x9xf32>, tensor<4x10x9xf32>, tensor<4x10x9xf32>) {
  %e = tensor.empty() : tensor<4x10x9xf32>
  %p = plim.dispatch @pad ins(%x : tensor<4x6x6xf32>) outs(%e : tensor<4x10x9xf32>) -> tensor<4x10x9xf32>
  %q = plim.dispatch @pad_less ins(%x : tensor<4x6x6xf32>) outs(%e : tensor<4x10x9xf32>) -> tensor<4x10x9xf32>
  %o = plim.dispatch @pad_ones ins(%x : tensor<4x6x6xf32>) outs(%e : tensor<4x10x9xf32>) -> tensor<4x10x9xf32>
  %0 = plim.dispatch @reads ins(%p : tensor<4x10x9xf32>) outs(%e : tensor<4x10x9xf32>) -> tensor<4x10x9xf32>
  %1 = plim.dispatch @reads_both ins(%p : tensor<4x10x9xf32>) outs(%e : tensor<4x10x9xf32>) -> tensor<4x10x9xf32>
  %2 = plim.dispatch @reads_both ins(%q : tensor<4x10x9xf32>) outs(%e : tensor<4x10x9xf32>) -> tensor<4x10x9xf32>
  %3 = plim.dispatch @reads_anything ins(%p, %o : tensor<4x10x9xf32>, tensor<4x10x9xf32>) outs(%e : tensor<4x10x9xf32>) -> tensor<4x10x9xf32>
  %4 = plim.dispatch @reads_anything ins(%y, %o : tensor<4x10x9xf32>, tensor<4x10x9xf32>) outs(%e : tensor<4x10x9xf32>) -> tensor<4x10x9xf32>
  return %0, %1, %2, %3, %4 : tensor<4x10x9xf32>, tensor<4x10x9xf32>, tensor<4x10x9xf32>, tensor<4x10x9xf32>, tensor<4x10x9xf32>
}
