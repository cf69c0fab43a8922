// Affine maps in bounds and subscripts, affine.if, affine.min and affine.apply.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 10xi32=0 1 2 3 4 5 6 7 8 9
// INPUT: 10xi32=-1
// EXPECT: arg[0]: 10xi32=[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
// EXPECT: arg[1]: 10xi32=[-1, -1, -1, -1, -1, 5, 5, 4, 2, 1]
// CASE:
// INPUT: 11xi32=rnd:1
// INPUT: 11xi32=0

#inside = affine_set<(i) : (i - 2 >= 0)>
func.func @main(%x: memref<?xi32>, %y: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xi32>
  affine.for %i = 0 to affine_map<(d0) -> (d0 floordiv 2)>(%n) {
    %j = affine.apply affine_map<(d0)[s0] -> (s0 - d0 - 1)>(%i)[%n]
    %k = affine.min affine_map<(d0) -> (d0 * 2, 5)>(%i)
    %v = memref.load %x[%k] : memref<?xi32>
    affine.if #inside(%i) {
      memref.store %v, %y[%j] : memref<?xi32>
    } else {
      %w = affine.load %x[%i + 1] : memref<?xi32>
      memref.store %w, %y[%j] : memref<?xi32>
    }
  }
  return
}
