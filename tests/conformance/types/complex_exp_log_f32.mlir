// The exponential and the logarithms of complex numbers.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// CASE:
// INPUT: 4xf32=1 -3 0.25 -0.5
// INPUT: 4xf32=2 0.5 -4 -0.125
// EXPECT: result[0]: 4xf32=[-1.13120438, 0.043692263, -0.839295023, 0.601798306]
// EXPECT: result[1]: 4xf32=[2.47172667, 0.0238691921, 0.971753639, -0.0756190483]
// EXPECT: result[2]: 4xf32=[-2.13120438, -0.956307737, -1.83929502, -0.398201694]
// EXPECT: result[3]: 4xf32=[2.47172667, 0.0238691921, 0.971753639, -0.0756190483]
// EXPECT: result[4]: 4xf32=[0.804718956, 1.11231178, 1.38824368, -0.66283487]
// EXPECT: result[5]: 4xf32=[1.10714872, 2.97644398, -1.50837752, -2.89661399]
// EXPECT: result[6]: 4xf32=[1.03972077, 0.723459491, 1.43288297, -0.66283487]
// EXPECT: result[7]: 4xf32=[0.785398163, 2.89661399, -1.26791146, -0.244978663]
// CASE:
// INPUT: 131xf32=rnd:1
// INPUT: 131xf32=rnd:2

#id = affine_map<(i) -> (i)>
!t = tensor<?xf32>

func.func @main(%re: !t, %im: !t)
    -> (!t, !t, !t, !t, !t, !t, !t, !t) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %re, %c0 : !t
  %e = tensor.empty(%n) : !t
  %r:8 = linalg.generic {
      indexing_maps = [#id, #id, #id, #id, #id, #id, #id, #id, #id, #id],
      iterator_types = ["parallel"]}
      ins(%re, %im : !t, !t)
      outs(%e, %e, %e, %e, %e, %e, %e, %e :
           !t, !t, !t, !t, !t, !t, !t, !t) {
  ^bb0(%x: f32, %y: f32, %o0: f32, %o1: f32, %o2: f32, %o3: f32, %o4: f32, %o5: f32, %o6: f32, %o7: f32):
    %z = complex.create %x, %y : complex<f32>
    %f0 = complex.exp %z : complex<f32>
    %a0 = complex.re %f0 : complex<f32>
    %b0 = complex.im %f0 : complex<f32>
    %f1 = complex.expm1 %z : complex<f32>
    %a1 = complex.re %f1 : complex<f32>
    %b1 = complex.im %f1 : complex<f32>
    %f2 = complex.log %z : complex<f32>
    %a2 = complex.re %f2 : complex<f32>
    %b2 = complex.im %f2 : complex<f32>
    %f3 = complex.log1p %z : complex<f32>
    %a3 = complex.re %f3 : complex<f32>
    %b3 = complex.im %f3 : complex<f32>
    linalg.yield %a0, %b0, %a1, %b1, %a2, %b2, %a3, %b3 : f32, f32, f32, f32, f32, f32, f32, f32
  } -> (!t, !t, !t, !t, !t, !t, !t, !t)
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7
      : !t, !t, !t, !t, !t, !t, !t, !t
}
