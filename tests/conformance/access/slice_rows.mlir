// Rows of an argument are read where they are: at a place that the call gives, of one matrix of a batch,
// and as the accumulators of a product.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// COUNT: copies=0 dispatches=2
// CASE:
// INPUT: 3x2x2xf32=1 2 3 4 5 6 7 8 9 10 11 12
// INPUT: index=2
// EXPECT: result[0]: 2x2xf32=[[192, 212], [234, 258]]
// EXPECT: result[1]: 2xf32=[14, 16]
// CASE:
// INPUT: 3x2x2xf32=rnd:1
// INPUT: index=0

func.func @main(%batch: tensor<3x2x2xf32>, %i: index) -> (tensor<2x2xf32>, tensor<2xf32>) {
  %a = tensor.extract_slice %batch[%i, 0, 0] [1, 2, 2] [1, 1, 1] : tensor<3x2x2xf32> to tensor<2x2xf32>
  %c = tensor.extract_slice %batch[0, 0, 0] [1, 2, 2] [1, 1, 1] : tensor<3x2x2xf32> to tensor<2x2xf32>
  %row = tensor.extract_slice %batch[1, 1, 0] [1, 1, 2] [1, 1, 1] : tensor<3x2x2xf32> to tensor<2xf32>
  %p = linalg.matmul ins(%a, %a : tensor<2x2xf32>, tensor<2x2xf32>) outs(%c : tensor<2x2xf32>)
      -> tensor<2x2xf32>
  %e = tensor.empty() : tensor<2xf32>
  %q = linalg.add ins(%row, %row : tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  return %p, %q : tensor<2x2xf32>, tensor<2xf32>
}
