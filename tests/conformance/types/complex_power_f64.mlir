// Magnitudes, angles, powers and comparisons of complex numbers. The magnitude does not overflow.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-12
// CASE:
// INPUT: 4xf64=1 -3 0.25 -0.5
// INPUT: 4xf64=2 0.5 -4 -0.125
// INPUT: 4xf64=0.5 2 -1.5 0
// INPUT: 4xf64=-1 0 0.25 1
// EXPECT: result[0]: 4xf64=[2.23606797749979, 3.04138126514911, 4.00780488547035, 0.515388203202208]
// EXPECT: result[1]: 4xf64=[1.10714871779409, 2.97644397617517, -1.50837751679894, -2.89661399046293]
// EXPECT: result[2]: 4xf64=[4.38256505986336, 8.75, -0.156611117596537, 14.2773621866688]
// EXPECT: result[3]: 4xf64=[-1.12439747736116, -3, 0.092175079668066, -11.145727913493]
// EXPECT: result[4]: 4xi1=[0, 0, 0, 0]
// CASE:
// INPUT: 1xf64=1e300
// INPUT: 1xf64=1e300
// INPUT: 1xf64=0
// INPUT: 1xf64=0
// EXPECT: result[0]: 1xf64=[1.4142135623730951e300]
// CASE:
// INPUT: 97xf64=rnd:1
// INPUT: 97xf64=rnd:2
// INPUT: 97xf64=rnd:3
// INPUT: 97xf64=rnd:4

#id = affine_map<(i) -> (i)>
!t = tensor<?xf64>

func.func @main(%re: !t, %im: !t, %ure: !t,
                %uim: !t)
    -> (!t, !t, !t, !t, tensor<?xi1>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %re, %c0 : !t
  %e = tensor.empty(%n) : !t
  %b = tensor.empty(%n) : tensor<?xi1>
  %r:5 = linalg.generic {
      indexing_maps = [#id, #id, #id, #id, #id, #id, #id, #id, #id],
      iterator_types = ["parallel"]}
      ins(%re, %im, %ure, %uim : !t, !t, !t, !t)
      outs(%e, %e, %e, %e, %b : !t, !t, !t, !t,
           tensor<?xi1>) {
  ^bb0(%x: f64, %y: f64, %u: f64, %v: f64, %o0: f64, %o1: f64, %o2: f64, %o3: f64, %o4: i1):
    %z = complex.create %x, %y : complex<f64>
    %w = complex.create %u, %v : complex<f64>
    %magnitude = complex.abs %z : complex<f64>
    %angle = complex.angle %z : complex<f64>
    %power = complex.pow %z, %w : complex<f64>
    %p = complex.re %power : complex<f64>
    %q = complex.im %power : complex<f64>
    %same = complex.eq %z, %w : complex<f64>
    linalg.yield %magnitude, %angle, %p, %q, %same : f64, f64, f64, f64, i1
  } -> (!t, !t, !t, !t, tensor<?xi1>)
  return %r#0, %r#1, %r#2, %r#3, %r#4
      : !t, !t, !t, !t, tensor<?xi1>
}
