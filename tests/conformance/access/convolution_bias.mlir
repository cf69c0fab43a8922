// A convolution whose accumulators start from a table, one row for each channel.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// COUNT: copies=0 allocations=1 dispatches=2 kernels=2
// CASE:
// INPUT: 1x5x5x2xf32=rnd:1
// INPUT: 3x3x2x4xf32=rnd:2

func.func @main(%x: tensor<1x5x5x2xf32>, %k: tensor<3x3x2x4xf32>) -> tensor<1x3x3x4xf32> {
  %bias = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %e = tensor.empty() : tensor<1x3x3x4xf32>
  %b = linalg.broadcast ins(%bias : tensor<4xf32>) outs(%e : tensor<1x3x3x4xf32>) dimensions = [0, 1, 2]
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %k : tensor<1x5x5x2xf32>, tensor<3x3x2x4xf32>)
                                outs(%b : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  return %r : tensor<1x3x3x4xf32>
}
