// A tensor of fewer than no elements.
// RUN: plimsoll run %s -f main -i index=2 | FileCheck %s --check-prefix=GOOD0
// RUN: plimsoll run %s -f main -i index=0 | FileCheck %s --check-prefix=GOOD1
// RUN: not plimsoll run %s -f main -i index=-2 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD0
// RUN: not plimsoll run %s --oracle -f main -i index=-2 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD0

// GOOD0: result[0]: 2xf32=[1, 1]
// GOOD1: result[0]: 0xf32=[]
// BAD0: extent.mlir:15:8: 'tensor.empty': an extent is negative: -2

func.func @main(%n: index) -> tensor<?xf32> {
  %z = arith.constant 1.0 : f32
  %e = tensor.splat %z[%n] : tensor<?xf32>
  return %e : tensor<?xf32>
}
