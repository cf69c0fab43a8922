// Subviews with strides inside the kernel; the arguments themselves are dense.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 4x4xf32=1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
// INPUT: 2x2xf32=0
// EXPECT: arg[0]: 4x4xf32=[[1, 2, 3, 4], [0, 6, 0, 8], [0, 10, 0, 12], [13, 14, 15, 16]]
// EXPECT: arg[1]: 2x2xf32=[[10, 14], [18, 22]]
// CASE:
// INPUT: 4x4xf32=rnd:1
// INPUT: 2x2xf32=0

!view = memref<2x2xf32, strided<[4, 2], offset: 4>>

func.func @main(%x: memref<4x4xf32>, %y: memref<2x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %s = memref.subview %x[1, 0] [2, 2] [1, 2] : memref<4x4xf32> to !view
  linalg.add ins(%s, %s : !view, !view)
      outs(%y : memref<2x2xf32>)
  linalg.fill ins(%zero : f32) outs(%s : !view)
  return
}
