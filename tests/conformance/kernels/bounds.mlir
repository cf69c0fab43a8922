// A kernel whose temporary has a bounded size.
// RUN-FUNCTION: @reverse
// TOLERANCE: 0
// CASE:
// INPUT: 5xf32=[1, 2, 3, 4, 5]
// INPUT: 5xf32=0
// EXPECT: arg[1]: 5xf32=[5, 4, 3, 2, 1]
// CASE:
// INPUT: 1xf32=7
// INPUT: 1xf32=0
// CASE:
// INPUT: 32xf32=rnd:1
// INPUT: 32xf32=0

func.func @reverse(%x: memref<?xf32> {plim.bounds = [{min = 1, max = 32}]}, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %t = memref.alloc(%n) : memref<?xf32>
  %last = arith.subi %n, %c1 : index
  scf.for %i = %c0 to %n step %c1 {
    %j = arith.subi %last, %i : index
    %v = memref.load %x[%j] : memref<?xf32>
    memref.store %v, %t[%i] : memref<?xf32>
  }
  memref.copy %t, %y : memref<?xf32> to memref<?xf32>
  memref.dealloc %t : memref<?xf32>
  return
}
