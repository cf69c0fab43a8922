// Memory beside tensors is checked as they are.
// RUN: plimsoll run %s -f view -i f32=0 -i 3xf32=1,2,3 -i index=1 | FileCheck %s --check-prefix=GOOD0
// RUN: plimsoll run %s -f affine -i f32=0 -i 4xf32=1,2,3,4 | FileCheck %s --check-prefix=GOOD1
// RUN: plimsoll run %s -f vector -i f32=0 -i 5xf32=1,2,3,4,5 -i index=1 | FileCheck %s --check-prefix=GOOD2
// RUN: plimsoll run %s -f transfer -i 5xf32=1,2,3,4,5 -i index=1 | FileCheck %s --check-prefix=GOOD3
// RUN: not plimsoll run %s -f loops -i f32=0 -i 3xf32=1 -i 4xf32=1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD0
// RUN: not plimsoll run %s --oracle -f loops -i f32=0 -i 3xf32=1 -i 4xf32=1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD0
// RUN: not plimsoll run %s -f copy -i f32=0 -i 3xf32=1 -i 4xf32=1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD1
// RUN: not plimsoll run %s --oracle -f copy -i f32=0 -i 3xf32=1 -i 4xf32=1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD1
// RUN: not plimsoll run %s -f view -i f32=0 -i 3xf32=1 -i index=2 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD2
// RUN: not plimsoll run %s --oracle -f view -i f32=0 -i 3xf32=1 -i index=2 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD2
// RUN: not plimsoll run %s -f affine -i f32=0 -i 3xf32=1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD3
// RUN: not plimsoll run %s --oracle -f affine -i f32=0 -i 3xf32=1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD3
// RUN: not plimsoll run %s -f vector -i f32=0 -i 5xf32=1 -i index=2 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD4
// RUN: not plimsoll run %s --oracle -f vector -i f32=0 -i 5xf32=1 -i index=2 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD4
// RUN: not plimsoll run %s -f vector -i f32=0 -i 5xf32=1 -i index=-1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD5
// RUN: not plimsoll run %s --oracle -f vector -i f32=0 -i 5xf32=1 -i index=-1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD5
// RUN: not plimsoll run %s -f transfer -i 5xf32=1 -i index=2 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD6
// RUN: not plimsoll run %s --oracle -f transfer -i 5xf32=1 -i index=2 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD6

// GOOD0: result[0]: f32=2
// GOOD1: result[0]: f32=4
// GOOD2: result[0]: f32=2
// GOOD3: result[0]: f32=5
// BAD0: 'linalg.copy': extent 0 of argument #1 (%a) is 3, but extent 0 of argument #2 (%b) is 4
// BAD1: 'memref.copy': extent 0 of the source is 3, of the target 4
// BAD2: 'memref.subview': the slice of 2 elements from 2
// BAD3: 'memref.load': index out of range
// BAD4: 'vector.load': 4 elements from 2 leave dimension 0, which has 5
// BAD5: 4 elements from -1
// BAD6: 'vector.transfer_read': 4 elements from 2 leave dimension 0, which has 5

func.func @loops(%t: tensor<f32>, %a: memref<?xf32>, %b: memref<?xf32>) {
  linalg.copy ins(%a : memref<?xf32>) outs(%b : memref<?xf32>)
  return
}
func.func @copy(%t: tensor<f32>, %a: memref<?xf32>, %b: memref<?xf32>) {
  memref.copy %a, %b : memref<?xf32> to memref<?xf32>
  return
}
func.func @view(%t: tensor<f32>, %a: memref<?xf32>, %o: index) -> f32 {
  %c0 = arith.constant 0 : index
  %v = memref.subview %a[%o] [2] [1] : memref<?xf32> to memref<2xf32, strided<[1], offset: ?>>
  %r = memref.load %v[%c0] : memref<2xf32, strided<[1], offset: ?>>
  return %r : f32
}
func.func @affine(%t: tensor<f32>, %a: memref<?xf32>) -> f32 {
  %c2 = arith.constant 2 : index
  %r = affine.load %a[%c2 + 1] : memref<?xf32>
  return %r : f32
}
func.func @vector(%t: tensor<f32>, %a: memref<?xf32>, %i: index) -> f32 {
  %v = vector.load %a[%i] : memref<?xf32>, vector<4xf32>
  %r = vector.extract %v[0] : f32 from vector<4xf32>
  return %r : f32
}
func.func @transfer(%t: tensor<?xf32>, %i: index) -> f32 {
  %z = arith.constant 0.0 : f32
  %v = vector.transfer_read %t[%i], %z {in_bounds = [true]} : tensor<?xf32>, vector<4xf32>
  %r = vector.extract %v[3] : f32 from vector<4xf32>
  return %r : f32
}
