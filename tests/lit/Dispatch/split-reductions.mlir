// RUN: plimsoll-opt %s -plim-split-reductions -canonicalize -cse -split-input-file | FileCheck %s
// RUN: plimsoll-opt %s -plim-split-reductions=strict=true -canonicalize -cse -split-input-file | FileCheck %s --check-prefix=STRICT

#id = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

// Sums of a row have chunks of 8192 elements, which are added in order. What the op starts from counts once.
//   CHECK-DAG: #[[$ROWS:.*]] = affine_map<(d0, d1) -> (d0, d1)>
//   CHECK-DAG: #[[$ROW:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @sum(
//  CHECK-SAME:   %[[X:.*]]: tensor<1048576xf32>, %[[INIT:.*]]: tensor<f32>)
//   CHECK-DAG: %[[NEUTRAL:.*]] = arith.constant -0.000000e+00 : f32
//   CHECK-NOT: tensor.extract_slice
//       CHECK: %[[CHUNKS:.*]] = tensor.expand_shape %[[X]] {{\[\[}}0, 1]] output_shape [128, 8192]
//       CHECK: %[[E:.*]] = tensor.empty() : tensor<128xf32>
//       CHECK: %[[F:.*]] = linalg.fill ins(%[[NEUTRAL]] : f32) outs(%[[E]]
//       CHECK: %[[P:.*]] = linalg.generic {indexing_maps = [#[[$ROWS]], #[[$ROW]]], iterator_types = ["parallel", "reduction"]}
//  CHECK-SAME:   ins(%[[CHUNKS]] : tensor<128x8192xf32>) outs(%[[F]] : tensor<128xf32>) attrs = {plim.split}
//       CHECK: %[[R:.*]] = linalg.generic {{.*}}iterator_types = ["reduction"]}
//  CHECK-SAME:   ins(%[[P]] : tensor<128xf32>) outs(%[[INIT]] : tensor<f32>) attrs = {plim.in_order, plim.split}
//       CHECK:   arith.addf
//       CHECK: return %[[R]]
// STRICT-LABEL: func.func @sum(
//   STRICT-NOT: expand_shape
//       STRICT: return
func.func @sum(%x: tensor<1048576xf32>, %init: tensor<f32>) -> tensor<f32> {
  %r = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]}
      ins(%x : tensor<1048576xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// -----

#id = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

// Integers are the same in any order: a chunk is as much as a task is worth. What is no whole chunk is folded on its own: neither
// waits for the other.
//    CHECK-DAG: #[[$COUNT:.*]] = affine_map<()[s0] -> (s0 floordiv 131072)>
//    CHECK-DAG: #[[$WHOLE:.*]] = affine_map<()[s0] -> ((s0 floordiv 131072) * 131072)>
//    CHECK-DAG: #[[$LEFT:.*]] = affine_map<()[s0] -> (s0 mod 131072)>
//  CHECK-LABEL: func.func @open(
//   CHECK-SAME:   %[[X:.*]]: tensor<?xi32>, %[[INIT:.*]]: tensor<i32>)
//    CHECK-DAG: %[[NEUTRAL:.*]] = arith.constant -2147483648 : i32
//        CHECK: %[[N:.*]] = tensor.dim %[[X]]
//        CHECK: %[[COUNT:.*]] = affine.apply #[[$COUNT]]()[%[[N]]]
//        CHECK: %[[WHOLE:.*]] = affine.apply #[[$WHOLE]]()[%[[N]]]
//        CHECK: %[[LEFT:.*]] = affine.apply #[[$LEFT]]()[%[[N]]]
//        CHECK: %[[PART:.*]] = tensor.extract_slice %[[X]][0] [%[[WHOLE]]] [1]
//        CHECK: %[[REST:.*]] = tensor.extract_slice %[[X]][%[[WHOLE]]] [%[[LEFT]]] [1]
//        CHECK: %[[CHUNKS:.*]] = tensor.expand_shape %[[PART]] {{\[\[}}0, 1]] output_shape [%[[COUNT]], 131072]
//        CHECK: %[[F:.*]] = linalg.fill ins(%[[NEUTRAL]] : i32) outs(%{{.*}} : tensor<?xi32>)
//        CHECK: %[[P:.*]] = linalg.generic {{.*}} ins(%[[CHUNKS]] : tensor<?x131072xi32>) outs(%[[F]] : tensor<?xi32>)
//        CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[P]] : tensor<?xi32>) outs(%[[INIT]] : tensor<i32>) attrs = {plim.split}
//        CHECK: %[[LAST:.*]] = linalg.generic {{.*}} ins(%[[REST]] : tensor<?xi32>) outs(%{{.*}} : tensor<i32>) {
//        CHECK: linalg.generic {{.*}}iterator_types = []} ins(%[[LAST]] : tensor<i32>) outs(%[[SUM]] : tensor<i32>)
// STRICT-LABEL: func.func @open(
//       STRICT: tensor.expand_shape
func.func @open(%x: tensor<?xi32>, %init: tensor<i32>) -> tensor<i32> {
  %r = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]}
      ins(%x : tensor<?xi32>) outs(%init : tensor<i32>) {
  ^bb0(%a: i32, %s: i32):
    %t = arith.maxsi %a, %s : i32
    linalg.yield %t : i32
  } -> tensor<i32>
  return %r : tensor<i32>
}

