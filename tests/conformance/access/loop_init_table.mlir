// A loop starts from a table, which another op reads after it.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// COUNT: copies=1 allocations=2 dispatches=3 kernels=3
// CASE:
// INPUT: index=2
// INPUT: 3xi32=1 1 1
// EXPECT: result[0]: 3xi32=[3, 4, 5]
// EXPECT: result[1]: 3xi32=[2, 3, 4]

func.func @main(%n: index, %x: tensor<3xi32>) -> (tensor<3xi32>, tensor<3xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %table = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %table) -> tensor<3xi32> {
    %s = linalg.add ins(%acc, %x : tensor<3xi32>, tensor<3xi32>) outs(%acc : tensor<3xi32>) -> tensor<3xi32>
    scf.yield %s : tensor<3xi32>
  }
  %e = tensor.empty() : tensor<3xi32>
  %t = linalg.add ins(%table, %x : tensor<3xi32>, tensor<3xi32>) outs(%e : tensor<3xi32>) -> tensor<3xi32>
  return %r, %t : tensor<3xi32>, tensor<3xi32>
}
