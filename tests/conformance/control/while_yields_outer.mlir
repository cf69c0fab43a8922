// A while loop yields what was there before the loop, and the next turn writes over what it carries: neither the
// argument nor the value from outside may change.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 3xi32=1 2 3
// INPUT: 3xi32=10 20 30
// INPUT: index=4
// EXPECT: result[0]: 3xi32=[10, 40, 30]
// EXPECT: result[1]: 3xi32=[10, 20, 30]
// EXPECT: result[2]: 3xi32=[20, 80, 60]
// EXPECT: result[3]: 3xi32=[5, 6, 12]
// CASE:
// INPUT: 3xi32=1 2 3
// INPUT: 3xi32=10 20 30
// INPUT: index=0
// EXPECT: result[0]: 3xi32=[1, 40, 3]
// EXPECT: result[1]: 3xi32=[10, 20, 30]
// EXPECT: result[2]: 3xi32=[1, 80, 3]
// EXPECT: result[3]: 3xi32=[1, 6, 3]

!t = tensor<3xi32>
func.func @main(%x: !t, %y: !t, %n: index) -> (!t, !t, !t, !t) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %table = arith.constant dense<[5, 3, 12]> : !t
  // An argument.
  %r:2 = scf.while (%a = %x, %k = %c0) : (!t, index) -> (!t, index) {
    %q0 = tensor.extract %y[%c1] : !t
    %q = arith.addi %q0, %q0 : i32
    %s = tensor.insert %q into %a[%c1] : !t
    %lt = arith.cmpi slt, %k, %n : index
    scf.condition(%lt) %s, %k : !t, index
  } do {
  ^bb0(%w: !t, %l: index):
    %l2 = arith.addi %l, %c1 : index
    scf.yield %y, %l2 : !t, index
  }
  // Memory of the function's.
  %local = arith.addi %y, %y : !t
  %p:2 = scf.while (%a = %x, %k = %c0) : (!t, index) -> (!t, index) {
    %q0 = tensor.extract %local[%c1] : !t
    %q = arith.addi %q0, %q0 : i32
    %s = tensor.insert %q into %a[%c1] : !t
    %lt = arith.cmpi slt, %k, %n : index
    scf.condition(%lt) %s, %k : !t, index
  } do {
  ^bb0(%w: !t, %l: index):
    %l2 = arith.addi %l, %c1 : index
    scf.yield %local, %l2 : !t, index
  }
  // A constant, through a branch.
  %t:2 = scf.while (%a = %x, %k = %c0) : (!t, index) -> (!t, index) {
    %q0 = tensor.extract %table[%c1] : !t
    %q = arith.addi %q0, %q0 : i32
    %s = tensor.insert %q into %a[%c1] : !t
    %lt = arith.cmpi slt, %k, %n : index
    scf.condition(%lt) %s, %k : !t, index
  } do {
  ^bb0(%w: !t, %l: index):
    %l2 = arith.addi %l, %c1 : index
    %big = arith.cmpi sgt, %l, %n : index
    %either = scf.if %big -> !t {
      scf.yield %w : !t
    } else {
      scf.yield %table : !t
    }
    scf.yield %either, %l2 : !t, index
  }
  return %r#0, %y, %p#0, %t#0 : !t, !t, !t, !t
}
