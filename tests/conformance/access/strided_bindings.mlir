// Dispatches that read and write columns of memory with strides, which are copied to be dense: also where a
// result is added to what was there.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-6
// CASE:
// INPUT: 3x4xf32=1 2 3 4 5 6 7 8 9 10 11 12
// INPUT: 3x4xf32=100
// INPUT: 3x4xf32=1000
// EXPECT: arg[1]: 3x4xf32=[2, 100, 6, 100, 10, 100, 14, 100, 18, 100, 22, 100]
// EXPECT: arg[2]: 3x4xf32=[1000, 1001, 1000, 1003, 1000, 1005, 1000, 1007, 1000, 1009, 1000, 1011]
// CASE:
// INPUT: 0x4xf32=
// INPUT: 0x4xf32=
// INPUT: 0x4xf32=
// CASE:
// INPUT: 131x4xf32=rnd:1
// INPUT: 131x4xf32=rnd:2
// INPUT: 131x4xf32=rnd:3

#id = affine_map<(i, j) -> (i, j)>
#even = strided<[4, 2]>
#odd = strided<[4, 2], offset: 1>
func.func @main(%x: memref<?x4xf32>, %y: memref<?x4xf32>, %z: memref<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x4xf32>
  %xs = memref.subview %x[0, 0] [%n, 2] [1, 2] : memref<?x4xf32> to memref<?x2xf32, #even>
  %ys = memref.subview %y[0, 0] [%n, 2] [1, 2] : memref<?x4xf32> to memref<?x2xf32, #even>
  %zs = memref.subview %z[0, 1] [%n, 2] [1, 2] : memref<?x4xf32> to memref<?x2xf32, #odd>
  %xt = bufferization.to_tensor %xs restrict : memref<?x2xf32, #even> to tensor<?x2xf32>
  %zt = bufferization.to_tensor %zs restrict writable : memref<?x2xf32, #odd> to tensor<?x2xf32>
  %e = tensor.empty(%n) : tensor<?x2xf32>
  %0 = linalg.add ins(%xt, %xt : tensor<?x2xf32>, tensor<?x2xf32>) outs(%e : tensor<?x2xf32>)
      -> tensor<?x2xf32>
  bufferization.materialize_in_destination %0 in restrict writable %ys
      : (tensor<?x2xf32>, memref<?x2xf32, #even>) -> ()
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%xt : tensor<?x2xf32>) outs(%zt : tensor<?x2xf32>) {
  ^bb0(%v: f32, %o: f32):
    %s = arith.addf %v, %o : f32
    linalg.yield %s : f32
  } -> tensor<?x2xf32>
  bufferization.materialize_in_destination %1 in restrict writable %zs
      : (tensor<?x2xf32>, memref<?x2xf32, #odd>) -> ()
  return
}
