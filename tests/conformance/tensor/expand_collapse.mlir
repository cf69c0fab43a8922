// Rows split in pairs and joined again around an operation on three dimensions.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 2x4xf32=1 2 3 4 5 6 7 8
// EXPECT: result[0]: 8xf32=[2, 4, 6, 8, 10, 12, 14, 16]
// EXPECT: result[1]: 2x2x2xf32=[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]
// CASE:
// INPUT: 9x14xf32=rnd:1
// CASE:
// INPUT: 0x6xf32=[]
// EXPECT: result[0]: 0xf32=[]
// EXPECT: result[1]: 0x3x2xf32=[]

func.func @main(%x: tensor<?x?xf32>) -> (tensor<?xf32>, tensor<?x?x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %pairs = arith.divui %n, %c2 : index
  %split = tensor.expand_shape %x [[0], [1, 2]] output_shape [%m, %pairs, 2]
      : tensor<?x?xf32> into tensor<?x?x2xf32>
  %e = tensor.empty(%m, %pairs) : tensor<?x?x2xf32>
  %sum = linalg.add ins(%split, %split : tensor<?x?x2xf32>, tensor<?x?x2xf32>)
      outs(%e : tensor<?x?x2xf32>) -> tensor<?x?x2xf32>
  %flat = tensor.collapse_shape %sum [[0, 1, 2]] : tensor<?x?x2xf32> into tensor<?xf32>
  return %flat, %split : tensor<?xf32>, tensor<?x?x2xf32>
}
