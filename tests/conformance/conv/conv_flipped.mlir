// Windows that are read backwards, and behind a border: an index with a negative factor and a constant.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-4
// CASE:
// INPUT: 1x9x21x24xf32=rnd:1
// INPUT: 3x3x24x32xf32=rnd:2
// INPUT: 1x6x18x32xf32=rnd:3

#image = affine_map<(n, h, w, f, y, x, c) -> (n, h - y + 3, w + x + 1, c)>
#filter = affine_map<(n, h, w, f, y, x, c) -> (y, x, c, f)>
#result = affine_map<(n, h, w, f, y, x, c) -> (n, h, w, f)>
func.func @main(%image: tensor<1x9x21x24xf32>, %filter: tensor<3x3x24x32xf32>, %start: tensor<1x6x18x32xf32>)
    -> tensor<1x6x18x32xf32> {
  %r = linalg.generic {indexing_maps = [#image, #filter, #result],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%image, %filter : tensor<1x9x21x24xf32>, tensor<3x3x24x32xf32>) outs(%start : tensor<1x6x18x32xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  } -> tensor<1x6x18x32xf32>
  return %r : tensor<1x6x18x32xf32>
}