// -----

// A prime number has a rest as well.
// CHECK-LABEL: func.func @prime(
//       CHECK: tensor.extract_slice %{{.*}}[0] [999424] [1]
//       CHECK: tensor.extract_slice %{{.*}}[999424] [579] [1]
//       CHECK: tensor.expand_shape {{.*}} output_shape [122, 8192]
func.func @prime(%x: tensor<1000003xf32>, %init: tensor<f32>) -> tensor<f32> {
  %r = linalg.reduce { arith.addf } ins(%x : tensor<1000003xf32>) outs(%init : tensor<f32>) dimensions = [0]
  return %r : tensor<f32>
}

// -----

// Rows: chunks of a dimension that is not the outermost, of an extent that is known or not. Dispatches read them where they are.
// CHECK-LABEL: func.func @rows(
//       CHECK: tensor.extract_slice %{{.*}}[0, 0] [3, 598016] [1, 1]
//       CHECK: tensor.extract_slice %{{.*}}[0, 598016] [3, 1984] [1, 1]
//       CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2]] output_shape [3, 73, 8192] : tensor<3x598016xf32> into tensor<3x73x8192xf32>
//       CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]} ins(%{{.*}} : tensor<3x73x8192xf32>) outs(%{{.*}} : tensor<73x3xf32>)
//       CHECK: linalg.generic {{.*}}iterator_types = ["reduction", "parallel"]} ins(%{{.*}} : tensor<73x3xf32>) {{.*}}plim.in_order
//       CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2]] output_shape [3, %{{.*}}, 8192]
func.func @rows(%x: tensor<3x600000xf32>, %y: tensor<3x?xf32>, %init: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %r = linalg.reduce { arith.addf } ins(%x : tensor<3x600000xf32>) outs(%init : tensor<3xf32>) dimensions = [1]
  %s = linalg.reduce { arith.addf } ins(%y : tensor<3x?xf32>) outs(%init : tensor<3xf32>) dimensions = [1]
  return %r, %s : tensor<3xf32>, tensor<3xf32>
}

// -----

// The loop along rows is the one that is split, though another one would give as many chunks: code that does not split it has them.
// CHECK-LABEL: func.func @inner(
//       CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0], [1], [2, 3]] output_shape [4096, 2, 2, 8192]
func.func @inner(%x: tensor<4096x2x16384xf32>, %init: tensor<2xf32>) -> tensor<2xf32> {
  %r = linalg.reduce { arith.addf } ins(%x : tensor<4096x2x16384xf32>) outs(%init : tensor<2xf32>) dimensions = [0, 2]
  return %r : tensor<2xf32>
}

