// Extents of zero: an empty sum is zero, an empty result is empty.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 2x0xf32=[]
// INPUT: 0x3xf32=[]
// EXPECT: result[0]: 2x3xf32=[[0, 0, 0], [0, 0, 0]]
// CASE:
// INPUT: 0x3xf32=[]
// INPUT: 3x2xf32=1
// EXPECT: result[0]: 0x2xf32=[]
// CASE:
// INPUT: 3x2xf32=1
// INPUT: 2x0xf32=[]
// EXPECT: result[0]: 3x0xf32=[]
// CASE:
// INPUT: 0x0xf32=[]
// INPUT: 0x0xf32=[]
// EXPECT: result[0]: 0x0xf32=[]

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
