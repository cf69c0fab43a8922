// A branch before the condition of a loop that yields a value from before it: the value is used where it is not
// defined (WhileMoveIfDown, no upstream number; mlir-opt refuses its own result).
// RUN-FUNCTION: @main
// TOLERANCE: 0
// Rounds with s = 0, 1, 2 hand on the square of s: 0 + 1 + 4; the last round ends with -1. m[0] counts the rounds.
// CASE:
// INPUT: 1xi32=0
// INPUT: i32=3
// EXPECT: result[0]: i32=-1
// EXPECT: result[1]: i32=5
// EXPECT: arg[0]: 1xi32=[3]
// CASE:
// INPUT: 1xi32=0
// INPUT: i32=0
// EXPECT: result[0]: i32=-1
// EXPECT: result[1]: i32=0
// EXPECT: arg[0]: 1xi32=[0]

func.func @main(%m: memref<1xi32>, %n: i32) -> (i32, i32) {
  %k = arith.constant 0 : index
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %minus = arith.constant -1 : i32
  %r:3 = scf.while (%s = %c0, %sum = %c0) : (i32, i32) -> (i32, i32, i32) {
    %go = arith.cmpi slt, %s, %n : i32
    %square = arith.muli %s, %s : i32
    %v = scf.if %go -> i32 {
      %rounds = memref.load %m[%k] : memref<1xi32>
      %more = arith.addi %rounds, %c1 : i32
      memref.store %more, %m[%k] : memref<1xi32>
      scf.yield %square : i32
    } else {
      scf.yield %minus : i32
    }
    scf.condition(%go) %v, %s, %sum : i32, i32, i32
  } do {
  ^bb0(%w: i32, %old: i32, %t: i32):
    %next = arith.addi %old, %c1 : i32
    %u = arith.addi %t, %w : i32
    scf.yield %next, %u : i32, i32
  }
  return %r#0, %r#2 : i32, i32
}
