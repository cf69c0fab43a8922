// RUN: plimsoll-opt %s -plim-unroll-reductions -split-input-file | FileCheck %s

// The terms in order, from the constant that the destination holds; what computes elements for the sum alone comes along, and
// is read once though it is used twice.
//   CHECK-DAG: #[[$FIRST:.*]] = affine_map<(d0) -> (d0, 0)>
//   CHECK-DAG: #[[$SECOND:.*]] = affine_map<(d0) -> (d0, 1)>
//   CHECK-DAG: #[[$ROW:.*]] = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @squares(
//       CHECK: linalg.generic {indexing_maps = [#[[$FIRST]], #[[$SECOND]], #[[$ROW]]], iterator_types = ["parallel"]} ins(%arg0, %arg0 : tensor<?x2xf32>, tensor<?x2xf32>)
//       CHECK: ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32, %{{.*}}: f32):
//       CHECK: %[[Z:.*]] = arith.constant 1.000000e+00 : f32
//       CHECK: %[[A:.*]] = arith.mulf %[[X]], %[[X]]
//       CHECK: %[[B:.*]] = arith.addf %[[Z]], %[[A]]
//       CHECK: %[[C:.*]] = arith.mulf %[[Y]], %[[Y]]
//       CHECK: %[[D:.*]] = arith.addf %[[B]], %[[C]]
//       CHECK: linalg.yield %[[D]]
#all = affine_map<(i, j) -> (i, j)>
func.func @squares(%x: tensor<?x2xf32>, %n: index) -> tensor<?xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty(%n) : tensor<?x2xf32>
  %s = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x2xf32>) outs(%e : tensor<?x2xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.mulf %a, %a : f32
    linalg.yield %m : f32
  } -> tensor<?x2xf32>
  %c = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%one : f32) outs(%c : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.reduce { arith.addf } ins(%s : tensor<?x2xf32>) outs(%f : tensor<?xf32>) dimensions = [1]
  return %r : tensor<?xf32>
}

// -----

// Two accumulators that know of each other, from what the destinations hold; an input without the loop is there once.
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
// CHECK-LABEL: func.func @several(
//       CHECK: %[[R:.*]]:2 = linalg.generic {{.*}} ins(%arg0, %arg0, %arg0, %arg1 : tensor<9x3xi32>, tensor<9x3xi32>, tensor<9x3xi32>, tensor<9xi32>)
//  CHECK-SAME: outs(%arg2, %arg3 : tensor<9xi32>, tensor<9xi32>)
// CHECK-COUNT-3: arith.maxsi
//       CHECK: linalg.yield
func.func @several(%x: tensor<9x3xi32>, %b: tensor<9xi32>, %c: tensor<9xi32>, %d: tensor<9xi32>)
    -> (tensor<9xi32>, tensor<9xi32>) {
  %r:2 = linalg.generic {indexing_maps = [#ij, #i, #i, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x, %b : tensor<9x3xi32>, tensor<9xi32>) outs(%c, %d : tensor<9xi32>, tensor<9xi32>) {
  ^bb0(%a: i32, %k: i32, %s: i32, %t: i32):
    %p = arith.addi %a, %k : i32
    %q = arith.maxsi %s, %p : i32
    %u = arith.addi %t, %q : i32
    linalg.yield %q, %u : i32, i32
  } -> (tensor<9xi32>, tensor<9xi32>)
  return %r#0, %r#1 : tensor<9xi32>, tensor<9xi32>
}

// -----

// A sum of what a product gives to it alone is computed along with the product.
// CHECK-LABEL: func.func @product(
//       CHECK: linalg.matmul
//       CHECK: linalg.reduce
func.func @product(%a: tensor<8x8xf32>, %b: tensor<8x4xf32>, %m: tensor<8x4xf32>, %c: tensor<8xf32>) -> tensor<8xf32> {
  %p = linalg.matmul ins(%a, %b : tensor<8x8xf32>, tensor<8x4xf32>) outs(%m : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r = linalg.reduce { arith.addf } ins(%p : tensor<8x4xf32>) outs(%c : tensor<8xf32>) dimensions = [1]
  return %r : tensor<8xf32>
}

// -----

// Left alone: nine terms, eight of f64, or an unknown number; terms that lie apart; what has no rows; products; what is for a device.
// CHECK-LABEL: func.func @others(
// CHECK-COUNT-6: linalg.reduce
//       CHECK: linalg.matmul
func.func @others(%a: tensor<6x9xf32>, %b: tensor<6x?xf32>, %d: tensor<3x6xf32>, %e: tensor<3xf32>, %x: tensor<6x3xf32>,
                  %c: tensor<6xf32>, %z: tensor<f32>, %m: tensor<6x6xf32>, %g: tensor<6x8xf64>, %h: tensor<6xf64>)
    -> (tensor<6xf64>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<f32>, tensor<6xf32>, tensor<6x6xf32>) {
  %o = linalg.reduce { arith.addf } ins(%g : tensor<6x8xf64>) outs(%h : tensor<6xf64>) dimensions = [1]
  %p = linalg.reduce { arith.addf } ins(%a : tensor<6x9xf32>) outs(%c : tensor<6xf32>) dimensions = [1]
  %q = linalg.reduce { arith.addf } ins(%b : tensor<6x?xf32>) outs(%c : tensor<6xf32>) dimensions = [1]
  %r = linalg.reduce { arith.addf } ins(%d : tensor<3x6xf32>) outs(%c : tensor<6xf32>) dimensions = [0]
  %s = linalg.reduce { arith.addf } ins(%e : tensor<3xf32>) outs(%z : tensor<f32>) dimensions = [0]
  %t = linalg.reduce { arith.addf } ins(%x : tensor<6x3xf32>) outs(%c : tensor<6xf32>) dimensions = [1] {plim.device = "npu"}
  %u = linalg.matmul ins(%x, %d : tensor<6x3xf32>, tensor<3x6xf32>) outs(%m : tensor<6x6xf32>) -> tensor<6x6xf32>
  return %o, %p, %q, %r, %s, %t, %u : tensor<6xf64>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<f32>, tensor<6xf32>, tensor<6x6xf32>
}

// -----

// A maximum of 16 bits is taken in f32, and rounded, which changes nothing, once.
// CHECK-LABEL: func.func @narrow(
//       CHECK: linalg.generic
//  CHECK-NEXT: ^bb0(%[[A:.*]]: bf16, %[[B:.*]]: bf16, %[[C:.*]]: bf16)
//  CHECK-NEXT: %[[WC:.*]] = arith.extf %[[C]] : bf16 to f32
//  CHECK-NEXT: %[[WA:.*]] = arith.extf %[[A]] : bf16 to f32
//  CHECK-NEXT: %[[M:.*]] = arith.maximumf %[[WC]], %[[WA]] : f32
//  CHECK-NEXT: %[[WB:.*]] = arith.extf %[[B]] : bf16 to f32
//  CHECK-NEXT: %[[N:.*]] = arith.maximumf %[[M]], %[[WB]] : f32
//  CHECK-NEXT: %[[R:.*]] = arith.truncf %[[N]] : f32 to bf16
//  CHECK-NEXT: linalg.yield %[[R]] : bf16
func.func @narrow(%x: tensor<9x2xbf16>, %c: tensor<9xbf16>) -> tensor<9xbf16> {
  %r = linalg.reduce { arith.maximumf } ins(%x : tensor<9x2xbf16>) outs(%c : tensor<9xbf16>) dimensions = [1]
  return %r : tensor<9xbf16>
}
