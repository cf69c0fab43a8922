// Single elements from host code.
// RUN: plimsoll run %s -f main -i 2xf32=1,2 -i index=1 | FileCheck %s --check-prefix=GOOD0
// RUN: not plimsoll run %s -f main -i 2xf32=1,2 -i index=2 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD0
// RUN: not plimsoll run %s --oracle -f main -i 2xf32=1,2 -i index=2 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD0

// GOOD0: result[0]: f32=2
// BAD0: element.mlir:12:8: 'tensor.extract': index out of range in dimension 0 of tensor<?xf32>, which has 2: 2

func.func @main(%x: tensor<?xf32>, %i: index) -> f32 {
  %r = tensor.extract %x[%i] : tensor<?xf32>
  return %r : f32
}
