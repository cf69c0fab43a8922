// A kernel that reads its memrefs as tensors and writes the result back.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-6
// CASE:
// INPUT: 3xf32=1 2 3
// INPUT: 3xf32=0
// EXPECT: arg[0]: 3xf32=[1, 2, 3]
// EXPECT: arg[1]: 3xf32=[1, 4, 9]
// CASE:
// INPUT: 211xf32=rnd:1
// INPUT: 211xf32=0

func.func @main(%x: memref<?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %t = bufferization.to_tensor %x restrict : memref<?xf32> to tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %p = linalg.mul ins(%t, %t : tensor<?xf32>, tensor<?xf32>)
      outs(%e : tensor<?xf32>) -> tensor<?xf32>
  bufferization.materialize_in_destination %p in restrict writable %y
      : (tensor<?xf32>, memref<?xf32>) -> ()
  return
}
