#loc = loc(unknown)
module @jit_f attributes {mhlo.num_partitions = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf32> {jax.buffer_donor = true} loc("x"), %arg1: tensor<3x4xf32>) -> (tensor<2x4xf32> {jax.result_info = ""}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<2xf32>) -> tensor<2x4xf32>
    %3 = stablehlo.pad %2, %cst, low = [0, -1], high = [0, 1], interior = [0, 0] : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
    %4 = call @f(%3) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    return %4 : tensor<2x4xf32> loc(#loc)
  }
  func.func private @f(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %c = stablehlo.constant dense<[0, 5]> : tensor<2xi32>
    %0 = stablehlo.slice %c [1:2] : (tensor<2xi32>) -> tensor<1xi32>
    %1 = stablehlo.reshape %0 : (tensor<1xi32>) -> tensor<i32>
    %2:2 = stablehlo.while(%iterArg = %1, %iterArg_0 = %arg0) : tensor<i32>, tensor<2x4xf32>
     cond {
      %3 = stablehlo.compare  GT, %iterArg, %1,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %3 = stablehlo.subtract %iterArg, %1 : tensor<i32>
      %4 = stablehlo.tanh %iterArg_0 : tensor<2x4xf32>
      stablehlo.return %3, %4 : tensor<i32>, tensor<2x4xf32>
    }
    return %2#1 : tensor<2x4xf32>
  }
}
