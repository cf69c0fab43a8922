// The exponential and the logarithms of complex numbers.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-12
// CASE:
// INPUT: 4xf64=1 -3 0.25 -0.5
// INPUT: 4xf64=2 0.5 -4 -0.125
// EXPECT: result[0]: 4xf64=[-1.13120438375681, 0.0436922630072812, -0.839295022644683, 0.601798305669941]
// EXPECT: result[1]: 4xf64=[2.47172667200482, 0.0238691920677875, 0.971753639388085, -0.0756190482896388]
// EXPECT: result[2]: 4xf64=[-2.13120438375681, -0.956307736992719, -1.83929502264468, -0.398201694330059]
// EXPECT: result[3]: 4xf64=[2.47172667200482, 0.0238691920677875, 0.971753639388085, -0.0756190482896388]
// EXPECT: result[4]: 4xf64=[0.80471895621705, 1.11231177576217, 1.38824368132772, -0.662834869651728]
// EXPECT: result[5]: 4xf64=[1.10714871779409, 2.97644397617517, -1.50837751679894, -2.89661399046293]
// EXPECT: result[6]: 4xf64=[1.03972077083992, 0.723459491468163, 1.43288297354698, -0.662834869651728]
// EXPECT: result[7]: 4xf64=[0.785398163397448, 2.89661399046293, -1.26791145841993, -0.244978663126864]
// CASE:
// INPUT: 131xf64=rnd:1
// INPUT: 131xf64=rnd:2

#id = affine_map<(i) -> (i)>
!t = tensor<?xf64>

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
  ^bb0(%x: f64, %y: f64, %o0: f64, %o1: f64, %o2: f64, %o3: f64, %o4: f64, %o5: f64, %o6: f64, %o7: f64):
    %z = complex.create %x, %y : complex<f64>
    %f0 = complex.exp %z : complex<f64>
    %a0 = complex.re %f0 : complex<f64>
    %b0 = complex.im %f0 : complex<f64>
    %f1 = complex.expm1 %z : complex<f64>
    %a1 = complex.re %f1 : complex<f64>
    %b1 = complex.im %f1 : complex<f64>
    %f2 = complex.log %z : complex<f64>
    %a2 = complex.re %f2 : complex<f64>
    %b2 = complex.im %f2 : complex<f64>
    %f3 = complex.log1p %z : complex<f64>
    %a3 = complex.re %f3 : complex<f64>
    %b3 = complex.im %f3 : complex<f64>
    linalg.yield %a0, %b0, %a1, %b1, %a2, %b2, %a3, %b3 : f64, f64, f64, f64, f64, f64, f64, f64
  } -> (!t, !t, !t, !t, !t, !t, !t, !t)
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7
      : !t, !t, !t, !t, !t, !t, !t, !t
}
