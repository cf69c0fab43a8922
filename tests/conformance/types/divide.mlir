// Integer divisions: rounding of each kind, the smallest number by -1 wraps, in dispatches and in host code.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 6xi32=7 -7 7 -7 -2147483648 -2147483648
// INPUT: 6xi32=2 2 -2 -2 -1 1
// INPUT: i64=-9223372036854775808
// INPUT: i64=-1
// EXPECT: result[0]: 6xi32=[3, -3, -3, 3, -2147483648, -2147483648]
// EXPECT: result[1]: 6xi32=[1, -1, 1, -1, 0, 0]
// EXPECT: result[2]: 6xi32=[3, -4, -4, 3, -2147483648, -2147483648]
// EXPECT: result[3]: 6xi32=[4, -3, -3, 4, -2147483648, -2147483648]
// EXPECT: result[4]: 6xi32=[3, 2147483644, 0, 0, 0, -2147483648]
// EXPECT: result[5]: i64=-9223372036854775808
// EXPECT: result[6]: i64=0
// CASE:
// INPUT: 0xi32=
// INPUT: 0xi32=
// INPUT: i64=7
// INPUT: i64=-2
// EXPECT: result[5]: i64=-3
// EXPECT: result[6]: i64=1
// CASE:
// INPUT: 1031xi32=rnd:3
// INPUT: 1031xi32=7
// INPUT: i64=5
// INPUT: i64=5

!t = tensor<?xi32>
func.func @main(%x: !t, %y: !t, %a: i64, %b: i64) -> (!t, !t, !t, !t, !t, i64, i64) {
  %q = arith.divsi %x, %y : !t
  %r = arith.remsi %x, %y : !t
  %f = arith.floordivsi %x, %y : !t
  %c = arith.ceildivsi %x, %y : !t
  %u = arith.divui %x, %y : !t
  %s = arith.divsi %a, %b : i64
  %m = arith.remsi %a, %b : i64
  return %q, %r, %f, %c, %u, %s, %m : !t, !t, !t, !t, !t, i64, i64
}
