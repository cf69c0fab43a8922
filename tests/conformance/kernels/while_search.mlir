// scf.while in a kernel: the first position past a sum, or the length.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 5xf32=1 2 3 4 5
// INPUT: f32=5.5
// EXPECT: result[0]: index=3
// EXPECT: result[1]: f32=6
// CASE:
// INPUT: 5xf32=1 2 3 4 5
// INPUT: f32=100
// EXPECT: result[0]: index=5
// EXPECT: result[1]: f32=15
// CASE:
// INPUT: 0xf32=[]
// INPUT: f32=1
// EXPECT: result[0]: index=0
// EXPECT: result[1]: f32=0

func.func @main(%x: memref<?xf32>, %limit: f32) -> (index, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : memref<?xf32>
  %r:2 = scf.while (%i = %c0, %sum = %zero) : (index, f32) -> (index, f32) {
    %in = arith.cmpi ult, %i, %n : index
    %low = arith.cmpf ole, %sum, %limit : f32
    %go = arith.andi %in, %low : i1
    scf.condition(%go) %i, %sum : index, f32
  } do {
  ^bb0(%i: index, %sum: f32):
    %v = memref.load %x[%i] : memref<?xf32>
    %s = arith.addf %sum, %v : f32
    %next = arith.addi %i, %c1 : index
    scf.yield %next, %s : index, f32
  }
  return %r#0, %r#1 : index, f32
}
