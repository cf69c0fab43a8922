// RUN: plimsoll-opt %s -plim-expand-copies | FileCheck %s

// CHECK-LABEL: func.func @strided(
//  CHECK-SAME: %[[A:.*]]: memref<4x4xf32, strided<[8, 1]>>, %[[B:.*]]: memref<4x4xf32>)
//   CHECK-NOT: memref.copy
//       CHECK: linalg.copy ins(%[[A]] : {{.*}}) outs(%[[B]] : memref<4x4xf32>)
//       CHECK: linalg.copy ins(%[[B]] : {{.*}}) outs(%[[A]] : {{.*}})
func.func @strided(%a: memref<4x4xf32, strided<[8, 1]>>, %b: memref<4x4xf32>) {
  memref.copy %a, %b : memref<4x4xf32, strided<[8, 1]>> to memref<4x4xf32>
  memref.copy %b, %a : memref<4x4xf32> to memref<4x4xf32, strided<[8, 1]>>
  return
}

// A dense copy is one call of memcpy later.
// CHECK-LABEL: func.func @dense(
//       CHECK: memref.copy
//   CHECK-NOT: linalg.copy
//       CHECK: return
func.func @dense(%a: memref<?x4xf32>, %b: memref<?x4xf32>) {
  memref.copy %a, %b : memref<?x4xf32> to memref<?x4xf32>
  return
}

// CHECK-LABEL: func.func @itself(
//  CHECK-NEXT: return
func.func @itself(%a: memref<4xf32, strided<[2]>>) {
  memref.copy %a, %a : memref<4xf32, strided<[2]>> to memref<4xf32, strided<[2]>>
  return
}
