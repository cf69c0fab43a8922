// Two states in one step, one of which the other one needs: only that order is right.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 4xf32=1 2 3 4
// INPUT: 4xf32=10 20 30 40
// EXPECT: result[0]: 4xf32=[12, 24, 36, 48]
// EXPECT: result[1]: 4xf32=[11, 22, 33, 44]

func.func @main(%x: tensor<4xf32> {plim.donate = 1}, %v: tensor<4xf32> {plim.donate = 0})
    -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.add ins(%x, %v : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %w = linalg.add ins(%y, %x : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %w, %y : tensor<4xf32>, tensor<4xf32>
}
