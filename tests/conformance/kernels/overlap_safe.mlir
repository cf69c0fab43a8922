// The same memory is read and written through one memref, shifted by one.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 5xf32=1 2 3 4 5
// EXPECT: arg[0]: 5xf32=[1, 1, 2, 2, 3]
// CASE:
// INPUT: 103xf32=rnd:1

func.func @main(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  scf.for %i = %c1 to %n step %c1 {
    %j = arith.subi %i, %c1 : index
    %a = memref.load %x[%j] : memref<?xf32>
    %b = memref.load %x[%i] : memref<?xf32>
    %s = arith.subf %b, %a : f32
    memref.store %s, %x[%i] : memref<?xf32>
  }
  return
}
