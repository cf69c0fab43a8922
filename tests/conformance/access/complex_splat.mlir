// A splat of complex numbers, which no attribute holds as a scalar.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// COUNT: copies=0 allocations=2 dispatches=1
// CASE:
// INPUT: 2xf32=3 4
// EXPECT: result[0]: 2xf32=[4, 5]
// EXPECT: result[1]: 2xf32=[2, 2]

#id = affine_map<(i) -> (i)>
func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %c = arith.constant dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>
  %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<2xf32>) outs(%c : tensor<2xcomplex<f32>>) {
  ^bb0(%v: f32, %o: complex<f32>):
    %zero = arith.constant 0.0 : f32
    %w = complex.create %v, %zero : complex<f32>
    %s = complex.add %w, %o : complex<f32>
    linalg.yield %s : complex<f32>
  } -> tensor<2xcomplex<f32>>
  %e = tensor.empty() : tensor<2xf32>
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%z : tensor<2xcomplex<f32>>) outs(%e, %e : tensor<2xf32>, tensor<2xf32>) {
  ^bb0(%v: complex<f32>, %a: f32, %b: f32):
    %re = complex.re %v : complex<f32>
    %im = complex.im %v : complex<f32>
    linalg.yield %re, %im : f32, f32
  } -> (tensor<2xf32>, tensor<2xf32>)
  return %r#0, %r#1 : tensor<2xf32>, tensor<2xf32>
}
