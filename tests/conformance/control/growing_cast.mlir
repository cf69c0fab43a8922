// A tensor of a static type, cast before the loop that makes it longer: the loop must not get that type.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: index=0
// INPUT: 2xf32=1 2
// EXPECT: result[0]: 2xf32=[1, 2]
// CASE:
// INPUT: index=2
// INPUT: 2xf32=1 2
// EXPECT: result[0]: 6xf32=[1, 2, 1, 2, 1, 2]
// CASE:
// INPUT: index=17
// INPUT: 2xf32=rnd:1

func.func @main(%n: index, %x: tensor<2xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = tensor.cast %x : tensor<2xf32> to tensor<?xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %first) -> tensor<?xf32> {
    %longer = tensor.concat dim(0) %t, %x : (tensor<?xf32>, tensor<2xf32>) -> tensor<?xf32>
    scf.yield %longer : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
