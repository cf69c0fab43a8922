// Named linalg operations directly on memrefs, with a temporary.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// CASE:
// INPUT: 2x3xf32=1 2 3 4 5 6
// INPUT: 3x2xf32=1 0 0 1 1 1
// INPUT: 2x2xf32=99
// EXPECT: arg[0]: 2x3xf32=[[1, 2, 3], [4, 5, 6]]
// EXPECT: arg[2]: 2x2xf32=[[8, 10], [20, 22]]
// CASE:
// INPUT: 19x23xf32=rnd:1
// INPUT: 23x29xf32=rnd:2
// INPUT: 19x29xf32=nan

func.func @main(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = memref.dim %c, %c0 : memref<?x?xf32>
  %n = memref.dim %c, %c1 : memref<?x?xf32>
  %t = memref.alloc(%m, %n) : memref<?x?xf32>
  linalg.fill ins(%zero : f32) outs(%t : memref<?x?xf32>)
  linalg.matmul ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) outs(%t : memref<?x?xf32>)
  linalg.add ins(%t, %t : memref<?x?xf32>, memref<?x?xf32>) outs(%c : memref<?x?xf32>)
  memref.dealloc %t : memref<?x?xf32>
  return
}
