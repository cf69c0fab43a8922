// A batch of products.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// CASE:
// INPUT: 2x1x2xf32=1 2 3 4
// INPUT: 2x2x1xf32=1 1 -1 2
// EXPECT: result[0]: 2x1x1xf32=[[[3]], [[5]]]
// CASE:
// INPUT: 3x17x19xf32=rnd:1
// INPUT: 3x19x23xf32=rnd:2
// CASE:
// INPUT: 0x4x5xf32=[]
// INPUT: 0x5x6xf32=[]
// EXPECT: result[0]: 0x4x6xf32=[]
// CASE:
// INPUT: 5x129x65xf32=rnd:5
// INPUT: 5x65x127xf32=rnd:6

func.func @main(%a: tensor<?x?x?xf32>, %b: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %s = tensor.dim %a, %c0 : tensor<?x?x?xf32>
  %m = tensor.dim %a, %c1 : tensor<?x?x?xf32>
  %n = tensor.dim %b, %c2 : tensor<?x?x?xf32>
  %e = tensor.empty(%s, %m, %n) : tensor<?x?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %p = linalg.batch_matmul ins(%a, %b : tensor<?x?x?xf32>, tensor<?x?x?xf32>)
      outs(%z : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %p : tensor<?x?x?xf32>
}
