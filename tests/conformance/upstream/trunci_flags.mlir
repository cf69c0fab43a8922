// Two truncations in a row of which only the second one claims to lose nothing: the claim is kept for the whole
// (review of llvm-project #216315, arith::TruncIOp::fold), and the addition of two constants keeps nsw though their sum
// wraps (llvm-project #140328, AddIAddConstant).
// RUN-FUNCTION: @main
// TOLERANCE: 0
// 65541 = 65536 + 5 keeps 5 in i16. 2 + (-2^31) - 1 = -2147483647, where 2 + (2^31 - 1) would wrap.
// CASE:
// INPUT: i32=65541
// INPUT: i32=2
// EXPECT: result[0]: i32=5
// EXPECT: result[1]: i32=1
// EXPECT: result[2]: i32=-2147483647

func.func @main(%x: i32, %y: i32) -> (i32, i32, i32) {
  %five = arith.constant 5 : i8
  %a = arith.trunci %x : i32 to i16
  %b = arith.trunci %a overflow<nuw> : i16 to i8
  %r = arith.extui %b : i8 to i32
  %e = arith.cmpi eq, %b, %five : i8
  %f = arith.extui %e : i1 to i32
  %m = arith.constant -2147483648 : i32
  %n = arith.constant -1 : i32
  %s = arith.addi %y, %m overflow<nsw> : i32
  %t = arith.addi %s, %n overflow<nsw> : i32
  return %r, %f, %t : i32, i32, i32
}
