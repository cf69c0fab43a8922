// Roots, conjugates and directions of complex numbers.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-12
// CASE:
// INPUT: 4xf64=1 -3 0.25 -0.5
// INPUT: 4xf64=2 0.5 -4 -0.125
// EXPECT: result[0]: 4xf64=[1.27201964951407, 0.143842387961807, 1.45907588655806, 0.0877160281881469]
// EXPECT: result[1]: 4xf64=[0.786151377757423, 1.73801341553354, -1.37073062369496, -0.712526562031974]
// EXPECT: result[2]: 4xf64=[0.568864481005783, 0.0472950858250107, 0.364058612695368, 0.170194093778535]
// EXPECT: result[3]: 4xf64=[-0.351577584254143, -0.571455290873678, 0.342015308346053, 1.38250460061931]
// EXPECT: result[4]: 4xf64=[0.447213595499958, -0.986393923832144, 0.0623782861551805, -0.970142500145332]
// EXPECT: result[5]: 4xf64=[0.894427190999916, 0.164398987305357, -0.998052578482889, -0.242535625036333]
// EXPECT: result[6]: 4xf64=[1, -3, 0.25, -0.5]
// EXPECT: result[7]: 4xf64=[-2, -0.5, 4, 0.125]
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
    %f0 = complex.sqrt %z : complex<f64>
    %a0 = complex.re %f0 : complex<f64>
    %b0 = complex.im %f0 : complex<f64>
    %f1 = complex.rsqrt %z : complex<f64>
    %a1 = complex.re %f1 : complex<f64>
    %b1 = complex.im %f1 : complex<f64>
    %f2 = complex.sign %z : complex<f64>
    %a2 = complex.re %f2 : complex<f64>
    %b2 = complex.im %f2 : complex<f64>
    %f3 = complex.conj %z : complex<f64>
    %a3 = complex.re %f3 : complex<f64>
    %b3 = complex.im %f3 : complex<f64>
    linalg.yield %a0, %b0, %a1, %b1, %a2, %b2, %a3, %b3 : f64, f64, f64, f64, f64, f64, f64, f64
  } -> (!t, !t, !t, !t, !t, !t, !t, !t)
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7
      : !t, !t, !t, !t, !t, !t, !t, !t
}
