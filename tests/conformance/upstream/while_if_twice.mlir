// The value of an scf.if that a loop hands on twice: the second copy becomes the value of the other branch
// (llvm-project #219456, WhileMoveIfDown).
// RUN-FUNCTION: @main
// TOLERANCE: 0
// 0 < n: both values are 0 + 2, the loop goes on with the second one, 2, which is not less than 1.
// CASE:
// INPUT: i32=1
// EXPECT: result[0]: i32=20
// EXPECT: result[1]: i32=2
// CASE:
// INPUT: i32=5
// EXPECT: result[0]: i32=20
// EXPECT: result[1]: i32=6
// CASE:
// INPUT: i32=0
// EXPECT: result[0]: i32=20
// EXPECT: result[1]: i32=0

func.func @main(%n: i32) -> (i32, i32) {
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %c20 = arith.constant 20 : i32
  %r:3 = scf.while (%state = %c0) : (i32) -> (i32, i32, i32) {
    %go = arith.cmpi slt, %state, %n : i32
    %value = scf.if %go -> i32 {
      %next = arith.addi %state, %c2 : i32
      scf.yield %next : i32
    } else {
      scf.yield %c20 : i32
    }
    scf.condition(%go) %value, %value, %state : i32, i32, i32
  } do {
  ^bb0(%first: i32, %second: i32, %old: i32):
    scf.yield %second : i32
  }
  return %r#1, %r#2 : i32, i32
}
