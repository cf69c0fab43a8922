// TOSA broadcasts extents of 1; arithmetic in a row.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-6
// CASE:
// INPUT: 2x3xf32=1 2 3 4 5 6
// INPUT: 1x3xf32=10 20 30
// INPUT: 2x1xf32=1 -1
// EXPECT: result[0]: 2x3xf32=[[10, 20, 30], [-18, -30, -42]]
// CASE:
// INPUT: 2x3xf32=rnd:1
// INPUT: 1x3xf32=rnd:2
// INPUT: 2x1xf32=rnd:3

func.func @main(%x: tensor<2x3xf32>, %row: tensor<1x3xf32>, %column: tensor<2x1xf32>)
    -> tensor<2x3xf32> {
  %shift = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %a = tosa.add %x, %row : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %b = tosa.mul %a, %column, %shift
      : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<1xi8>) -> tensor<2x3xf32>
  %c = tosa.sub %b, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %c : tensor<2x3xf32>
}
