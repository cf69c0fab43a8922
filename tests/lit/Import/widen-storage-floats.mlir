// RUN: plimsoll-opt %s -pass-pipeline='builtin.module(func.func(plim-widen-storage-floats))' | FileCheck %s

// CHECK-LABEL: @arithmetic
// CHECK: %[[A:.*]] = arith.extf %arg0 : f8E5M2 to f32
// CHECK: %[[B:.*]] = arith.extf %arg1 : f8E5M2 to f32
// CHECK: %[[S:.*]] = arith.addf %[[A]], %[[B]] : f32
// CHECK: %[[R:.*]] = arith.truncf %[[S]] : f32 to f8E5M2
// CHECK: %[[W:.*]] = arith.extf %[[R]] : f8E5M2 to f32
// CHECK: math.exp %[[W]] : f32
func.func @arithmetic(%a: f8E5M2, %b: f8E5M2) -> f8E5M2 {
  %s = arith.addf %a, %b : f8E5M2
  %r = math.exp %s : f8E5M2
  return %r : f8E5M2
}

// Comparisons have no result to round, conversions of integers no operand to widen.
// CHECK-LABEL: @others
// CHECK: arith.cmpf olt, %{{.*}}, %{{.*}} : f32
// CHECK: %[[I:.*]] = arith.sitofp %arg2 : i32 to f32
// CHECK: arith.truncf %[[I]] : f32 to f8E4M3FN
// CHECK: arith.fptosi %{{.*}} : f32 to i32
func.func @others(%a: f8E4M3FN, %b: f8E4M3FN, %i: i32) -> (i1, f8E4M3FN, i32) {
  %c = arith.cmpf olt, %a, %b : f8E4M3FN
  %f = arith.sitofp %i : i32 to f8E4M3FN
  %j = arith.fptosi %a : f8E4M3FN to i32
  return %c, %f, %j : i1, f8E4M3FN, i32
}

// What only moves or converts stays.
// CHECK-LABEL: @moves
// CHECK-NEXT: arith.constant 1.000000e+00 : f8E4M3FN
// CHECK-NEXT: arith.select {{.*}} : f8E4M3FN
// CHECK-NEXT: arith.bitcast {{.*}} : f8E4M3FN to i8
// CHECK-NEXT: arith.extf {{.*}} : f8E4M3FN to f16
// CHECK-NEXT: return
func.func @moves(%a: f8E4M3FN, %c: i1) -> (i8, f16) {
  %one = arith.constant 1.0 : f8E4M3FN
  %s = arith.select %c, %a, %one : f8E4M3FN
  %i = arith.bitcast %s : f8E4M3FN to i8
  %w = arith.extf %s : f8E4M3FN to f16
  return %i, %w : i8, f16
}

// The body of a named op on memrefs; one that computes in f32 keeps its name.
// CHECK-LABEL: @named
// CHECK: linalg.generic
// CHECK: arith.mulf {{.*}} : f32
// CHECK: arith.truncf
// CHECK: arith.addf {{.*}} : f32
// CHECK: arith.truncf
// CHECK: linalg.matmul ins({{.*}} : memref<4x4xf8E4M3FN>, memref<4x4xf8E4M3FN>) outs({{.*}} : memref<4x4xf32>)
func.func @named(%a: memref<4x4xf8E4M3FN>, %c: memref<4x4xf8E4M3FN>, %w: memref<4x4xf32>) {
  linalg.matmul ins(%a, %a : memref<4x4xf8E4M3FN>, memref<4x4xf8E4M3FN>) outs(%c : memref<4x4xf8E4M3FN>)
  linalg.matmul ins(%a, %a : memref<4x4xf8E4M3FN>, memref<4x4xf8E4M3FN>) outs(%w : memref<4x4xf32>)
  return
}
