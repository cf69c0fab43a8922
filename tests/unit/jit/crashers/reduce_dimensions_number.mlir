// A number in the place of dimensions.
func.func @main(%x: tensor<2x3xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %r = linalg.reduce { arith.addf } ins(%x : tensor<2x3xf32>) outs(%y : tensor<2xf32>) dimensions = 0
  return %r : tensor<2xf32>
}
