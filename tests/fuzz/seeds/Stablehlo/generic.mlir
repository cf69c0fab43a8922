"builtin.module"() <{sym_name = "m"}> ({
  "func.func"() <{function_type = (tensor<4x3xf32>, tensor<2x1xi32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<4x3xf32>), sym_name = "main"}> ({
  ^bb0(%arg0: tensor<4x3xf32>, %arg1: tensor<2x1xi32>, %arg2: tensor<2x3xf32>):
    %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<4x3xf32>, tensor<2x1xi32>) -> tensor<2x3xf32>
    %1 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %2 = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%2) : (tensor<f32>) -> ()
    }) : (tensor<4x3xf32>, tensor<2x1xi32>, tensor<2x3xf32>) -> tensor<4x3xf32>
    "func.return"(%0, %1) : (tensor<2x3xf32>, tensor<4x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
