// Magnitudes, angles, powers and comparisons of complex numbers. The magnitude does not overflow.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// CASE:
// INPUT: 4xf32=1 -3 0.25 -0.5
// INPUT: 4xf32=2 0.5 -4 -0.125
// INPUT: 4xf32=0.5 2 -1.5 0
// INPUT: 4xf32=-1 0 0.25 1
// EXPECT: result[0]: 4xf32=[2.23606798, 3.04138127, 4.00780489, 0.515388203]
// EXPECT: result[1]: 4xf32=[1.10714872, 2.97644398, -1.50837752, -2.89661399]
// EXPECT: result[2]: 4xf32=[4.38256506, 8.75, -0.156611118, 14.2773622]
// EXPECT: result[3]: 4xf32=[-1.12439748, -3, 0.0921750797, -11.1457279]
// EXPECT: result[4]: 4xi1=[0, 0, 0, 0]
// CASE:
// INPUT: 1xf32=1e30
// INPUT: 1xf32=1e30
// INPUT: 1xf32=0
// INPUT: 1xf32=0
// EXPECT: result[0]: 1xf32=[1.4142135e30]
// CASE:
// INPUT: 97xf32=rnd:1
// INPUT: 97xf32=rnd:2
// INPUT: 97xf32=rnd:3
// INPUT: 97xf32=rnd:4

#id = affine_map<(i) -> (i)>
!t = tensor<?xf32>

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
  ^bb0(%x: f32, %y: f32, %u: f32, %v: f32, %o0: f32, %o1: f32, %o2: f32, %o3: f32, %o4: i1):
    %z = complex.create %x, %y : complex<f32>
    %w = complex.create %u, %v : complex<f32>
    %magnitude = complex.abs %z : complex<f32>
    %angle = complex.angle %z : complex<f32>
    %power = complex.pow %z, %w : complex<f32>
    %p = complex.re %power : complex<f32>
    %q = complex.im %power : complex<f32>
    %same = complex.eq %z, %w : complex<f32>
    linalg.yield %magnitude, %angle, %p, %q, %same : f32, f32, f32, f32, i1
  } -> (!t, !t, !t, !t, tensor<?xi1>)
  return %r#0, %r#1, %r#2, %r#3, %r#4
      : !t, !t, !t, !t, tensor<?xi1>
}
