// Every second element is read, the others are written.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// COUNT: copies=0 allocations=0 dispatches=0
// CASE:
// INPUT: 8xf32=1 0 2 0 3 0 4 0
// EXPECT: arg[0]: 8xf32=[1, 1, 2, 3, 3, 6, 4, 10]

func.func @main(%m: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %even = memref.subview %m[0] [4] [2] : memref<8xf32> to memref<4xf32, strided<[2]>>
  %odd = memref.subview %m[1] [4] [2] : memref<8xf32> to memref<4xf32, strided<[2], offset: 1>>
  %sum = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %zero) -> f32 {
    %v = memref.load %even[%i] : memref<4xf32, strided<[2]>>
    %t = arith.addf %s, %v : f32
    memref.store %t, %odd[%i] : memref<4xf32, strided<[2], offset: 1>>
    scf.yield %t : f32
  }
  return
}
