// Extents that are all open, and something that reads the result in another order: what a workgroup keeps of it is made for all that it may
// take, and was 130 GiB.
// RUN-FUNCTION: @main
// CASE:
// INPUT: 3x25x16x5x65xi32=rnd:1
// INPUT: 7x5x5xi32=0
// INPUT: 3x7x8x1x65xi32=rnd:2
// INPUT: 8x65x3x1x7xi32=rnd:3
// CASE:
// INPUT: 1x19x9x11x65xi32=rnd:4
// INPUT: 7x5x5xi32=0
// INPUT: 1x1x1x3x65xi32=rnd:5
// INPUT: 1x65x1x3x1xi32=rnd:6

func.func @main(%image: tensor<?x?x?x?x65xi32>, %window: tensor<7x5x?xi32>, %least: tensor<?x?x?x?x65xi32>,
                %out: tensor<?x65x?x?x?xi32>) -> tensor<?x65x?x?x?xi32> {
  %r = linalg.pooling_ndhwc_min {strides = dense<[1, 1, 3]> : tensor<3xi64>, dilations = dense<[3, 2, 1]> : tensor<3xi64>}
      ins(%image, %window : tensor<?x?x?x?x65xi32>, tensor<7x5x?xi32>) outs(%least : tensor<?x?x?x?x65xi32>)
      -> tensor<?x?x?x?x65xi32>
  %one = arith.constant 1 : i32
  %q = linalg.generic {indexing_maps = [affine_map<(n, d, h, w, c) -> (n, d, h, w, c)>, affine_map<(n, d, h, w, c) -> (h, c, n, w, d)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%r : tensor<?x?x?x?x65xi32>) outs(%out : tensor<?x65x?x?x?xi32>) {
  ^bb0(%x: i32, %o: i32):
    %y = arith.addi %x, %one : i32
    linalg.yield %y : i32
  } -> tensor<?x65x?x?x?xi32>
  return %q : tensor<?x65x?x?x?xi32>
}
