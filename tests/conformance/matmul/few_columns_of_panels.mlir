// Memory for the panel of five columns and for the result with columns of zeros has one shape, and is two places.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// CASE:
// INPUT: 7x512xf32=rnd:1
// INPUT: 7x5xf32=rnd:2
// INPUT: 512x5xf32=rnd:3
// INPUT: 512x5xf32=rnd:4
// CASE:
// INPUT: 700x512xf32=rnd:1
// INPUT: 700x5xf32=rnd:2
// INPUT: 512x5xf32=rnd:3
// INPUT: 512x5xf32=rnd:4

func.func @main(%a: tensor<?x512xf32>, %b: tensor<?x5xf32>, %c: tensor<512x5xf32>, %e2: tensor<512x5xf32>) -> tensor<512x5xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%c : tensor<512x5xf32>) -> tensor<512x5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(n, k, m) -> (k, m)>, affine_map<(n, k, m) -> (k, n)>, affine_map<(n, k, m) -> (m, n)>], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : tensor<?x512xf32>, tensor<?x5xf32>) outs(%z : tensor<512x5xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  } -> tensor<512x5xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%r : tensor<512x5xf32>) outs(%e2 : tensor<512x5xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y1 = arith.addf %x, %x : f32
    linalg.yield %y1 : f32
  } -> tensor<512x5xf32>
  return %q : tensor<512x5xf32>
}
