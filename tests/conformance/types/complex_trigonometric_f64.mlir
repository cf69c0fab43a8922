// Trigonometric functions of complex numbers.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-12
// CASE:
// INPUT: 4xf64=1 -3 0.25 -0.5
// INPUT: 4xf64=2 0.5 -4 -0.125
// EXPECT: result[0]: 4xf64=[3.16577851321617, -0.15913058529844, 6.75616492387485, -0.483175930134122]
// EXPECT: result[1]: 4xf64=[1.95960104142161, -0.515880442452527, -26.441539759752, -0.109983714906995]
// EXPECT: result[2]: 4xf64=[2.03272300701967, -1.11634124452615, 26.4592860097829, 0.884447607537503]
// EXPECT: result[3]: 4xf64=[-3.0518977991518, 0.0735369737112366, 6.7516335622975, -0.0600843772959611]
// EXPECT: result[4]: 4xf64=[0.0338128260798967, 0.111621050771583, 0.000321469387249423, -0.535383811681596]
// EXPECT: result[5]: 4xf64=[1.01479361614663, 0.469469993425885, -0.999411329295851, -0.160723955421174]
// EXPECT: result[6]: 4xf64=[1.16673625724092, -0.997316365283202, 0.530578909317791, -0.467836163237297]
// EXPECT: result[7]: 4xf64=[-0.243458201185725, 0.00416042659289383, -1.00736393877241, -0.0984891095187521]
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
    %f0 = complex.sin %z : complex<f64>
    %a0 = complex.re %f0 : complex<f64>
    %b0 = complex.im %f0 : complex<f64>
    %f1 = complex.cos %z : complex<f64>
    %a1 = complex.re %f1 : complex<f64>
    %b1 = complex.im %f1 : complex<f64>
    %f2 = complex.tan %z : complex<f64>
    %a2 = complex.re %f2 : complex<f64>
    %b2 = complex.im %f2 : complex<f64>
    %f3 = complex.tanh %z : complex<f64>
    %a3 = complex.re %f3 : complex<f64>
    %b3 = complex.im %f3 : complex<f64>
    linalg.yield %a0, %b0, %a1, %b1, %a2, %b2, %a3, %b3 : f64, f64, f64, f64, f64, f64, f64, f64
  } -> (!t, !t, !t, !t, !t, !t, !t, !t)
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7
      : !t, !t, !t, !t, !t, !t, !t, !t
}
