// Rows of a batch that share a matrix, where there are none, or nothing to sum.
// RUN-FUNCTION: @main
// CASE:
// INPUT: 0x2x0xf32=[]
// INPUT: 0x3xf32=[]
// INPUT: 0x2x3xf32=[]
// EXPECT: result[0]: 0x2x3xf32=[]
#a = affine_map<(b, m, n, k) -> (b, m, k)>
#b = affine_map<(b, m, n, k) -> (k, n)>
#c = affine_map<(b, m, n, k) -> (b, m, n)>
func.func @main(%x: tensor<0x?x0xf32>, %w: tensor<0x3xf32>, %c: tensor<0x?x3xf32>) -> tensor<0x?x3xf32> {
  %r = linalg.generic {indexing_maps = [#a, #b, #c],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<0x?x0xf32>, tensor<0x3xf32>) outs(%c : tensor<0x?x3xf32>) {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %s, %t : f32
    linalg.yield %u : f32
  } -> tensor<0x?x3xf32>
  return %r : tensor<0x?x3xf32>
}
