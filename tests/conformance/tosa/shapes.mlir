// Reshape, transpose, slice, pad, concat, tile and reverse.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 2x3xf32=1 2 3 4 5 6
// EXPECT: result[0]: 3x2xf32=[[1, 2], [3, 4], [5, 6]]
// EXPECT: result[1]: 3x2xf32=[[1, 4], [2, 5], [3, 6]]
// EXPECT: result[2]: 1x2xf32=[[5, 6]]
// EXPECT: result[3]: 3x4xf32=[[7.5, 7.5, 7.5, 7.5], [1, 2, 3, 7.5], [4, 5, 6, 7.5]]
// EXPECT: result[4]: 4x3xf32=[[1, 2, 3], [4, 5, 6], [1, 2, 3], [4, 5, 6]]
// EXPECT: result[5]: 2x6xf32=[[1, 2, 3, 1, 2, 3], [4, 5, 6, 4, 5, 6]]
// EXPECT: result[6]: 2x3xf32=[[3, 2, 1], [6, 5, 4]]
// CASE:
// INPUT: 2x3xf32=rnd:1

func.func @main(%x: tensor<2x3xf32>)
    -> (tensor<3x2xf32>, tensor<3x2xf32>, tensor<1x2xf32>, tensor<3x4xf32>, tensor<4x3xf32>,
        tensor<2x6xf32>, tensor<2x3xf32>) {
  %shape = tosa.const_shape {values = dense<[3, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %start = tosa.const_shape {values = dense<[1, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %size = tosa.const_shape {values = dense<[1, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %padding = tosa.const_shape {values = dense<[1, 0, 0, 1]> : tensor<4xindex>}
      : () -> !tosa.shape<4>
  %multiples = tosa.const_shape {values = dense<[1, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %value = "tosa.const"() {values = dense<7.5> : tensor<1xf32>} : () -> tensor<1xf32>
  %a = tosa.reshape %x, %shape : (tensor<2x3xf32>, !tosa.shape<2>) -> tensor<3x2xf32>
  %b = tosa.transpose %x {perms = array<i32: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %c = tosa.slice %x, %start, %size
      : (tensor<2x3xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x2xf32>
  %d = tosa.pad %x, %padding, %value
      : (tensor<2x3xf32>, !tosa.shape<4>, tensor<1xf32>) -> tensor<3x4xf32>
  %e = tosa.concat %x, %x {axis = 0 : i32}
      : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %f = tosa.tile %x, %multiples : (tensor<2x3xf32>, !tosa.shape<2>) -> tensor<2x6xf32>
  %g = tosa.reverse %x {axis = 1 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %a, %b, %c, %d, %e, %f, %g
      : tensor<3x2xf32>, tensor<3x2xf32>, tensor<1x2xf32>, tensor<3x4xf32>, tensor<4x3xf32>,
        tensor<2x6xf32>, tensor<2x3xf32>
}
