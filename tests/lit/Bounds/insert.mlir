// What is inserted has the extents of the slice.
// RUN: plimsoll run %s -f main -i 2xf32=1,2 -i 4xf32=0 -i index=1 -i index=2 | FileCheck %s --check-prefix=GOOD0
// RUN: plimsoll run %s -f main -i 0xf32= -i 4xf32=0 -i index=9 -i index=0 | FileCheck %s --check-prefix=GOOD1
// RUN: not plimsoll run %s -f main -i 2xf32=1,2 -i 4xf32=0 -i index=3 -i index=2 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD0
// RUN: not plimsoll run %s --oracle -f main -i 2xf32=1,2 -i 4xf32=0 -i index=3 -i index=2 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD0
// RUN: not plimsoll run %s -f main -i 2xf32=1,2 -i 4xf32=0 -i index=1 -i index=3 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD1
// RUN: not plimsoll run %s --oracle -f main -i 2xf32=1,2 -i 4xf32=0 -i index=1 -i index=3 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD1

// GOOD0: result[0]: 4xf32=[0, 1, 2, 0]
// GOOD1: result[0]: 4xf32=[0, 0, 0, 0]
// BAD0: 'tensor.insert_slice': the slice of 2 elements from 3 in steps of 1 leaves dimension 0 of tensor<?xf32>, which has 4
// BAD1: the source has 2 elements in dimension 0 of a slice of 3

func.func @main(%x: tensor<?xf32>, %d: tensor<?xf32>, %o: index, %n: index) -> tensor<?xf32> {
  %r = tensor.insert_slice %x into %d[%o] [%n] [1] : tensor<?xf32> into tensor<?xf32>
  return %r : tensor<?xf32>
}
