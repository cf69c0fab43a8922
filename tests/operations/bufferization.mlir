// Between tensors and buffers.

// INPUT: 3xf32=1,2,3
// EXPECT: result[0]: 3xf32=[5, 2, 3]
// EXPECT: result[1]: 3xf32=[2, 4, 6]
func.func @alloc_tensor(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %five = arith.constant 5.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %c = bufferization.alloc_tensor() copy(%x) : tensor<?xf32>
  %r = tensor.insert %five into %c[%c0] : tensor<?xf32>
  %e = bufferization.alloc_tensor(%n) : tensor<?xf32>
  %s = linalg.add ins(%x, %x : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %r, %s : tensor<?xf32>, tensor<?xf32>
}

// Neither of the two may be written: then it does not matter whether they share their memory.
// INPUT: 3xf32=1,2,3
// EXPECT: result[0]: f32=1
func.func @clone(%x: memref<?xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c = bufferization.clone %x : memref<?xf32> to memref<?xf32>
  %v = memref.load %c[%c0] : memref<?xf32>
  memref.dealloc %c : memref<?xf32>
  return %v : f32
}

// INPUT: 3xf32=1,2,3
// INPUT: 3xf32=0
// EXPECT: arg[1]: 3xf32=[2, 4, 6]
func.func @materialize_in_destination(%x: memref<?xf32>, %z: memref<?xf32>) {
  %a = bufferization.to_tensor %x restrict : memref<?xf32> to tensor<?xf32>
  %b = arith.addf %a, %a : tensor<?xf32>
  bufferization.materialize_in_destination %b in restrict writable %z : (tensor<?xf32>, memref<?xf32>) -> ()
  return
}

// INPUT: 3xf32=1,2,3
// INPUT: 3xf32=0
// EXPECT: result[0]: 3xf32=[1, 2, 3]
func.func @materialize_in_tensor(%x: tensor<?xf32>, %z: tensor<?xf32>) -> tensor<?xf32> {
  %r = bufferization.materialize_in_destination %x in %z : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// INPUT: 3xf32=1,2,3
// EXPECT: result[0]: f32=2
func.func @to_buffer(%x: tensor<?xf32>) -> f32 {
  %c1 = arith.constant 1 : index
  %m = bufferization.to_buffer %x read_only : tensor<?xf32> to memref<?xf32>
  %v = memref.load %m[%c1] : memref<?xf32>
  return %v : f32
}

// INPUT: 3xf32=1,2,3
// EXPECT: result[0]: f32=4
func.func @dealloc_tensor(%x: tensor<?xf32>) -> f32 {
  %c1 = arith.constant 1 : index
  %r = arith.addf %x, %x : tensor<?xf32>
  %v = tensor.extract %r[%c1] : tensor<?xf32>
  bufferization.dealloc_tensor %r : tensor<?xf32>
  return %v : f32
}

// -----
// What is released is the compiler's to say.
// REFUSED: bufferization.dealloc: 'bufferization.dealloc' is not supported
func.func @main(%n: index, %c: i1) {
  %m = memref.alloc(%n) : memref<?xf32>
  bufferization.dealloc (%m : memref<?xf32>) if (%c)
  return
}

// -----
// REFUSED: bufferization.to_tensor: without 'restrict' it could share its memory with another tensor
func.func @main(%m: memref<?xf32>) -> tensor<?xf32> {
  %t = bufferization.to_tensor %m : memref<?xf32> to tensor<?xf32>
  return %t : tensor<?xf32>
}
