// Two views of one buffer that share no byte: one is read, one is written.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// COUNT: copies=0 allocations=0 dispatches=0
// CASE:
// INPUT: 8xf32=1 2 3 4 0 0 0 0
// EXPECT: arg[0]: 8xf32=[1, 2, 3, 4, 2, 4, 6, 8]

func.func @main(%m: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %low = memref.subview %m[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  %high = memref.subview %m[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  scf.for %i = %c0 to %c4 step %c1 {
    %v = memref.load %low[%i] : memref<4xf32, strided<[1]>>
    %s = arith.addf %v, %v : f32
    memref.store %s, %high[%i] : memref<4xf32, strided<[1], offset: 4>>
  }
  return
}
