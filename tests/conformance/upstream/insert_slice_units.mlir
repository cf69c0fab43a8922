// A slice of fewer dimensions inserted with constant sizes that are operands: which dimension it lacks is guessed
// anew, leading ones first, and the module is refused or rows are misread (llvm-project #217361,
// InsertSliceOpConstantArgumentFolder).
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 1x2x2xf32=1 2 3 4
// EXPECT: result[0]: 1x2x1x2xf32=[[[[1, 2]], [[3, 4]]]]
// EXPECT: result[1]: 1x2x1x2xf32=[[[[1, 2]], [[3, 4]]]]

func.func @main(%x: tensor<1x?x?xf32>) -> (tensor<1x2x1x2xf32>, tensor<1x?x1x?xf32>) {
  %c2 = arith.constant 2 : index
  %z = arith.constant dense<0.0> : tensor<1x2x1x2xf32>
  %a = tensor.insert_slice %x into %z[0, 0, 0, 0] [1, %c2, 1, %c2] [1, 1, 1, 1]
      : tensor<1x?x?xf32> into tensor<1x2x1x2xf32>
  %w = tensor.cast %z : tensor<1x2x1x2xf32> to tensor<1x?x1x?xf32>
  %b = tensor.insert_slice %x into %w[0, 0, 0, 0] [1, %c2, 1, %c2] [1, 1, 1, 1]
      : tensor<1x?x?xf32> into tensor<1x?x1x?xf32>
  return %a, %b : tensor<1x2x1x2xf32>, tensor<1x?x1x?xf32>
}
