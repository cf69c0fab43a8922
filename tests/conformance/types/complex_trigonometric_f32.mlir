// Trigonometric functions of complex numbers.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// CASE:
// INPUT: 4xf32=1 -3 0.25 -0.5
// INPUT: 4xf32=2 0.5 -4 -0.125
// EXPECT: result[0]: 4xf32=[3.16577851, -0.159130585, 6.75616492, -0.48317593]
// EXPECT: result[1]: 4xf32=[1.95960104, -0.515880442, -26.4415398, -0.109983715]
// EXPECT: result[2]: 4xf32=[2.03272301, -1.11634124, 26.459286, 0.884447608]
// EXPECT: result[3]: 4xf32=[-3.0518978, 0.0735369737, 6.75163356, -0.0600843773]
// EXPECT: result[4]: 4xf32=[0.0338128261, 0.111621051, 0.000321469387, -0.535383812]
// EXPECT: result[5]: 4xf32=[1.01479362, 0.469469993, -0.999411329, -0.160723955]
// EXPECT: result[6]: 4xf32=[1.16673626, -0.997316365, 0.530578909, -0.467836163]
// EXPECT: result[7]: 4xf32=[-0.243458201, 0.00416042659, -1.00736394, -0.0984891095]
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
    %f0 = complex.sin %z : complex<f32>
    %a0 = complex.re %f0 : complex<f32>
    %b0 = complex.im %f0 : complex<f32>
    %f1 = complex.cos %z : complex<f32>
    %a1 = complex.re %f1 : complex<f32>
    %b1 = complex.im %f1 : complex<f32>
    %f2 = complex.tan %z : complex<f32>
    %a2 = complex.re %f2 : complex<f32>
    %b2 = complex.im %f2 : complex<f32>
    %f3 = complex.tanh %z : complex<f32>
    %a3 = complex.re %f3 : complex<f32>
    %b3 = complex.im %f3 : complex<f32>
    linalg.yield %a0, %b0, %a1, %b1, %a2, %b2, %a3, %b3 : f32, f32, f32, f32, f32, f32, f32, f32
  } -> (!t, !t, !t, !t, !t, !t, !t, !t)
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7
      : !t, !t, !t, !t, !t, !t, !t, !t
}
