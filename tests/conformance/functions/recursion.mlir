// A function that calls itself cannot be inlined away.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: i64=10
// EXPECT: result[0]: i64=3628800
// CASE:
// INPUT: i64=0
// EXPECT: result[0]: i64=1

func.func private @factorial(%n: i64) -> i64 {
  %one = arith.constant 1 : i64
  %stop = arith.cmpi sle, %n, %one : i64
  %r = scf.if %stop -> (i64) {
    scf.yield %one : i64
  } else {
    %m = arith.subi %n, %one : i64
    %f = func.call @factorial(%m) : (i64) -> i64
    %p = arith.muli %f, %n : i64
    scf.yield %p : i64
  }
  return %r : i64
}

func.func @main(%n: i64) -> i64 {
  %r = call @factorial(%n) : (i64) -> i64
  return %r : i64
}
