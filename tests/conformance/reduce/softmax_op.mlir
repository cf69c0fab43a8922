// linalg.softmax over the last dimension.
// RUN-FUNCTION: @main
// TOLERANCE: 5e-6
// CASE:
// INPUT: 2x3xf32=0 0 0 1 2 4
// EXPECT: result[0]: 2x3xf32=[[0.33333334, 0.33333334, 0.33333334], [0.042010065, 0.1141952, 0.84379476]]
// CASE:
// INPUT: 29x97xf32=rnd:1

func.func @main(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>)
      -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
