// Affine loops: a product accumulated into the destination.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// CASE:
// INPUT: 2x2xf32=1 2 3 4
// INPUT: 2x2xf32=1 0 0 1
// INPUT: 2x2xf32=10
// EXPECT: arg[2]: 2x2xf32=[[11, 12], [13, 14]]
// CASE:
// INPUT: 13x17xf32=rnd:1
// INPUT: 17x11xf32=rnd:2
// INPUT: 13x11xf32=0

func.func @main(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %a, %c0 : memref<?x?xf32>
  %k = memref.dim %a, %c1 : memref<?x?xf32>
  %n = memref.dim %b, %c1 : memref<?x?xf32>
  affine.for %i = 0 to %m {
    affine.for %j = 0 to %n {
      affine.for %l = 0 to %k {
        %x = affine.load %a[%i, %l] : memref<?x?xf32>
        %y = affine.load %b[%l, %j] : memref<?x?xf32>
        %z = affine.load %c[%i, %j] : memref<?x?xf32>
        %p = arith.mulf %x, %y : f32
        %s = arith.addf %z, %p : f32
        affine.store %s, %c[%i, %j] : memref<?x?xf32>
      }
    }
  }
  return
}
