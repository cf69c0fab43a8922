// A loop written with branches over scalars: the greatest common divisor.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: i64=48
// INPUT: i64=18
// EXPECT: result[0]: i64=6
// CASE:
// INPUT: i64=17
// INPUT: i64=5
// EXPECT: result[0]: i64=1
// CASE:
// INPUT: i64=9
// INPUT: i64=0
// EXPECT: result[0]: i64=9

func.func @main(%a: i64, %b: i64) -> i64 {
  %zero = arith.constant 0 : i64
  cf.br ^head(%a, %b : i64, i64)
^head(%x: i64, %y: i64):
  %done = arith.cmpi eq, %y, %zero : i64
  cf.cond_br %done, ^exit, ^body
^body:
  %r = arith.remui %x, %y : i64
  cf.br ^head(%y, %r : i64, i64)
^exit:
  return %x : i64
}
