// Sum, maximum and argmax along different axes.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-6
// CASE:
// INPUT: 2x3xf32=1 5 3 4 2 6
// EXPECT: result[0]: 2x1xf32=[[9], [12]]
// EXPECT: result[1]: 1x3xf32=[[4, 5, 6]]
// EXPECT: result[2]: 2xi32=[1, 2]
// CASE:
// INPUT: 2x3xf32=rnd:1

func.func @main(%x: tensor<2x3xf32>) -> (tensor<2x1xf32>, tensor<1x3xf32>, tensor<2xi32>) {
  %sum = tosa.reduce_sum %x {axis = 1 : i32} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %max = tosa.reduce_max %x {axis = 0 : i32} : (tensor<2x3xf32>) -> tensor<1x3xf32>
  %arg = tosa.argmax %x {axis = 1 : i32} : (tensor<2x3xf32>) -> tensor<2xi32>
  return %sum, %max, %arg : tensor<2x1xf32>, tensor<1x3xf32>, tensor<2xi32>
}
