// A loop that hands an argument around without writing it.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// COUNT: copies=0 allocations=0 dispatches=0
// CASE:
// INPUT: index=3
// INPUT: 3xf32=1 2 3
// EXPECT: result[0]: f32=6
// CASE:
// INPUT: index=0
// INPUT: 3xf32=1 2 3
// EXPECT: result[0]: f32=0

func.func @main(%n: index, %x: tensor<3xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x, %sum = %zero) -> (tensor<3xf32>, f32) {
    %v = tensor.extract %t[%i] : tensor<3xf32>
    %s = arith.addf %sum, %v : f32
    scf.yield %t, %s : tensor<3xf32>, f32
  }
  return %r#1 : f32
}
