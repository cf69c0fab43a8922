// Channels last to channels first, returned as it is.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 1x2x2x3xf32=1 2 3 4 5 6 7 8 9 10 11 12
// EXPECT: result[0]: 1x3x2x2xf32=[[[[1, 4], [7, 10]], [[2, 5], [8, 11]], [[3, 6], [9, 12]]]]
// CASE:
// INPUT: 3x7x5x13xf32=rnd:1
// CASE:
// INPUT: 2x0x5x3xf32=[]
// EXPECT: result[0]: 2x3x0x5xf32=[]
// CASE:
// INPUT: 2x33x35x17xf32=rnd:5

func.func @main(%a: tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %a, %c0 : tensor<?x?x?x?xf32>
  %h = tensor.dim %a, %c1 : tensor<?x?x?x?xf32>
  %w = tensor.dim %a, %c2 : tensor<?x?x?x?xf32>
  %c = tensor.dim %a, %c3 : tensor<?x?x?x?xf32>
  %e = tensor.empty(%n, %c, %h, %w) : tensor<?x?x?x?xf32>
  %t = linalg.transpose ins(%a : tensor<?x?x?x?xf32>) outs(%e : tensor<?x?x?x?xf32>)
      permutation = [0, 3, 1, 2]
  return %t : tensor<?x?x?x?xf32>
}
