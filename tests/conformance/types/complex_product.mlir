// Complex arithmetic inside a region; real and imaginary parts travel as separate tensors.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-6
// CASE:
// INPUT: 2xf32=1 2
// INPUT: 2xf32=3 -1
// EXPECT: result[0]: 2xf32=[7.5, 1]
// EXPECT: result[1]: 2xf32=[2.5, -5.5]
// CASE:
// INPUT: 211xf32=rnd:1
// INPUT: 211xf32=rnd:2

#id = affine_map<(i) -> (i)>
func.func @main(%re: tensor<?xf32>, %im: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %re, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %w = complex.constant [0.5 : f32, -2.0 : f32] : complex<f32>
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%re, %im : tensor<?xf32>, tensor<?xf32>) outs(%e, %e : tensor<?xf32>, tensor<?xf32>) {
  ^bb0(%x: f32, %y: f32, %p: f32, %q: f32):
    %z = complex.create %x, %y : complex<f32>
    %product = complex.mul %z, %w : complex<f32>
    %sum = complex.add %product, %z : complex<f32>
    %a = complex.re %sum : complex<f32>
    %b = complex.im %sum : complex<f32>
    linalg.yield %a, %b : f32, f32
  } -> (tensor<?xf32>, tensor<?xf32>)
  return %r#0, %r#1 : tensor<?xf32>, tensor<?xf32>
}
