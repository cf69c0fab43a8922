// The middle of three dimensions is summed.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// CASE:
// INPUT: 2x2x2xf32=1 2 3 4 5 6 7 8
// EXPECT: result[0]: 2x2xf32=[[4, 6], [12, 14]]
// CASE:
// INPUT: 7x31x5xf32=rnd:1
// CASE:
// INPUT: 2x0x3xf32=[]
// EXPECT: result[0]: 2x3xf32=[[0, 0, 0], [0, 0, 0]]

func.func @main(%x: tensor<?x?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x?x?xf32>
  %n = tensor.dim %x, %c2 : tensor<?x?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.reduce {arith.addf} ins(%x : tensor<?x?x?xf32>) outs(%z : tensor<?x?xf32>)
      dimensions = [1]
  return %r : tensor<?x?xf32>
}
