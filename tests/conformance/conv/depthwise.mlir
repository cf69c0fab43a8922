// A depthwise convolution: each channel has a filter of its own.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// CASE:
// INPUT: 1x3x3x1xf32=1 2 3 4 5 6 7 8 9
// INPUT: 2x2x1xf32=1 2 3 4
// EXPECT: result[0]: 1x2x2x1xf32=[[[[37], [47]], [[67], [77]]]]
// CASE:
// INPUT: 2x9x11x19xf32=rnd:1
// INPUT: 2x2x19xf32=rnd:2
// CASE:
// INPUT: 3x17x19x67xf32=rnd:5
// INPUT: 2x2x67xf32=rnd:6

func.func @main(%image: tensor<?x?x?x?xf32>, %filter: tensor<2x2x?xf32>) -> tensor<?x?x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %image, %c0 : tensor<?x?x?x?xf32>
  %h = tensor.dim %image, %c1 : tensor<?x?x?x?xf32>
  %w = tensor.dim %image, %c2 : tensor<?x?x?x?xf32>
  %c = tensor.dim %image, %c3 : tensor<?x?x?x?xf32>
  %oh = arith.subi %h, %c1 : index
  %ow = arith.subi %w, %c1 : index
  %e = tensor.empty(%n, %oh, %ow, %c) : tensor<?x?x?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %r = linalg.depthwise_conv_2d_nhwc_hwc
      ins(%image, %filter : tensor<?x?x?x?xf32>, tensor<2x2x?xf32>)
      outs(%z : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}
