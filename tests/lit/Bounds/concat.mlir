// Tensors that are joined agree beside the joined extent.
// RUN: plimsoll run %s -f main -i 1x3xf32=1,2,3 -i 1x3xf32=4,5,6 | FileCheck %s --check-prefix=GOOD
// RUN: not plimsoll run %s -f main -i 1x3xf32=1,2,3 -i 1x2xf32=4,5 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: not plimsoll run %s --oracle -f main -i 1x3xf32=1,2,3 -i 1x2xf32=4,5 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD

// GOOD: result[0]: 2x3xf32={{[[][[]}}1, 2, 3], [4, 5, 6]]
// BAD: concat.mlir:11:8: 'tensor.concat': extent 1 of argument #1 (%b) is 2, of argument #0 (%a) 3

func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = tensor.concat dim(0) %a, %b : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
