// A one-dimensional sliding window.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// CASE:
// INPUT: 5xf32=1 2 3 4 5
// INPUT: 3xf32=1 0 -1
// EXPECT: result[0]: 3xf32=[-2, -2, -2]
// CASE:
// INPUT: 1009xf32=rnd:1
// INPUT: 17xf32=rnd:2
// CASE:
// INPUT: 3xf32=1
// INPUT: 3xf32=2
// EXPECT: result[0]: 1xf32=[6]

func.func @main(%x: tensor<?xf32>, %k: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %m = tensor.dim %k, %c0 : tensor<?xf32>
  %d = arith.subi %n, %m : index
  %o = arith.addi %d, %c1 : index
  %e = tensor.empty(%o) : tensor<?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.conv_1d ins(%x, %k : tensor<?xf32>, tensor<?xf32>)
      outs(%z : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
