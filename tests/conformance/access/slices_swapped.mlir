// Two halves trade places: both are read before either is written.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 4x2xf64=1 2 3 4 5 6 7 8
// EXPECT: result[0]: 4x2xf64=[[5, 6], [7, 8], [1, 2], [3, 4]]
// EXPECT: result[1]: 4x2xf64=[[10, 12], [14, 16], [1, 4], [9, 16]]

func.func @main(%x: tensor<4x2xf64>) -> (tensor<4x2xf64>, tensor<4x2xf64>) {
  %low = tensor.extract_slice %x[0, 0] [2, 2] [1, 1] : tensor<4x2xf64> to tensor<2x2xf64>
  %high = tensor.extract_slice %x[2, 0] [2, 2] [1, 1] : tensor<4x2xf64> to tensor<2x2xf64>
  %0 = tensor.insert_slice %high into %x[0, 0] [2, 2] [1, 1] : tensor<2x2xf64> into tensor<4x2xf64>
  %1 = tensor.insert_slice %low into %0[2, 0] [2, 2] [1, 1] : tensor<2x2xf64> into tensor<4x2xf64>
  %e = tensor.empty() : tensor<2x2xf64>
  %d = linalg.add ins(%high, %high : tensor<2x2xf64>, tensor<2x2xf64>) outs(%e : tensor<2x2xf64>)
      -> tensor<2x2xf64>
  %s = linalg.mul ins(%low, %low : tensor<2x2xf64>, tensor<2x2xf64>) outs(%e : tensor<2x2xf64>)
      -> tensor<2x2xf64>
  %2 = tensor.insert_slice %d into %x[0, 0] [2, 2] [1, 1] : tensor<2x2xf64> into tensor<4x2xf64>
  %3 = tensor.insert_slice %s into %2[2, 0] [2, 2] [1, 1] : tensor<2x2xf64> into tensor<4x2xf64>
  return %1, %3 : tensor<4x2xf64>, tensor<4x2xf64>
}
