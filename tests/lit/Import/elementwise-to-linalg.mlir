// RUN: plimsoll-opt %s -plim-elementwise-to-linalg | FileCheck %s

// CHECK-LABEL: func.func @add(
//   CHECK-NOT: arith.addf %{{.*}} tensor
//       CHECK: linalg.generic
//       CHECK: arith.addf %{{.*}} : f32
func.func @add(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %r = arith.addf %a, %b : tensor<?xf32>
  return %r : tensor<?xf32>
}

// One condition for each element.
// CHECK-LABEL: func.func @elements(
//       CHECK: linalg.generic
//       CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
func.func @elements(%c: tensor<?xi1>, %a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %r = arith.select %c, %a, %b : tensor<?xi1>, tensor<?xf32>
  return %r : tensor<?xf32>
}

// One for both tensors, which may have different extents.
// CHECK-LABEL: func.func @choice(
//   CHECK-NOT: linalg.generic
//       CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<?xf32>
func.func @choice(%c: i1, %a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %r = arith.select %c, %a, %b : tensor<?xf32>
  return %r : tensor<?xf32>
}

// CHECK-LABEL: func.func @scalars(
//   CHECK-NOT: linalg.generic
func.func @scalars(%c: i1, %a: f32, %b: f32) -> f32 {
  %r = arith.select %c, %a, %b : f32
  return %r : f32
}