// -----

// Too short; results for enough workgroups; an order that matters.
// CHECK-LABEL: func.func @whole(
//   CHECK-NOT: expand_shape
//       CHECK: return
func.func @whole(%x: tensor<400000xf32>, %y: tensor<64x1048576xf32>, %z: tensor<1048576xf32>, %init: tensor<f32>, %inits: tensor<64xf32>)
    -> (tensor<f32>, tensor<64xf32>, tensor<f32>) {
  %r = linalg.reduce { arith.addf } ins(%x : tensor<400000xf32>) outs(%init : tensor<f32>) dimensions = [0]
  %s = linalg.reduce { arith.addf } ins(%y : tensor<64x1048576xf32>) outs(%inits : tensor<64xf32>) dimensions = [1]
  %t = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%z : tensor<1048576xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %acc: f32):
    %d = arith.subf %a, %acc : f32
    linalg.yield %d : f32
  } -> tensor<f32>
  return %r, %s, %t : tensor<f32>, tensor<64xf32>, tensor<f32>
}

// -----

// All columns are side by side: a chunk has all of them, of 256 rows.
// CHECK-LABEL: func.func @columns(
//       CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0, 1], [2]] output_shape [256, 256, 64]
//       CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<256x64xf32>)
func.func @columns(%x: tensor<65536x64xf32>, %init: tensor<64xf32>) -> tensor<64xf32> {
  %r = linalg.reduce { arith.addf } ins(%x : tensor<65536x64xf32>) outs(%init : tensor<64xf32>) dimensions = [0]
  return %r : tensor<64xf32>
}

// -----

// Loops that all operands have side by side are one.
// CHECK-LABEL: func.func @all(
//       CHECK: %[[FLAT:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0, 1, 2]] : tensor<8x300x?xf32> into tensor<?xf32>
//       CHECK: tensor.extract_slice %[[FLAT]][0]
//       CHECK: tensor.expand_shape {{.*}} into tensor<?x8192xf32>
func.func @all(%x: tensor<8x300x?xf32>, %init: tensor<f32>) -> tensor<f32> {
  %r = linalg.reduce { arith.addf } ins(%x : tensor<8x300x?xf32>) outs(%init : tensor<f32>) dimensions = [0, 1, 2]
  return %r : tensor<f32>
}

// -----

// The chunks of a product are a batch.
//   CHECK-DAG: #[[$A:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d0, d3)>
//   CHECK-DAG: #[[$B:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
//   CHECK-DAG: #[[$C:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK-LABEL: func.func @product(
//       CHECK: linalg.generic {indexing_maps = [#[[$A]], #[[$B]], #[[$C]]], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
//  CHECK-SAME:   ins(%{{.*}}, %{{.*}} : tensor<32x64x1024xf32>, tensor<64x1024x32xf32>) outs(%{{.*}} : tensor<64x32x32xf32>)
//       CHECK: linalg.generic {{.*}}iterator_types = ["reduction", "parallel", "parallel"]} ins(%{{.*}} : tensor<64x32x32xf32>)
func.func @product(%a: tensor<32x65536xf32>, %b: tensor<65536x32xf32>, %init: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<32x65536xf32>, tensor<65536x32xf32>) outs(%init : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %r : tensor<32x32xf32>
}

// -----

