// A kernel with scalars, vectors and tables of 8 bits.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: f8E4M3FN=1.5
// INPUT: 37xf8E4M3FN=rnd:1
// INPUT: 37xf32=0
// CASE:
// INPUT: f8E4M3FN=-0.25
// INPUT: 8xf8E4M3FN=1,-1,448,0.0625,nan,2,3,4
// INPUT: 8xf32=1
// EXPECT: arg[1]: 8xf8E4M3FN=[-0.25, 0.25, -112, -0.015625, nan, -0.5, -0.75, -1]
// EXPECT: arg[2]: 8xf32=[0.25, -0.75, -111.5, 3.984375, nan, -1.5, -0.25, 3]

memref.global "private" constant @table : memref<4xf8E4M3FN> = dense<[0.5, -1.0, 0.5, 4.0]>
func.func @main(%s: f8E4M3FN, %x: memref<?xf8E4M3FN>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %n = memref.dim %x, %c0 : memref<?xf8E4M3FN>
  %whole = arith.divui %n, %c4 : index
  %end = arith.muli %whole, %c4 : index
  %t = memref.get_global @table : memref<4xf8E4M3FN>
  %v = vector.broadcast %s : f8E4M3FN to vector<4xf8E4M3FN>
  %k = vector.load %t[%c0] : memref<4xf8E4M3FN>, vector<4xf8E4M3FN>
  %kw = arith.extf %k : vector<4xf8E4M3FN> to vector<4xf32>
  scf.for %i = %c0 to %end step %c4 {
    %a = vector.load %x[%i] : memref<?xf8E4M3FN>, vector<4xf8E4M3FN>
    %p = arith.mulf %a, %v : vector<4xf8E4M3FN>
    vector.store %p, %x[%i] : memref<?xf8E4M3FN>, vector<4xf8E4M3FN>
    %w = arith.extf %p : vector<4xf8E4M3FN> to vector<4xf32>
    %q = arith.addf %w, %kw : vector<4xf32>
    vector.store %q, %y[%i] : memref<?xf32>, vector<4xf32>
  }
  scf.for %i = %end to %n step %c1 {
    %a = memref.load %x[%i] : memref<?xf8E4M3FN>
    %p = arith.mulf %a, %s : f8E4M3FN
    memref.store %p, %x[%i] : memref<?xf8E4M3FN>
  }
  return
}
