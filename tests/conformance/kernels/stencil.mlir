// A five-point stencil that leaves the border of the destination alone.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-6
// CASE:
// INPUT: 3x3xf32=1 2 3 4 5 6 7 8 9
// INPUT: 3x3xf32=-1
// EXPECT: arg[0]: 3x3xf32=[[1, 2, 3], [4, 5, 6], [7, 8, 9]]
// EXPECT: arg[1]: 3x3xf32=[[-1, -1, -1], [-1, 5, -1], [-1, -1, -1]]
// CASE:
// INPUT: 17x31xf32=rnd:1
// INPUT: 17x31xf32=0
// CASE:
// INPUT: 2x2xf32=1
// INPUT: 2x2xf32=7
// EXPECT: arg[0]: 2x2xf32=[[1, 1], [1, 1]]
// EXPECT: arg[1]: 2x2xf32=[[7, 7], [7, 7]]

func.func @main(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %quarter = arith.constant 0.25 : f32
  %m = memref.dim %x, %c0 : memref<?x?xf32>
  %n = memref.dim %x, %c1 : memref<?x?xf32>
  %last_row = arith.subi %m, %c1 : index
  %last_column = arith.subi %n, %c1 : index
  scf.for %i = %c1 to %last_row step %c1 {
    scf.for %j = %c1 to %last_column step %c1 {
      %up = arith.subi %i, %c1 : index
      %down = arith.addi %i, %c1 : index
      %left = arith.subi %j, %c1 : index
      %right = arith.addi %j, %c1 : index
      %a = memref.load %x[%up, %j] : memref<?x?xf32>
      %b = memref.load %x[%down, %j] : memref<?x?xf32>
      %c = memref.load %x[%i, %left] : memref<?x?xf32>
      %d = memref.load %x[%i, %right] : memref<?x?xf32>
      %ab = arith.addf %a, %b : f32
      %cd = arith.addf %c, %d : f32
      %s = arith.addf %ab, %cd : f32
      %v = arith.mulf %s, %quarter : f32
      memref.store %v, %y[%i, %j] : memref<?x?xf32>
    }
  }
  return
}
