// A kernel without memory: Horner's rule.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: f64=2
// INPUT: f64=0.5
// EXPECT: result[0]: f64=3.5
// EXPECT: result[1]: f64=2
// CASE:
// INPUT: f64=-1.25
// INPUT: f64=8
// EXPECT: result[0]: f64=3.25
// EXPECT: result[1]: f64=-9

func.func @main(%x: f64, %k: f64) -> (f64, f64) {
  %one = arith.constant 1.0 : f64
  %a = arith.mulf %k, %x : f64
  %b = arith.addf %a, %one : f64
  %c = arith.mulf %b, %x : f64
  %d = arith.subf %c, %k : f64
  return %d, %b : f64, f64
}
