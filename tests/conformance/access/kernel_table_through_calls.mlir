// A constant table goes through a call, a view and a loop, and is only read.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// COUNT: copies=0 allocations=0 dispatches=0
// CASE:
// INPUT: index=3
// EXPECT: result[0]: f32=9
// CASE:
// INPUT: index=0
// EXPECT: result[0]: f32=0

memref.global "private" constant @table : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
func.func private @sum(%m: memref<3xf32, strided<[1], offset: 1>>, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero, %v = %m)
      -> (f32, memref<3xf32, strided<[1], offset: 1>>) {
    %x = memref.load %v[%i] : memref<3xf32, strided<[1], offset: 1>>
    %t = arith.addf %s, %x : f32
    scf.yield %t, %v : f32, memref<3xf32, strided<[1], offset: 1>>
  }
  return %r#0 : f32
}
func.func @main(%n: index) -> f32 {
  %g = memref.get_global @table : memref<4xf32>
  %v = memref.subview %g[1] [3] [1] : memref<4xf32> to memref<3xf32, strided<[1], offset: 1>>
  %r = func.call @sum(%v, %n) : (memref<3xf32, strided<[1], offset: 1>>, index) -> f32
  return %r : f32
}
