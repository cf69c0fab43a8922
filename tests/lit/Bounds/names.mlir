// Arguments have the names of the source in messages; of locations only what could be one.
// RUN: not plimsoll run %s -f main -i 3xf32=1 -i 4xf32=1 2>&1 | FileCheck %s --check-prefix=NAMED
// RUN: not plimsoll run %s -f located -i 3xf32=1 -i 4xf32=1 2>&1 | FileCheck %s --check-prefix=LOCATED
// RUN: not plimsoll run %s -f numbered -i 3xf32=1 -i 4xf32=1 2>&1 | FileCheck %s --check-prefix=NUMBERED

// NAMED: 'arith.addf': extent 0 of argument #0 (%left) is 3, but extent 0 of argument #1 (%b.c-d$) is 4
// LOCATED: 'arith.addf': extent 0 of argument #0 is 3, but extent 0 of argument #1 (%x) is 4
// NUMBERED: 'arith.addf': extent 0 of argument #0 is 3, but extent 0 of argument #1 is 4

func.func @main(%left: tensor<?xf32>, %b.c-d$: tensor<?xf32>) -> tensor<?xf32> {
  %r = arith.addf %left, %b.c-d$ : tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @located(%a: tensor<?xf32> loc("{1}\1B[31m"), %b: tensor<?xf32> loc("x")) -> tensor<?xf32> {
  %r = arith.addf %a, %b : tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @numbered(%0: tensor<?xf32>, %1: tensor<?xf32>) -> tensor<?xf32> {
  %r = arith.addf %0, %1 : tensor<?xf32>
  return %r : tensor<?xf32>
}
