// A product whose inner extents differ.
// RUN: plimsoll run %s -f main -i 2x3xf32=1 -i 3x2xf32=1 -i 2x2xf32=0 | FileCheck %s --check-prefix=GOOD0
// RUN: not plimsoll run %s -f main -i 2x3xf32=1 -i 4x2xf32=1 -i 2x2xf32=0 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD0
// RUN: not plimsoll run %s --oracle -f main -i 2x3xf32=1 -i 4x2xf32=1 -i 2x2xf32=0 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD0

// GOOD0: result[0]: 2x2xf32={{[[][[]}}3, 3], [3, 3]]
// BAD0: mismatch.mlir:12:8: 'linalg.matmul': extent 1 of argument #0 (%a) is 3, but extent 0 of argument #1 (%b) is 4

func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>)
      -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
