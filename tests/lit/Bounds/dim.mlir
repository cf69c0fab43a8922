// A dimension that only the call knows, and one that is not there.
// RUN: plimsoll run %s -f main -i 3x7x2xf32=1 -i index=0 | FileCheck %s --check-prefix=GOOD0
// RUN: plimsoll run %s -f main -i 3x7x2xf32=1 -i index=1 | FileCheck %s --check-prefix=GOOD1
// RUN: plimsoll run %s -f main -i 3x7x2xf32=1 -i index=2 | FileCheck %s --check-prefix=GOOD2
// RUN: plimsoll run %s -f kernel -i 3x7xf32=1 -i index=0 | FileCheck %s --check-prefix=GOOD3
// RUN: plimsoll run %s -f absent -i 5xf32=1 -i i1=0 | FileCheck %s --check-prefix=GOOD4
// RUN: not plimsoll run %s -f main -i 3x7x2xf32=1 -i index=3 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD0
// RUN: not plimsoll run %s --oracle -f main -i 3x7x2xf32=1 -i index=3 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD0
// RUN: not plimsoll run %s -f main -i 3x7x2xf32=1 -i index=-1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD1
// RUN: not plimsoll run %s --oracle -f main -i 3x7x2xf32=1 -i index=-1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD1
// RUN: not plimsoll run %s -f kernel -i 3x7xf32=1 -i index=2 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD2
// RUN: not plimsoll run %s --oracle -f kernel -i 3x7xf32=1 -i index=2 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD2
// RUN: not plimsoll run %s -f absent -i 5xf32=1 -i i1=1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD3
// RUN: not plimsoll run %s --oracle -f absent -i 5xf32=1 -i i1=1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD3
// RUN: not plimsoll run %s -f negative -i 5xf32=1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD4
// RUN: not plimsoll run %s --oracle -f negative -i 5xf32=1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD4

// GOOD0: result[0]: index=3
// GOOD1: result[0]: index=7
// GOOD2: result[0]: index=2
// GOOD3: result[0]: index=3
// GOOD4: result[0]: index=5
// BAD0: no such dimension of tensor<?x7x?xf32>
// BAD1: no such dimension of tensor<?x7x?xf32>
// BAD2: no such dimension of memref<?x7xf32>
// BAD3: no such dimension of tensor<?xf32>
// BAD4: no such dimension of tensor<?xf32>

func.func @main(%x: tensor<?x7x?xf32>, %i: index) -> index {
  %n = tensor.dim %x, %i : tensor<?x7x?xf32>
  return %n : index
}
func.func @kernel(%x: memref<?x7xf32>, %i: index) -> index {
  %n = memref.dim %x, %i : memref<?x7xf32>
  return %n : index
}
func.func @absent(%x: tensor<?xf32>, %wanted: i1) -> index {
  %c = arith.constant 2147483648 : index
  %c0 = arith.constant 0 : index
  %r = scf.if %wanted -> index {
    %n = tensor.dim %x, %c : tensor<?xf32>
    scf.yield %n : index
  } else {
    %n = tensor.dim %x, %c0 : tensor<?xf32>
    scf.yield %n : index
  }
  return %r : index
}
func.func @negative(%x: tensor<?xf32>) -> index {
  %c = arith.constant -1 : index
  %n = tensor.dim %x, %c : tensor<?xf32>
  return %n : index
}
