// As subview_units_wrong, where the slice is written (llvm-project #184334).
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 1x2x2xf32=1 2 3 4
// INPUT: index=1
// INPUT: index=2
// EXPECT: result[0]: 1x2x2x2xf32=[[[[0, 0], [1, 2]], [[0, 0], [3, 4]]]]

func.func @main(%x: tensor<1x2x2xf32>, %one: index, %two: index) -> tensor<?x?x?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%one, %two, %two, %two) : tensor<?x?x?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %r = tensor.insert_slice %x into %z[0, 0, %one, 0] [1, 2, 1, 2] [1, 1, 1, 1]
      : tensor<1x2x2xf32> into tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}
