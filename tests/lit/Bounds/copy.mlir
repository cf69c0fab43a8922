// An op that gives back one of its operands still says that the other one has the same extents: it is not replaced
// by the operand before that was looked at.
// RUN: plimsoll run %s -f second -i 2xi64=1,2 -i 2xi64=4,5 | FileCheck %s --check-prefix=GOOD
// RUN: not plimsoll run %s -f second -i 2xi64=1,2 -i 1xi64=4 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: not plimsoll run %s --oracle -f second -i 2xi64=1,2 -i 1xi64=4 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: plimsoll run %s -f repeated -i 2xi64=1,2 -i index=2 | FileCheck %s --check-prefix=GOOD
// RUN: not plimsoll run %s -f repeated -i 2xi64=1,2 -i index=3 2>&1 | FileCheck %s --check-prefix=DESTINATION

// GOOD: result[0]: 2xi64=[1, 2]
// BAD: copy.mlir:20:8: 'linalg.generic': extent 0 of argument #1 (%y) is 1, but extent 0 of argument #0 (%x) is 2
// DESTINATION: copy.mlir:34:8: 'linalg.broadcast': extent 0 of argument #0 (%x) is 2, but extent 0 of operand #1 (of 31:8) is 3

#id = affine_map<(i) -> (i)>

func.func @second(%x: tensor<?xi64>, %y: tensor<?xi64>) -> tensor<?xi64> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %y, %c0 : tensor<?xi64>
  %e = tensor.empty(%n) : tensor<?xi64>

  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%y, %x : tensor<?xi64>, tensor<?xi64>) outs(%e : tensor<?xi64>) {
  ^bb0(%a: i64, %b: i64, %o: i64):
    %same = arith.cmpi sge, %b, %b : i64
    %s = arith.select %same, %b, %a : i64
    linalg.yield %s : i64
  } -> tensor<?xi64>
  return %r : tensor<?xi64>
}

func.func @repeated(%x: tensor<?xi64>, %n: index) -> tensor<?xi64> {
  %e = tensor.empty(%n) : tensor<?xi64>

  // Over no dimension: a copy.
  %r = linalg.broadcast ins(%x : tensor<?xi64>) outs(%e : tensor<?xi64>) dimensions = []
  return %r : tensor<?xi64>
}
