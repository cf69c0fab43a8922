// A value of which less is known where it is used than where it is made: upstream folds the widening into every
// operation with destinations, plim.dispatch too, which then hands its kernel fewer extents than it takes
// (FoldTensorCastProducerOp, in the canonicalisation patterns of the tensor dialect).
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: index=1
// INPUT: index=4
// EXPECT: result[0]: 2x4xf32=[[0, 0, 0, 0], [1, 1, 1, 1]]
// CASE:
// INPUT: index=2
// INPUT: index=4
// EXPECT: result[0]: 2x4xf32=[[0, 0, 0, 0], [0, 0, 0, 0]]

func.func @main(%n: index, %m: index) -> tensor<2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e0 = tensor.empty(%n) : tensor<?x4xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<?x4xf32>) -> tensor<?x4xf32>
  %d0 = tensor.cast %f0 : tensor<?x4xf32> to tensor<?x?xf32>
  %e = tensor.empty() : tensor<2x4xf32>
  %f = linalg.fill ins(%one : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %r = tensor.insert_slice %d0 into %f[0, 0] [%n, %m] [1, 1] : tensor<?x?xf32> into tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}
