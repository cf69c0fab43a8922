// Casts between static and dynamic types, tensor.dim and tensor.rank.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 2x3xf32=1 2 3 4 5 6
// EXPECT: result[0]: 2x3xf32=[[1, 2, 3], [4, 5, 6]]
// EXPECT: result[1]: index=3
// EXPECT: result[2]: index=2

func.func @main(%x: tensor<2x3xf32>) -> (tensor<?x?xf32>, index, index) {
  %c1 = arith.constant 1 : index
  %d = tensor.cast %x : tensor<2x3xf32> to tensor<?x?xf32>
  %n = tensor.dim %d, %c1 : tensor<?x?xf32>
  %rank = tensor.rank %d : tensor<?x?xf32>
  return %d, %n, %rank : tensor<?x?xf32>, index, index
}
