// Slices with static strides and a rank reduction.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 4x6xf32=0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23
// EXPECT: result[0]: 2x3xf32=[[6, 8, 10], [18, 20, 22]]
// EXPECT: result[1]: 4xf32=[5, 11, 17, 23]

func.func @main(%x: tensor<4x6xf32>) -> (tensor<2x3xf32>, tensor<4xf32>) {
  %a = tensor.extract_slice %x[1, 0] [2, 3] [2, 2] : tensor<4x6xf32> to tensor<2x3xf32>
  %b = tensor.extract_slice %x[0, 5] [4, 1] [1, 1] : tensor<4x6xf32> to tensor<4xf32>
  return %a, %b : tensor<2x3xf32>, tensor<4xf32>
}
