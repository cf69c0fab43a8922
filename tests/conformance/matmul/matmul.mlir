// A plain matrix product at sizes on and off the tile.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// CASE:
// INPUT: 2x3xf32=1 2 3 4 5 6
// INPUT: 3x2xf32=1 -1 2 0.5 -3 4
// EXPECT: result[0]: 2x2xf32=[[-4, 12], [-4, 22.5]]
// CASE:
// INPUT: 1x1xf32=3
// INPUT: 1x1xf32=-2
// EXPECT: result[0]: 1x1xf32=[[-6]]
// CASE:
// INPUT: 17x13xf32=rnd:1
// INPUT: 13x11xf32=rnd:2
// CASE:
// INPUT: 127x67xf32=rnd:3
// INPUT: 67x131xf32=rnd:4
// CASE:
// INPUT: 64x64xf32=rnd:5
// INPUT: 64x64xf32=rnd:6
// CASE:
// INPUT: 1x257xf32=rnd:7
// INPUT: 257x1xf32=rnd:8
// CASE:
// INPUT: 300x5xf32=rnd:9
// INPUT: 5x290xf32=rnd:10
// CASE:
// INPUT: 65x1031xf32=rnd:11
// INPUT: 1031x97xf32=rnd:12
// CASE:
// INPUT: 513x33xf32=rnd:13
// INPUT: 33x129xf32=rnd:14

func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>)
      outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %p : tensor<?x?xf32>
}
