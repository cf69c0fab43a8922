// The old value is a result as well: that one is a copy.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 3xi32=1 2 3
// EXPECT: result[0]: 3xi32=[1, 2, 3]
// EXPECT: result[1]: 3xi32=[2, 4, 6]
// EXPECT: result[2]: 3xi32=[2, 4, 6]

func.func @main(%x: tensor<3xi32> {plim.donate = 1}) -> (tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) {
  %e = tensor.empty() : tensor<3xi32>
  %r = linalg.add ins(%x, %x : tensor<3xi32>, tensor<3xi32>) outs(%e : tensor<3xi32>) -> tensor<3xi32>
  return %x, %r, %r : tensor<3xi32>, tensor<3xi32>, tensor<3xi32>
}
