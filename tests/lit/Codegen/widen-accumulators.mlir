// RUN: plimsoll-opt %s -plim-widen-accumulators -split-input-file | FileCheck %s

// Operands and product in f32, one rounding at the end, into the memory of the result.
// CHECK-LABEL: func.func @matmul(
//  CHECK-SAME:   %[[A:.*]]: tensor<?x?xf16>, %[[B:.*]]: tensor<?x?xf16>, %[[OUT:.*]]: tensor<?x?xf16>
//       CHECK: %[[EMPTY:.*]] = tensor.empty({{.*}}) : tensor<?x?xf32>
//       CHECK: %[[ZERO:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%[[EMPTY]]
//       CHECK: %[[WIDE:.*]] = linalg.matmul
//  CHECK-SAME:   ins(%[[A]], %[[B]] : tensor<?x?xf16>, tensor<?x?xf16>) outs(%[[ZERO]] : tensor<?x?xf32>)
//       CHECK: linalg.generic {{.*}} ins(%[[WIDE]] : tensor<?x?xf32>) outs(%[[OUT]] : tensor<?x?xf16>)
//       CHECK:   arith.truncf %{{.*}} : f32 to f16
func.func @matmul(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %out: tensor<?x?xf16>) -> tensor<?x?xf16>
    attributes {plim.dispatch_function} {
  %zero = arith.constant 0.0 : f16
  %fill = linalg.fill ins(%zero : f16) outs(%out : tensor<?x?xf16>) -> tensor<?x?xf16>
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf16>, tensor<?x?xf16>)
                     outs(%fill : tensor<?x?xf16>) -> tensor<?x?xf16>
  return %r : tensor<?x?xf16>
}

// -----

// What is there counts; two results, of which one is a maximum.
// CHECK-LABEL: func.func @several(
//  CHECK-SAME:   %[[X:.*]]: tensor<8x9xbf16>, %[[S:.*]]: tensor<8xbf16>, %[[M:.*]]: tensor<8xbf16>
//       CHECK: %[[WIDE:.*]] = linalg.generic {{.*}} ins(%[[S]] : tensor<8xbf16>) outs(%{{.*}} : tensor<8xf32>)
//       CHECK:   arith.extf
//       CHECK: linalg.generic {{.*}} outs(%[[WIDE]], %[[M]] : tensor<8xf32>, tensor<8xbf16>)
//       CHECK: ^bb0(%[[IN:.*]]: bf16, %[[SUM:.*]]: f32, %[[MOST:.*]]: bf16):
//   CHECK-DAG:   %[[LEFT:.*]] = arith.extf %[[IN]]
//   CHECK-DAG:   %[[RIGHT:.*]] = arith.extf %[[IN]]
//       CHECK:   %[[SQUARE:.*]] = arith.mulf %[[LEFT]], %[[RIGHT]] : f32
//       CHECK:   %[[NEXT:.*]] = arith.addf %[[SUM]], %[[SQUARE]] : f32
//       CHECK:   %[[LARGER:.*]] = arith.maximumf %[[MOST]], %[[IN]] : bf16
//       CHECK:   linalg.yield %[[NEXT]], %[[LARGER]] : f32, bf16
func.func @several(%x: tensor<8x9xbf16>, %s: tensor<8xbf16>, %m: tensor<8xbf16>)
    -> (tensor<8xbf16>, tensor<8xbf16>) attributes {plim.dispatch_function} {
  %r:2 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x9xbf16>) outs(%s, %m : tensor<8xbf16>, tensor<8xbf16>) {
  ^bb0(%in: bf16, %sum: bf16, %most: bf16):
    %square = arith.mulf %in, %in : bf16
    %next = arith.addf %sum, %square : bf16
    %larger = arith.maximumf %most, %in : bf16
    linalg.yield %next, %larger : bf16, bf16
  } -> (tensor<8xbf16>, tensor<8xbf16>)
  return %r#0, %r#1 : tensor<8xbf16>, tensor<8xbf16>
}

// -----

// A decay, and an accumulator that something else reads, are the author's.
// CHECK-LABEL: func.func @others(
//   CHECK-NOT: f32
func.func @others(%x: tensor<9xf16>, %s: tensor<f16>, %t: tensor<f16>)
    -> (tensor<f16>, tensor<f16>) attributes {plim.dispatch_function} {
  %r:2 = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> ()>],
      iterator_types = ["reduction"]}
      ins(%x : tensor<9xf16>) outs(%s, %t : tensor<f16>, tensor<f16>) {
  ^bb0(%in: f16, %a: f16, %b: f16):
    %half = arith.constant 0.5 : f16
    %less = arith.mulf %a, %half : f16
    %next = arith.addf %less, %in : f16
    %sum = arith.addf %b, %in : f16
    %most = arith.maximumf %sum, %next : f16
    linalg.yield %next, %most : f16, f16
  } -> (tensor<f16>, tensor<f16>)
  return %r#0, %r#1 : tensor<f16>, tensor<f16>
}

// -----

// What rounds is written now: the loops that may be tiled are its own.
// CHECK-LABEL: func.func @loops(
//  CHECK-SAME:   plim.parallel_loops = array<i64: 0, 1>
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "parallel"]
//       CHECK:   %[[R:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
//       CHECK:   bufferization.materialize_in_destination %[[R]]
func.func @loops(%x: tensor<8x9x10xbf16>, %init: tensor<10x8xbf16>, %out: memref<10x8xbf16>)
    attributes {plim.dispatch_function, plim.parallel_loops = array<i64: 0, 2>} {
  %r = linalg.generic {
      indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (c, a)>],
      iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x : tensor<8x9x10xbf16>) outs(%init : tensor<10x8xbf16>) {
  ^bb0(%in: bf16, %sum: bf16):
    %next = arith.addf %sum, %in : bf16
    linalg.yield %next : bf16
  } -> tensor<10x8xbf16>
  bufferization.materialize_in_destination %r in writable %out : (tensor<10x8xbf16>, memref<10x8xbf16>) -> ()
  return
}
