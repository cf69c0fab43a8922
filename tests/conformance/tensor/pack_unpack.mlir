// linalg.pack with padding and linalg.unpack: the round trip is the identity.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 3x5xf32=1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
// EXPECT: result[0]: 2x2x2x4xf32=[[[[1, 2, 3, 4], [6, 7, 8, 9]], [[5, 0, 0, 0], [10, 0, 0, 0]]], [[[11, 12, 13, 14], [0, 0, 0, 0]], [[15, 0, 0, 0], [0, 0, 0, 0]]]]
// EXPECT: result[1]: 3x5xf32=[[1, 2, 3, 4, 5], [6, 7, 8, 9, 10], [11, 12, 13, 14, 15]]
// CASE:
// INPUT: 8x8xf32=rnd:1
// CASE:
// INPUT: 17x23xf32=rnd:2

func.func @main(%x: tensor<?x?xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %mo = arith.ceildivui %m, %c2 : index
  %no = arith.ceildivui %n, %c4 : index
  %e = tensor.empty(%mo, %no) : tensor<?x?x2x4xf32>
  %packed = linalg.pack %x padding_value(%zero : f32) inner_dims_pos = [0, 1] inner_tiles = [2, 4]
      into %e : tensor<?x?xf32> -> tensor<?x?x2x4xf32>
  %f = tensor.empty(%m, %n) : tensor<?x?xf32>
  %back = linalg.unpack %packed inner_dims_pos = [0, 1] inner_tiles = [2, 4]
      into %f : tensor<?x?x2x4xf32> -> tensor<?x?xf32>
  return %packed, %back : tensor<?x?x2x4xf32>, tensor<?x?xf32>
}
