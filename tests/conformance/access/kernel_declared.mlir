// A kernel that keeps what its author declares.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// COUNT: copies=0 allocations=0 dispatches=0
// CASE:
// INPUT: 3xf32=1 2 3
// INPUT: 3xf32=0
// INPUT: 3xf32=10 20 30
// EXPECT: arg[0]: 3xf32=[1, 2, 3]
// EXPECT: arg[1]: 3xf32=[1, 4, 9]
// EXPECT: arg[2]: 3xf32=[11, 22, 33]

func.func @main(%x: memref<?xf32> {plim.access = #plim.access<readonly>},
                %square: memref<?xf32> {plim.access = #plim.access<writeonly>},
                %sum: memref<?xf32> {plim.access = #plim.access<readwrite>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %p = arith.mulf %v, %v : f32
    memref.store %p, %square[%i] : memref<?xf32>
    %o = memref.load %sum[%i] : memref<?xf32>
    %s = arith.addf %v, %o : f32
    memref.store %s, %sum[%i] : memref<?xf32>
  }
  return
}
