// Annotations become plim.alloc, and from there on no pass drops them.
// RUN: plimsoll-opt %s -plim-import-allocations | FileCheck %s --check-prefixes=CHECK,IMPORT
// RUN: plimsoll-opt %s -plim-import-allocations -canonicalize -cse -linalg-fuse-elementwise-ops \
// RUN:   -one-shot-bufferize=bufferize-function-boundaries -buffer-hoisting -buffer-loop-hoisting \
// RUN:   -canonicalize | FileCheck %s --check-prefixes=CHECK,SURVIVES

// CHECK-LABEL: func.func @tensors(
//      IMPORT: plim.alloc(%{{.*}}) {accessors = ["gpu"], scope = "global.sram"} : tensor<?x4xf32>
//      IMPORT: %[[E:.*]] = plim.alloc() {candidate_pools = ["sram", "dram"]} : tensor<2xf32>
//      IMPORT: linalg.copy ins(%{{.*}}) outs(%[[E]]
//    SURVIVES: plim.alloc(%{{.*}}) {accessors = ["gpu"], scope = "global.sram"} : memref<?x4xf32>
//    SURVIVES: plim.alloc() {candidate_pools = ["sram", "dram"]} : memref<2xf32>
func.func @tensors(%n: index, %x: f32, %c: tensor<2xf32>) -> (tensor<?x4xf32>, tensor<2xf32>) {
  %e = tensor.empty(%n) {plim.scope = "global.sram", plim.accessors = ["gpu"]} : tensor<?x4xf32>
  %f = linalg.fill ins(%x : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %d = bufferization.alloc_tensor() copy(%c) {plim.candidate_pools = ["sram", "dram"]} : tensor<2xf32>
  return %f, %d : tensor<?x4xf32>, tensor<2xf32>
}

// A constant extent would make upstream build the op anew, without the annotation.
// CHECK-LABEL: func.func @canonical(
//      IMPORT: plim.alloc(%{{.*}}) {alignment = 128 : i64, limits = {stack_budget_bytes = 64 : i64}} : memref<?xf32>
//    SURVIVES: plim.alloc(%{{.*}}) {alignment = 128 : i64, limits = {stack_budget_bytes = 64 : i64}} : memref<?xf32>
func.func @canonical(%x: f32) -> f32 {
  %c4 = arith.constant 4 : index
  %a = memref.alloc(%c4) {alignment = 128 : i64, plim.limits = {stack_budget_bytes = 64 : i64}} : memref<?xf32>
  memref.store %x, %a[%c4] : memref<?xf32>
  %r = memref.load %a[%c4] : memref<?xf32>
  memref.dealloc %a : memref<?xf32>
  return %r : f32
}

// An allocation of a loop may be hoisted, with its constraints.
// CHECK-LABEL: func.func @hoisted(
//    SURVIVES: plim.alloc() {scope = "global.workspace"} : memref<4xf32>
//    SURVIVES: scf.for
//      IMPORT: scf.for
//      IMPORT: plim.alloc() {scope = "global.workspace"} : memref<4xf32>
func.func @hoisted(%n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.alloc() {plim.scope = "global.workspace"} : memref<4xf32>
    memref.store %x, %a[%i] : memref<4xf32>
  }
  return
}

// What is fused away is gone; what the author wants as a buffer of its own stays one.
// CHECK-LABEL: func.func @fused(
//    SURVIVES: linalg.generic
//    SURVIVES-NOT: linalg.generic
//    SURVIVES: return
func.func @fused(%a: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() {plim.max_bytes = 16 : i64} : tensor<4xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %in : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.mulf %in, %in : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// A promised bound is checked where the size is known.
// CHECK-LABEL: func.func @bounded(
//  CHECK-SAME: %[[N:.*]]: index, %[[M:.*]]: index
//      IMPORT: %[[ROOM:.*]] = arith.constant 8 : index
//      IMPORT: arith.divui %[[ROOM]]
//      IMPORT: plim.require %{{.*}}, "{{.*}}import-allocations.mlir:[[# @LINE + 3]]:{{.*}}: the allocation takes more than its max_bytes of 128"
//      IMPORT: plim.alloc(%[[N]], %[[M]]) {max_bytes = 128 : i64} : tensor<?x?x4xf32>
func.func @bounded(%n: index, %m: index) -> tensor<?x?x4xf32> {
  %e = tensor.empty(%n, %m) {plim.max_bytes = 128 : i64} : tensor<?x?x4xf32>
  return %e : tensor<?x?x4xf32>
}

// What holds for a product stands in its body from here on: all that rewrites products keeps bodies.
// CHECK-LABEL: func.func @rounded(
//   CHECK-NOT:   attrs
//       CHECK:   arith.mulf %{{.*}}, %{{.*}} {plim.round_rows} : f32
func.func @rounded(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%y : tensor<4x4xf32>) attrs = {plim.round_rows} {
  ^bb0(%i: f32, %j: f32, %out: f32):
    %ij = arith.mulf %i, %j : f32
    %sum = arith.addf %out, %ij : f32
    linalg.yield %sum : f32
  } -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
