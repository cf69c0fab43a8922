// What a type says of a product.
// RUN: plimsoll run %s -f main -i 2x3xf32=1 | FileCheck %s --check-prefix=GOOD0
// RUN: not plimsoll run %s -f main -i 2x4xf32=1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD0
// RUN: not plimsoll run %s --oracle -f main -i 2x4xf32=1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD0

// GOOD0: result[0]: 6xf32=[1, 1, 1, 1, 1, 1]
// BAD0: type says 6

func.func @main(%x: tensor<?x?xf32>) -> tensor<6xf32> {
  %c = tensor.collapse_shape %x [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  %r = tensor.cast %c : tensor<?xf32> to tensor<6xf32>
  return %r : tensor<6xf32>
}
