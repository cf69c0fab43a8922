// RUN: plimsoll-opt %s -plim-distribute-workgroups -split-input-file | FileCheck %s

// The count comes from the scalars and extents alone; the range of workgroups comes last.
// Workgroups are numbered with the last loop fastest.
// CHECK-DAG: #[[$BY16:.*]] = affine_map<()[s0] -> (s0 ceildiv 16)>
// CHECK-DAG: #[[$BY32:.*]] = affine_map<()[s0] -> (s0 ceildiv 32)>
// CHECK-DAG: #[[$TIMES16:.*]] = affine_map<(d0) -> (d0 * 16)>
// CHECK-DAG: #[[$TIMES32:.*]] = affine_map<(d0) -> (d0 * 32)>
// CHECK-LABEL: func.func private @two_workgroups(
//  CHECK-SAME: memref<f32>, %{{[^:]*}}: f32, %[[N:[^:]*]]: index, %{{[^:]*}}: index) -> index
//  CHECK-SAME: plim.workgroup_count = @two
//   CHECK-NOT: memref.store
//   CHECK-DAG: %[[ROWS:.*]] = affine.apply #[[$BY16]]()[%[[N]]]
//   CHECK-DAG: %[[COLUMNS:.*]] = affine.apply #[[$BY32]]()[%{{.*}}]
//       CHECK: %[[SOME:.*]] = arith.muli %{{.*}}, %[[ROWS]]
//       CHECK: %[[ALL:.*]] = arith.muli %[[SOME]], %[[COLUMNS]]
//       CHECK: return %[[ALL]]
// CHECK-LABEL: func.func private @two(
//  CHECK-SAME: memref<f32> {plim.access = #plim.access<writeonly>}, %{{[^:]*}}: f32, %{{[^:]*}}: index, %{{[^:]*}}: index, %[[BEGIN:[^:]*]]: index, %[[END:[^:]*]]: index)
//       CHECK: %[[COLUMNS:.*]] = affine.apply #[[$BY32]]
//   CHECK-NOT: scf.forall
//       CHECK: scf.for %[[ID:.*]] = %[[BEGIN]] to %[[END]] step
//       CHECK: %[[J:.*]] = arith.remui %[[ID]], %[[COLUMNS]]
//       CHECK: %[[I:.*]] = arith.divui %[[ID]], %[[COLUMNS]]
//   CHECK-DAG: %[[ROW:.*]] = affine.apply #[[$TIMES16]](%[[I]])
//   CHECK-DAG: %[[COLUMN:.*]] = affine.apply #[[$TIMES32]](%[[J]])
//       CHECK: memref.store %{{.*}}, %{{.*}}[%[[ROW]], %[[COLUMN]]]
func.func private @two(%a: memref<f32> {plim.access = #plim.access<writeonly>}, %x: f32, %n: index,
                       %m: index) attributes {plim.dispatch_function} {
  %v = memref.reinterpret_cast %a to offset: [0], sizes: [%n, %m], strides: [%m, 1]
      : memref<f32> to memref<?x?xf32>
  %c1 = arith.constant 1 : index
  %d = memref.dim %v, %c1 : memref<?x?xf32>
  scf.forall (%i, %j) = (0, 0) to (%n, %d) step (16, 32) {
    memref.store %x, %v[%i, %j] : memref<?x?xf32>
  }
  return
}

// -----

// Lower bounds and steps: three workgroups, at 2, 4 and 6.
// CHECK-DAG: #[[$AT:.*]] = affine_map<(d0) -> (d0 * 2 + 2)>
// CHECK-LABEL: func.func private @offset_workgroups(
//       CHECK: arith.constant 3 : index
// CHECK-LABEL: func.func private @offset(
//       CHECK: scf.for %[[ID:.*]] =
//       CHECK: %[[I:.*]] = affine.apply #[[$AT]](%[[ID]])
//       CHECK: memref.store %{{.*}}, %{{.*}}[%[[I]]]
func.func private @offset(%a: memref<8xf32>, %x: f32) attributes {plim.dispatch_function} {
  scf.forall (%i) = (2) to (7) step (2) {
    memref.store %x, %a[%i] : memref<8xf32>
  }
  return
}

// -----

// Without a forall at the top there is one workgroup.
// CHECK-LABEL: func.func private @whole_workgroups(
//       CHECK: %[[ONE:.*]] = arith.constant 1 : index
//       CHECK: return %[[ONE]]
// CHECK-LABEL: func.func private @whole(
//  CHECK-SAME: memref<f32>, %{{[^:]*}}: index, %{{[^:]*}}: index)
//   CHECK-NOT: scf.for
//       CHECK: memref.store
func.func private @whole(%a: memref<f32>) attributes {plim.dispatch_function} {
  %z = arith.constant 0.0 : f32
  memref.store %z, %a[] : memref<f32>
  return
}

// -----

// CHECK-LABEL: func.func private @nested_workgroups(
//       CHECK: %[[ONE:.*]] = arith.constant 1 : index
//       CHECK: return %[[ONE]]
// CHECK-LABEL: func.func private @nested(
//       CHECK: scf.for
//       CHECK: scf.forall
func.func private @nested(%a: memref<4xf32>, %x: f32, %n: index)
    attributes {plim.dispatch_function} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %n step %c1 {
    scf.forall (%i) in (4) {
      memref.store %x, %a[%i] : memref<4xf32>
    }
  }
  return
}

// -----

// Kernels and host code stay as they are.
// CHECK-LABEL: func.func @kernel(
//  CHECK-SAME: memref<4xf32>) attributes
//   CHECK-NOT: _workgroups
//       CHECK: scf.forall
func.func @kernel(%a: memref<4xf32>) attributes {plim.kernel} {
  %z = arith.constant 0.0 : f32
  scf.forall (%i) in (4) {
    memref.store %z, %a[%i] : memref<4xf32>
  }
  return
}
