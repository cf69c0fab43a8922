// linalg.broadcast along two dimensions, then an addition that can absorb it.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 3xf32=1 2 3
// INPUT: 2x3x2xf32=1 2 3 4 5 6 7 8 9 10 11 12
// EXPECT: result[0]: 2x3x2xf32=[[[2, 3], [5, 6], [8, 9]], [[8, 9], [11, 12], [14, 15]]]
// CASE:
// INPUT: 19xf32=rnd:1
// INPUT: 5x19x11xf32=rnd:2

func.func @main(%v: tensor<?xf32>, %x: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %d0 = tensor.dim %x, %c0 : tensor<?x?x?xf32>
  %d1 = tensor.dim %x, %c1 : tensor<?x?x?xf32>
  %d2 = tensor.dim %x, %c2 : tensor<?x?x?xf32>
  %e = tensor.empty(%d0, %d1, %d2) : tensor<?x?x?xf32>
  %b = linalg.broadcast ins(%v : tensor<?xf32>) outs(%e : tensor<?x?x?xf32>) dimensions = [0, 2]
  %r = linalg.add ins(%b, %x : tensor<?x?x?xf32>, tensor<?x?x?xf32>)
      outs(%e : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}
