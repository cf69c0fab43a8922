// A transposed view is no view to upstream's analysis of buffers: the memory behind it went to the next buffer.
// RUN-FUNCTION: @main
// CASE:
// INPUT: 2x3xf32=[[1, 2, 3], [4, 5, 6]]
// EXPECT: result[0]: 3x2xf32=[[1, 4], [2, 5], [3, 6]]

func.func @main(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %m = bufferization.to_buffer %x : tensor<2x3xf32> to memref<2x3xf32>
  %a = memref.alloc() : memref<2x3xf32>
  memref.copy %m, %a : memref<2x3xf32> to memref<2x3xf32>
  %t = memref.transpose %a (i, j) -> (j, i) : memref<2x3xf32> to memref<3x2xf32, strided<[1, 3]>>
  %b = memref.alloc() : memref<3x2xf32>
  memref.copy %t, %b : memref<3x2xf32, strided<[1, 3]>> to memref<3x2xf32>
  %r = bufferization.to_tensor %b restrict : memref<3x2xf32> to tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}
