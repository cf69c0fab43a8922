// Slices of all kinds; an empty one lies anywhere.
// RUN: plimsoll run %s -f main -i 4xf32=1,2,3,4 -i index=1 -i index=2 -i index=2 | FileCheck %s --check-prefix=GOOD0
// RUN: plimsoll run %s -f main -i 4xf32=1,2,3,4 -i index=3 -i index=4 -i index=-1 | FileCheck %s --check-prefix=GOOD1
// RUN: plimsoll run %s -f main -i 4xf32=1,2,3,4 -i index=4 -i index=0 -i index=1 | FileCheck %s --check-prefix=GOOD2
// RUN: plimsoll run %s -f main -i 0xf32= -i index=0 -i index=0 -i index=1 | FileCheck %s --check-prefix=GOOD3
// RUN: plimsoll run %s -f main -i 4xf32=1,2,3,4 -i index=2 -i index=3 -i index=0 | FileCheck %s --check-prefix=GOOD4
// RUN: plimsoll run %s -f empty -i 0xf32= | FileCheck %s --check-prefix=GOOD5
// RUN: plimsoll run %s -f empty -i 2xf32=1 | FileCheck %s --check-prefix=GOOD6
// RUN: not plimsoll run %s -f main -i 4xf32=1 -i index=1 -i index=2 -i index=3 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD0
// RUN: not plimsoll run %s --oracle -f main -i 4xf32=1 -i index=1 -i index=2 -i index=3 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD0
// RUN: not plimsoll run %s -f main -i 4xf32=1 -i index=-1 -i index=1 -i index=1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD1
// RUN: not plimsoll run %s --oracle -f main -i 4xf32=1 -i index=-1 -i index=1 -i index=1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD1
// RUN: not plimsoll run %s -f main -i 4xf32=1 -i index=0 -i index=-1 -i index=1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD2
// RUN: not plimsoll run %s --oracle -f main -i 4xf32=1 -i index=0 -i index=-1 -i index=1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD2
// RUN: not plimsoll run %s -f main -i 4xf32=1 -i index=1 -i index=5 -i index=4611686018427387904 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD3
// RUN: not plimsoll run %s --oracle -f main -i 4xf32=1 -i index=1 -i index=5 -i index=4611686018427387904 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD3
// RUN: not plimsoll run %s -f main -i 4xf32=1 -i index=1 -i index=3 -i index=-1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD4
// RUN: not plimsoll run %s --oracle -f main -i 4xf32=1 -i index=1 -i index=3 -i index=-1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD4

// GOOD0: result[0]: 2xf32=[2, 4]
// GOOD1: result[0]: 4xf32=[4, 3, 2, 1]
// GOOD2: result[0]: 0xf32=[]
// GOOD3: result[0]: 0xf32=[]
// GOOD4: result[0]: 3xf32=[3, 3, 3]
// GOOD5: result[0]: 0xf32=[]
// GOOD6: result[0]: 0xf32=[]
// BAD0: 'tensor.extract_slice': the slice of 2 elements from 1 in steps of 3 leaves dimension 0 of tensor<?xf32>, which has 4
// BAD1: the slice of 1 elements from -1
// BAD2: the slice of -1 elements
// BAD3: the slice of 5 elements from 1 in steps of 4611686018427387904
// BAD4: in steps of -1 leaves

func.func @main(%x: tensor<?xf32>, %o: index, %n: index, %s: index) -> tensor<?xf32> {
  %r = tensor.extract_slice %x[%o] [%n] [%s] : tensor<?xf32> to tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @empty(%x: tensor<?xf32>) -> tensor<0xf32> {
  %r = tensor.extract_slice %x[0] [0] [1] : tensor<?xf32> to tensor<0xf32>
  return %r : tensor<0xf32>
}
