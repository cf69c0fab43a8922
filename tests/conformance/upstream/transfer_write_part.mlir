// A vector written into a part of a tensor of more dimensions, whose first extents are no larger than the vector's: upstream's
// bufferization takes it for a write of all, and what is read of the rest is lost where the tensor gets memory of its own.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 1x3x4xf32=1 2 3 4 5 6 7 8 9 10 11 12
// EXPECT: result[0]: 1x3x4xf32=[[[0, 0, 0, 0], [0, 0, 0, 0], [9, 10, 11, 12]]]
// EXPECT: result[1]: 1x3x4xf32=[[[2, 4, 6, 8], [10, 12, 14, 16], [18, 20, 22, 24]]]

func.func @main(%x: tensor<1x3x4xf32>) -> (tensor<1x3x4xf32>, tensor<1x3x4xf32>) {
  %c0 = arith.constant 0 : index
  %zeros = arith.constant dense<0.0> : vector<2x4xf32>
  %e = tensor.empty() : tensor<1x3x4xf32>
  %w = vector.transfer_write %zeros, %x[%c0, %c0, %c0] {in_bounds = [true, true], permutation_map = affine_map<(a, b, c) -> (b, c)>}
      : vector<2x4xf32>, tensor<1x3x4xf32>
  %d = linalg.add ins(%x, %x : tensor<1x3x4xf32>, tensor<1x3x4xf32>) outs(%e : tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
  return %w, %d : tensor<1x3x4xf32>, tensor<1x3x4xf32>
}
