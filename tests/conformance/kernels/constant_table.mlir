// A constant memref of the module, read at positions given by data.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 4xi32=3 0 1 1
// INPUT: 4xf32=0
// EXPECT: arg[1]: 4xf32=[8, 0.5, 1.5, 1.5]
// CASE:
// INPUT: 2xi32=2
// INPUT: 2xf32=0
// EXPECT: arg[1]: 2xf32=[-2.5, -2.5]

memref.global "private" constant @table : memref<4xf32> = dense<[0.5, 1.5, -2.5, 8.0]>

func.func @main(%where: memref<?xi32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = memref.get_global @table : memref<4xf32>
  %n = memref.dim %where, %c0 : memref<?xi32>
  scf.for %i = %c0 to %n step %c1 {
    %k = memref.load %where[%i] : memref<?xi32>
    %j = arith.index_cast %k : i32 to index
    %v = memref.load %t[%j] : memref<4xf32>
    memref.store %v, %y[%i] : memref<?xf32>
  }
  return
}
