// A matrix plus its transpose: the same buffer is read along both dimensions.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 3x3xf32=1 2 3 4 5 6 7 8 9
// EXPECT: result[0]: 3x3xf32=[[2, 6, 10], [6, 10, 14], [10, 14, 18]]
// CASE:
// INPUT: 1x1xf32=4
// EXPECT: result[0]: 1x1xf32=[[8]]
// CASE:
// INPUT: 67x67xf32=rnd:1
// CASE:
// INPUT: 0x0xf32=[]
// EXPECT: result[0]: 0x0xf32=[]
// CASE:
// INPUT: 301x301xf32=rnd:5

func.func @main(%a: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x?xf32>
  %e = tensor.empty(%n, %n) : tensor<?x?xf32>
  %t = linalg.transpose ins(%a : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) permutation = [1, 0]
  %r = linalg.add ins(%a, %t : tensor<?x?xf32>, tensor<?x?xf32>)
      outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
