// What a type says of an extent.
// RUN: plimsoll run %s -f main -i 4xf32=1 | FileCheck %s --check-prefix=GOOD0
// RUN: not plimsoll run %s -f main -i 3xf32=1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD0
// RUN: not plimsoll run %s --oracle -f main -i 3xf32=1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD0

// GOOD0: result[0]: 4xf32=[1, 1, 1, 1]
// BAD0: cast.mlir:12:8: 'tensor.cast': extent 0 is 3, but the type says 4

func.func @main(%x: tensor<?xf32>) -> tensor<4xf32> {
  %r = tensor.cast %x : tensor<?xf32> to tensor<4xf32>
  return %r : tensor<4xf32>
}
