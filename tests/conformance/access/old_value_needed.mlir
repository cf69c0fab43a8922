// What is updated is read again afterwards: the update must not be in place.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// COUNT: copies=1 allocations=2 dispatches=1
// CASE:
// INPUT: 2xf32=1 2
// EXPECT: result[0]: 2xf32=[3, 5]
// EXPECT: result[1]: 2xf32=[4, 7]

func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %e = tensor.empty() : tensor<2xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %a = tensor.extract %x[%c0] : tensor<2xf32>
  %b = tensor.extract %x[%c1] : tensor<2xf32>
  %s = arith.addf %a, %b : f32
  %t = arith.addf %s, %b : f32
  %old = tensor.from_elements %s, %t : tensor<2xf32>
  %u = arith.addf %s, %one : f32
  %v = arith.addf %t, %b : f32
  %0 = tensor.insert %u into %old[%c0] : tensor<2xf32>
  %1 = tensor.insert %v into %0[%c1] : tensor<2xf32>
  return %old, %1 : tensor<2xf32>, tensor<2xf32>
}
