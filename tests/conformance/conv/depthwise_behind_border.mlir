// A depthwise convolution in a rare order of dimensions, behind a border, of which only the call knows the batch; the rows of
// its last tile are fewer.
// RUN-FUNCTION: @main
// CASE:
// INPUT: 7x36x24x3x1xi32=rnd:1
// INPUT: 1x3x2x24xi32=rnd:2
// INPUT: 1x7x2x33x24xi32=rnd:3

#image = affine_map<(z, n, c, x, d, y, h, w) -> (w + x, h + y + 1, c, d + z, n)>
#filter = affine_map<(z, n, c, x, d, y, h, w) -> (x, y, z, c)>
#result = affine_map<(z, n, c, x, d, y, h, w) -> (n, w, d, h, c)>
func.func @main(%image: tensor<7x36x24x3x?xi32>, %filter: tensor<1x3x2x24xi32>, %start: tensor<?x7x2x33x24xi32>)
    -> tensor<?x7x2x33x24xi32> {
  %r = linalg.generic {indexing_maps = [#image, #filter, #result],
                       iterator_types = ["reduction", "parallel", "parallel", "reduction", "parallel", "reduction", "parallel", "parallel"]}
      ins(%image, %filter : tensor<7x36x24x3x?xi32>, tensor<1x3x2x24xi32>) outs(%start : tensor<?x7x2x33x24xi32>) {
  ^bb0(%a: i32, %b: i32, %sum: i32):
    %p = arith.muli %a, %b : i32
    %s = arith.addi %sum, %p : i32
    linalg.yield %s : i32
  } -> tensor<?x7x2x33x24xi32>
  return %r : tensor<?x7x2x33x24xi32>
}
