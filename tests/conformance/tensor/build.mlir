// from_elements, splat and generate; a tensor of rank 0 from a scalar.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: f32=2
// INPUT: index=3
// CASE:
// INPUT: f32=-0.5
// INPUT: index=17
// CASE:
// INPUT: f32=1
// INPUT: index=0

func.func @main(%a: f32, %n: index) -> (tensor<3xf32>, tensor<2x2xf32>, tensor<?xf32>, tensor<f32>) {
  %b = arith.addf %a, %a : f32
  %c = arith.mulf %b, %a : f32
  %elements = tensor.from_elements %a, %b, %c : tensor<3xf32>
  %splat = tensor.splat %b : tensor<2x2xf32>
  %generated = tensor.generate %n {
  ^bb0(%i: index):
    %int = arith.index_cast %i : index to i32
    %float = arith.sitofp %int : i32 to f32
    %v = arith.mulf %float, %a : f32
    tensor.yield %v : f32
  } : tensor<?xf32>
  %scalar = tensor.from_elements %c : tensor<f32>
  return %elements, %splat, %generated, %scalar
      : tensor<3xf32>, tensor<2x2xf32>, tensor<?xf32>, tensor<f32>
}
