// from_elements, splat and generate; a tensor of rank 0 from a scalar.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: f32=2
// INPUT: index=3
// EXPECT: result[0]: 3xf32=[2, 4, 8]
// EXPECT: result[1]: 2x2xf32=[[4, 4], [4, 4]]
// EXPECT: result[2]: 3xf32=[0, 2, 4]
// EXPECT: result[3]: f32=8
// CASE:
// INPUT: f32=-0.5
// INPUT: index=17
// EXPECT: result[0]: 3xf32=[-0.5, -1, 0.5]
// EXPECT: result[1]: 2x2xf32=[[-1, -1], [-1, -1]]
// EXPECT: result[2]: 17xf32=[-0, -0.5, -1, -1.5, -2, -2.5, -3, -3.5, -4, -4.5, -5, -5.5, -6, -6.5, -7, -7.5, -8]
// EXPECT: result[3]: f32=0.5
// CASE:
// INPUT: f32=1
// INPUT: index=0
// EXPECT: result[0]: 3xf32=[1, 2, 2]
// EXPECT: result[1]: 2x2xf32=[[2, 2], [2, 2]]
// EXPECT: result[2]: 0xf32=[]
// EXPECT: result[3]: f32=2

func.func @main(%a: f32, %n: index)
    -> (tensor<3xf32>, tensor<2x2xf32>, tensor<?xf32>, tensor<f32>) {
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
