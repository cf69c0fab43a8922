// Constant bounds of a loop whose difference does not fit in their type: the loop is taken for one without
// iterations (llvm-project #179985, constantTripCount in SimplifyTrivialLoops).
// RUN-FUNCTION: @main
// TOLERANCE: 0
// From -2e9 below 1e9 in steps of 1e9: -2e9, -1e9, 0. From -100 below 100 in steps of 50: -100, -50, 0, 50.
// CASE:
// INPUT: i32=7
// EXPECT: result[0]: i32=21
// EXPECT: result[1]: i32=28

func.func @main(%a: i32) -> (i32, i32) {
  %zero = arith.constant 0 : i32
  %lower = arith.constant -2000000000 : i32
  %upper = arith.constant 1000000000 : i32
  %step = arith.constant 1000000000 : i32
  %r = scf.for %i = %lower to %upper step %step iter_args(%s = %zero) -> (i32) : i32 {
    %t = arith.addi %s, %a : i32
    scf.yield %t : i32
  }
  %lower8 = arith.constant -100 : i8
  %upper8 = arith.constant 100 : i8
  %step8 = arith.constant 50 : i8
  %q = scf.for %i = %lower8 to %upper8 step %step8 iter_args(%s = %zero) -> (i32) : i8 {
    %t = arith.addi %s, %a : i32
    scf.yield %t : i32
  }
  return %r, %q : i32, i32
}
