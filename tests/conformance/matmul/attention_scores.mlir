// Queries times transposed keys per head, scaled: a four-dimensional contraction whose operands
// keep the head in the middle.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// CASE:
// INPUT: 1x2x1x2xf32=1 2 3 4
// INPUT: 1x2x1x2xf32=1 0 0 1
// EXPECT: result[0]: 1x1x2x2xf32=[[[[0.5, 1], [1.5, 2]]]]
// CASE:
// INPUT: 2x13x3x8xf32=rnd:1
// INPUT: 2x11x3x8xf32=rnd:2

func.func @main(%q: tensor<?x?x?x?xf32>, %k: tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %batch = tensor.dim %q, %c0 : tensor<?x?x?x?xf32>
  %rows = tensor.dim %q, %c1 : tensor<?x?x?x?xf32>
  %heads = tensor.dim %q, %c2 : tensor<?x?x?x?xf32>
  %columns = tensor.dim %k, %c1 : tensor<?x?x?x?xf32>
  %e = tensor.empty(%batch, %heads, %rows, %columns) : tensor<?x?x?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %s = linalg.generic {
      indexing_maps = [affine_map<(b, h, i, j, d) -> (b, i, h, d)>,
                       affine_map<(b, h, i, j, d) -> (b, j, h, d)>,
                       affine_map<(b, h, i, j, d) -> (b, h, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>) outs(%z : tensor<?x?x?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %a = arith.addf %acc, %p : f32
    linalg.yield %a : f32
  } -> tensor<?x?x?x?xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>,
                       affine_map<(b, h, i, j) -> (b, h, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s : tensor<?x?x?x?xf32>) outs(%e : tensor<?x?x?x?xf32>) {
  ^bb0(%x: f32, %o: f32):
    %v = arith.mulf %x, %scale : f32
    linalg.yield %v : f32
  } -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}
