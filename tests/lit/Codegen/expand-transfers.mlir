// RUN: plimsoll-opt %s -plim-expand-transfers | FileCheck %s

// Each row is one load, broadcast.
// CHECK-LABEL: func.func @rows(
//  CHECK-SAME: %[[A:.*]]: memref<8x8xf32>, %[[I:.*]]: index, %[[J:.*]]: index)
//   CHECK-NOT: vector.transfer_read
//       CHECK: %[[X0:.*]] = memref.load %[[A]][%[[I]], %[[J]]]
//       CHECK: %[[B0:.*]] = vector.broadcast %[[X0]] : f32 to vector<8xf32>
//       CHECK: %[[V0:.*]] = vector.insert %[[B0]], %{{.*}} [0]
//       CHECK: %[[NEXT:.*]] = arith.addi %[[I]], %{{.*}}
//       CHECK: %[[X1:.*]] = memref.load %[[A]][%[[NEXT]], %[[J]]]
//       CHECK: %[[B1:.*]] = vector.broadcast %[[X1]] : f32 to vector<8xf32>
//       CHECK: %[[V1:.*]] = vector.insert %[[B1]], %[[V0]] [1]
//       CHECK: return %[[V1]]
func.func @rows(%a: memref<8x8xf32>, %i: index, %j: index) -> vector<2x8xf32> {
  %z = arith.constant 0.0 : f32
  %r = vector.transfer_read %a[%i, %j], %z
      {in_bounds = [true, true], permutation_map = affine_map<(d0, d1) -> (d0, 0)>}
      : memref<8x8xf32>, vector<2x8xf32>
  return %r : vector<2x8xf32>
}

// One element for all of the vector.
// CHECK-LABEL: func.func @element(
//       CHECK: %[[X:.*]] = memref.load
//   CHECK-NOT: memref.load
//       CHECK: %[[V:.*]] = vector.broadcast %[[X]] : f32 to vector<4xf32>
//       CHECK: return %[[V]]
func.func @element(%a: memref<8x8xf32>, %i: index, %j: index) -> vector<4xf32> {
  %z = arith.constant 0.0 : f32
  %r = vector.transfer_read %a[%i, %j], %z
      {in_bounds = [true], permutation_map = affine_map<(d0, d1) -> (0)>}
      : memref<8x8xf32>, vector<4xf32>
  return %r : vector<4xf32>
}

// CHECK-LABEL: func.func @element_in_two_dimensions(
//       CHECK: %[[X:.*]] = memref.load
//   CHECK-NOT: memref.load
//       CHECK: vector.broadcast
//   CHECK-NOT: vector.transfer_read
//       CHECK: return
func.func @element_in_two_dimensions(%a: memref<8x8xf32>, %i: index, %j: index) -> vector<2x4xf32> {
  %z = arith.constant 0.0 : f32
  %r = vector.transfer_read %a[%i, %j], %z
      {in_bounds = [true, true], permutation_map = affine_map<(d0, d1) -> (0, 0)>}
      : memref<8x8xf32>, vector<2x4xf32>
  return %r : vector<2x4xf32>
}

// A column: elements that are not next to each other.
// CHECK-LABEL: func.func @column(
//  CHECK-SAME: %[[A:.*]]: memref<8x8xf32>, %[[I:.*]]: index, %[[J:.*]]: index)
//       CHECK: %[[X0:.*]] = memref.load %[[A]][%[[I]], %[[J]]]
//       CHECK: %[[NEXT:.*]] = arith.addi %[[I]], %{{.*}}
//       CHECK: %[[X1:.*]] = memref.load %[[A]][%[[NEXT]], %[[J]]]
//       CHECK: vector.from_elements %[[X0]], %[[X1]] : vector<2xf32>
func.func @column(%a: memref<8x8xf32>, %i: index, %j: index) -> vector<2xf32> {
  %z = arith.constant 0.0 : f32
  %r = vector.transfer_read %a[%i, %j], %z
      {in_bounds = [true], permutation_map = affine_map<(d0, d1) -> (d0)>}
      : memref<8x8xf32>, vector<2xf32>
  return %r : vector<2xf32>
}

// Transposed.
// CHECK-LABEL: func.func @transposed(
//   CHECK-NOT: vector.transfer_read
// CHECK-COUNT-4: memref.load
//   CHECK-NOT: memref.load
//       CHECK: return
func.func @transposed(%a: memref<8x8xf32>, %i: index, %j: index) -> vector<2x2xf32> {
  %z = arith.constant 0.0 : f32
  %r = vector.transfer_read %a[%i, %j], %z
      {in_bounds = [true, true], permutation_map = affine_map<(d0, d1) -> (d1, d0)>}
      : memref<8x8xf32>, vector<2x2xf32>
  return %r : vector<2x2xf32>
}

// Contiguous reads stay vector reads, also one that serves all rows.
// CHECK-LABEL: func.func @contiguous(
//   CHECK-NOT: memref.load
// CHECK-COUNT-2: vector.transfer_read
//       CHECK: return
func.func @contiguous(%a: memref<8x8xf32>, %i: index, %j: index)
    -> (vector<4xf32>, vector<2x4xf32>) {
  %z = arith.constant 0.0 : f32
  %r = vector.transfer_read %a[%i, %j], %z {in_bounds = [true]} : memref<8x8xf32>, vector<4xf32>
  %s = vector.transfer_read %a[%i, %j], %z
      {in_bounds = [true, true], permutation_map = affine_map<(d0, d1) -> (0, d1)>}
      : memref<8x8xf32>, vector<2x4xf32>
  return %r, %s : vector<4xf32>, vector<2x4xf32>
}

// What may be out of bounds or is masked must not be loaded blindly.
// CHECK-LABEL: func.func @guarded(
//   CHECK-NOT: memref.load
// CHECK-COUNT-2: vector.transfer_read
//       CHECK: return
func.func @guarded(%a: memref<8x8xf32>, %i: index, %j: index, %m: vector<4xi1>)
    -> (vector<4xf32>, vector<4xf32>) {
  %z = arith.constant 0.0 : f32
  %r = vector.transfer_read %a[%i, %j], %z {permutation_map = affine_map<(d0, d1) -> (d0)>}
      : memref<8x8xf32>, vector<4xf32>
  %s = vector.transfer_read %a[%i, %j], %z, %m
      {in_bounds = [true], permutation_map = affine_map<(d0, d1) -> (d0)>}
      : memref<8x8xf32>, vector<4xf32>
  return %r, %s : vector<4xf32>, vector<4xf32>
}