// Panels of a constant stay whole.
// CHECK-LABEL: func.func @panels(
//   CHECK-NOT: expand_shape
//       CHECK: return
func.func @panels(%a: tensor<32x65536xf32>, %p: tensor<2x65536x16xf32>, %init: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %b = plim.unpack_panels %p {column = 1 : i64, rest = array<i64: 0>} : tensor<2x65536x16xf32> -> tensor<65536x32xf32>
  %r = linalg.matmul ins(%a, %b : tensor<32x65536xf32>, tensor<65536x32xf32>) outs(%init : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %r : tensor<32x32xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

// Partial sums of f16 are f32, and the result is rounded once. What computes the elements becomes part of the op. Two
// results have two neutral elements.
// CHECK-LABEL: func.func @squares(
//   CHECK-DAG: %[[SUM:.*]] = arith.constant -0.000000e+00 : f32
//   CHECK-DAG: %[[MOST:.*]] = arith.constant 0xFC00 : f16
//       CHECK: tensor.expand_shape
//       CHECK: %[[P:.*]]:2 = linalg.generic {{.*}} outs(%{{.*}}, %{{.*}} : tensor<?xf32>, tensor<?xf16>)
//       CHECK: ^bb0(%[[X:.*]]: f16, %[[S:.*]]: f32, %[[M:.*]]: f16):
//       CHECK:   %[[Q:.*]] = arith.mulf %[[X]], %[[X]] : f16
//       CHECK:   arith.addf
//       CHECK:   arith.maximumf %[[M]], %[[Q]] : f16
//       CHECK: %[[R:.*]]:2 = linalg.generic {{.*}} ins(%[[P]]#0, %[[P]]#1 : tensor<?xf32>, tensor<?xf16>)
//       CHECK:   arith.addf
//       CHECK:   arith.maximumf
//       CHECK: %[[ALL:.*]]:2 = linalg.generic {{.*}}iterator_types = []}
//       CHECK: linalg.generic {{.*}} ins(%[[ALL]]#0 : tensor<f32>)
//       CHECK:   arith.truncf
func.func @squares(%x: tensor<?xf16>, %e: tensor<?xf16>, %s: tensor<f16>, %m: tensor<f16>) -> (tensor<f16>, tensor<f16>) {
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<?xf16>) outs(%e : tensor<?xf16>) {
  ^bb0(%a: f16, %o: f16):
    %b = arith.mulf %a, %a : f16
    linalg.yield %b : f16
  } -> tensor<?xf16>
  %r:2 = linalg.generic {indexing_maps = [#id, #none, #none], iterator_types = ["reduction"]}
      ins(%q : tensor<?xf16>) outs(%s, %m : tensor<f16>, tensor<f16>) {
  ^bb0(%a: f16, %sum: f16, %most: f16):
    %t = arith.addf %sum, %a : f16
    %u = arith.maximumf %most, %a : f16
    linalg.yield %t, %u : f16, f16
  } -> (tensor<f16>, tensor<f16>)
  return %r#0, %r#1 : tensor<f16>, tensor<f16>
}

// -----

// What rows of a softmax need stays with them.
// CHECK-LABEL: func.func @softmax(
//   CHECK-NOT: expand_shape
//       CHECK: return
func.func @softmax(%x: tensor<4x1048576xf32>, %init: tensor<4xf32>, %e: tensor<4x1048576xf32>) -> tensor<4x1048576xf32> {
  %m = linalg.reduce { arith.maximumf } ins(%x : tensor<4x1048576xf32>) outs(%init : tensor<4xf32>) dimensions = [1]
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<4x1048576xf32>, tensor<4xf32>) outs(%e : tensor<4x1048576xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    linalg.yield %d : f32
  } -> tensor<4x1048576xf32>
  return %r : tensor<4x1048576xf32>
}

// -----

// A middle dimension that no chunk divides.
// CHECK-LABEL: func.func @widened(
//       CHECK: tensor.extract_slice %{{.*}}[0, 0, 0] [2, 549888, 13] [1, 1, 1]
//       CHECK: tensor.expand_shape {{.*}} output_shape [2, 2148, 256, 13]
//       CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<2148x2x13xf32>)
func.func @widened(%x: tensor<2x550003x13xf16>, %o: tensor<2x13xf16>) -> tensor<2x13xf16> {
  %r = linalg.reduce { arith.addf } ins(%x : tensor<2x550003x13xf16>) outs(%o : tensor<2x13xf16>) dimensions = [1]
  return %r : tensor<2x13xf16>
}
