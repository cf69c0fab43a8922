// The logarithm of an exponential: it is the argument only where the imaginary part is within pi, and folded to it
// anyway (llvm-project #212781, complex::LogOp::fold).
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// log(exp(1 + 4i)) = 1 + (4 - 2 pi) i
// CASE:
// INPUT: f32=1
// INPUT: f32=4
// EXPECT: result[0]: f32=1
// EXPECT: result[1]: f32=-2.2831853
// CASE:
// INPUT: f32=0.5
// INPUT: f32=-1
// EXPECT: result[0]: f32=0.5
// EXPECT: result[1]: f32=-1

func.func @main(%re: f32, %im: f32) -> (f32, f32) {
  %z = complex.create %re, %im : complex<f32>
  %e = complex.exp %z : complex<f32>
  %l = complex.log %e : complex<f32>
  %r = complex.re %l : complex<f32>
  %i = complex.im %l : complex<f32>
  return %r, %i : f32, f32
}
