// Side by side the parts are not dense: each is made by itself and put in its place.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// COUNT: copies=0
// CASE:
// INPUT: 2x2xi32=1 2 3 4
// EXPECT: result[0]: 2x4xi32=[[2, 4, 1, 4], [6, 8, 9, 16]]

func.func @main(%a: tensor<2x2xi32>) -> tensor<2x4xi32> {
  %e = tensor.empty() : tensor<2x2xi32>
  %x = linalg.add ins(%a, %a : tensor<2x2xi32>, tensor<2x2xi32>) outs(%e : tensor<2x2xi32>)
      -> tensor<2x2xi32>
  %y = linalg.mul ins(%a, %a : tensor<2x2xi32>, tensor<2x2xi32>) outs(%e : tensor<2x2xi32>)
      -> tensor<2x2xi32>
  %r = tensor.concat dim(1) %x, %y : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x4xi32>
  return %r : tensor<2x4xi32>
}
