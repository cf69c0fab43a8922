// Sums and differences of complex numbers that would cancel each other were numbers exact: folded as if they were
// (complex::SubOp::fold, complex::AddOp::fold, no upstream number; the arith dialect folds nothing of the kind).
// RUN-FUNCTION: @main
// TOLERANCE: 0
// (1 + 2^25) - 2^25 = 0 in f32: 1 is below half a unit of the last place, 2. The same the other way round.
// CASE:
// INPUT: f32=1
// INPUT: f32=33554432
// EXPECT: result[0]: f32=0
// EXPECT: result[1]: f32=0

func.func @main(%a: f32, %b: f32) -> (f32, f32) {
  %x = complex.create %a, %a : complex<f32>
  %y = complex.create %b, %b : complex<f32>
  %s = complex.add %x, %y : complex<f32>
  %d = complex.sub %s, %y : complex<f32>
  %t = complex.sub %x, %y : complex<f32>
  %u = complex.add %t, %y : complex<f32>
  %r0 = complex.re %d : complex<f32>
  %r1 = complex.im %u : complex<f32>
  return %r0, %r1 : f32, f32
}
