// Bytes counted into i32 bins: read, modify, write at data-dependent places.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 6xi8=0 1 1 -1 127 1
// INPUT: 256xi32=0
// EXPECT: arg[0]: 6xi8=[0, 1, 1, -1, 127, 1]
// CASE:
// INPUT: 1000xi8=rnd:1
// INPUT: 256xi32=1

func.func @main(%x: memref<?xi8>, %bins: memref<256xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %n = memref.dim %x, %c0 : memref<?xi8>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xi8>
    %k = arith.index_castui %v : i8 to index
    %old = memref.load %bins[%k] : memref<256xi32>
    %new = arith.addi %old, %one : i32
    memref.store %new, %bins[%k] : memref<256xi32>
  }
  return
}
