// Six dimensions: a permutation and an addition.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 1x2x1x3x1x2xf32=1 2 3 4 5 6 7 8 9 10 11 12
// EXPECT: result[0]: 2x1x3x1x1x2xf32=[[[[[[2, 14]]], [[[6, 18]]], [[[10, 22]]]]], [[[[[4, 16]]], [[[8, 20]]], [[[12, 24]]]]]]
// CASE:
// INPUT: 2x3x4x1x3x5xf32=rnd:1

func.func @main(%x: tensor<?x?x?x?x?x?xf32>) -> tensor<?x?x?x?x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %0 = tensor.dim %x, %c0 : tensor<?x?x?x?x?x?xf32>
  %1 = tensor.dim %x, %c1 : tensor<?x?x?x?x?x?xf32>
  %2 = tensor.dim %x, %c2 : tensor<?x?x?x?x?x?xf32>
  %3 = tensor.dim %x, %c3 : tensor<?x?x?x?x?x?xf32>
  %4 = tensor.dim %x, %c4 : tensor<?x?x?x?x?x?xf32>
  %5 = tensor.dim %x, %c5 : tensor<?x?x?x?x?x?xf32>
  %e = tensor.empty(%5, %0, %3, %2, %4, %1) : tensor<?x?x?x?x?x?xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(a, b, c, d, e, f) -> (a, b, c, d, e, f)>,
                       affine_map<(a, b, c, d, e, f) -> (f, a, d, c, e, b)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<?x?x?x?x?x?xf32>) outs(%e : tensor<?x?x?x?x?x?xf32>) {
  ^bb0(%v: f32, %o: f32):
    %s = arith.addf %v, %v : f32
    linalg.yield %s : f32
  } -> tensor<?x?x?x?x?x?xf32>
  return %r : tensor<?x?x?x?x?x?xf32>
}
