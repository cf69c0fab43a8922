// scf.parallel with two dimensions and a reduction.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// CASE:
// INPUT: 2x2xf32=1 2 3 4
// INPUT: 2x2xf32=0
// EXPECT: result[0]: f32=30
// EXPECT: arg[1]: 2x2xf32=[[1, 4], [9, 16]]
// CASE:
// INPUT: 23x41xf32=rnd:1
// INPUT: 23x41xf32=0

func.func @main(%x: memref<?x?xf32>, %y: memref<?x?xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = memref.dim %x, %c0 : memref<?x?xf32>
  %n = memref.dim %x, %c1 : memref<?x?xf32>
  scf.parallel (%i, %j) = (%c0, %c0) to (%m, %n) step (%c1, %c1) {
    %v = memref.load %x[%i, %j] : memref<?x?xf32>
    %s = arith.mulf %v, %v : f32
    memref.store %s, %y[%i, %j] : memref<?x?xf32>
    scf.reduce
  }
  %sum = scf.parallel (%i, %j) = (%c0, %c0) to (%m, %n) step (%c1, %c1) init (%zero) -> f32 {
    %v = memref.load %y[%i, %j] : memref<?x?xf32>
    scf.reduce(%v : f32) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      scf.reduce.return %s : f32
    }
  }
  return %sum : f32
}
