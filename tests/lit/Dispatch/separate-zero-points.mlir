// RUN: plimsoll-opt %s -plim-separate-zero-points -canonicalize -cse -split-input-file | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#none = affine_map<(m, n, k) -> ()>

//  CHECK-DAG: #[[$ALL:.*]] = affine_map<(d0, d1) -> (d0, d1)>
//  CHECK-DAG: #[[$ROW:.*]] = affine_map<(d0, d1) -> (d0)>
//  CHECK-DAG: #[[$COLUMN:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @scalars(
//  CHECK-SAME:   %[[A:.*]]: tensor<?x?xi8>, %[[B:.*]]: tensor<?x64xi8>, {{.*}}, %[[ZA:.*]]: i32, %[[ZB:.*]]: i32)
//       CHECK:   %[[P:.*]] = linalg.generic {{.*}} ins(%[[A]], %[[B]] : tensor<?x?xi8>, tensor<?x64xi8>)
//  CHECK-NEXT:   ^bb0(%[[X:.*]]: i8, %[[Y:.*]]: i8, %[[S:.*]]: i32):
//  CHECK-NEXT:     %[[U:.*]] = arith.extsi %[[X]]
//  CHECK-NEXT:     %[[V:.*]] = arith.extui %[[Y]]
//  CHECK-NEXT:     %[[T:.*]] = arith.muli %[[U]], %[[V]]
//  CHECK-NEXT:     %[[N:.*]] = arith.addi %[[S]], %[[T]]
//  CHECK-NEXT:     linalg.yield %[[N]]
//       CHECK:   %[[ROWS:.*]] = linalg.generic {indexing_maps = [#[[$ALL]], #[[$ROW]]], iterator_types = ["parallel", "reduction"]} ins(%[[A]]
//       CHECK:     arith.extsi
//       CHECK:   %[[COLUMNS:.*]] = linalg.generic {indexing_maps = [#[[$ALL]], #[[$COLUMN]]], iterator_types = ["reduction", "parallel"]} ins(%[[B]]
//       CHECK:     arith.extui
//       CHECK:   %[[BOTH:.*]] = arith.muli %[[ZA]], %[[ZB]]
//       CHECK:   %[[K:.*]] = tensor.dim %[[A]], %c1
//       CHECK:   %[[TERMS:.*]] = arith.index_cast %[[K]]
//       CHECK:   %[[REST:.*]] = arith.muli %[[BOTH]], %[[TERMS]]
//       CHECK:   %[[R:.*]] = linalg.generic {indexing_maps = [#[[$ALL]], #[[$ROW]], #[[$COLUMN]], #[[$ALL]]], iterator_types = ["parallel", "parallel"]}
//  CHECK-SAME:     ins(%[[P]], %[[ROWS]], %[[COLUMNS]] :
//  CHECK-NEXT:   ^bb0(%[[X:.*]]: i32, %[[Y:.*]]: i32, %[[Z:.*]]: i32,
//  CHECK-NEXT:     %[[U:.*]] = arith.muli %[[ZB]], %[[Y]]
//  CHECK-NEXT:     %[[V:.*]] = arith.subi %[[X]], %[[U]]
//  CHECK-NEXT:     %[[W:.*]] = arith.muli %[[ZA]], %[[Z]]
//  CHECK-NEXT:     %[[T:.*]] = arith.subi %[[V]], %[[W]]
//  CHECK-NEXT:     arith.addi %[[T]], %[[REST]]
//       CHECK:   return %[[R]]
func.func @scalars(%a: tensor<?x?xi8>, %b: tensor<?x64xi8>, %e: tensor<?x64xi32>, %za: i32, %zb: i32) -> tensor<?x64xi32> {
  %zero = arith.constant 0 : i32
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<?x64xi32>) -> tensor<?x64xi32>
  %r = linalg.generic {indexing_maps = [#a, #b, #none, #none, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b, %za, %zb : tensor<?x?xi8>, tensor<?x64xi8>, i32, i32) outs(%f : tensor<?x64xi32>) {
  ^bb0(%x: i8, %y: i8, %p: i32, %q: i32, %s: i32):
    %u = arith.extsi %x : i8 to i32
    %v = arith.subi %u, %p : i32
    %w = arith.extui %y : i8 to i32
    %o = arith.subi %w, %q : i32
    %t = arith.muli %v, %o : i32
    %n = arith.addi %s, %t : i32
    linalg.yield %n : i32
  } -> tensor<?x64xi32>
  return %r : tensor<?x64xi32>
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// In the body. 11 * 2^31 wraps to 2^31.
// CHECK-LABEL: func.func @numbers(
//   CHECK-DAG:   %[[REST:.*]] = arith.constant -2147483648 : i32
//       CHECK:   arith.addi %{{.*}}, %[[REST]]
//  CHECK-NEXT:   linalg.yield
func.func @numbers(%a: tensor<8x11xi8>, %b: tensor<11x8xi8>) -> tensor<8x8xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<8x8xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<8x8xi32>) -> tensor<8x8xi32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<8x11xi8>, tensor<11x8xi8>) outs(%f : tensor<8x8xi32>) {
  ^bb0(%x: i8, %y: i8, %s: i32):
    %p = arith.constant 65536 : i32
    %q = arith.constant 32768 : i32
    %u = arith.extsi %x : i8 to i32
    %v = arith.subi %u, %p : i32
    %w = arith.extsi %y : i8 to i32
    %o = arith.subi %w, %q : i32
    %t = arith.muli %o, %v : i32
    %n = arith.addi %t, %s : i32
    linalg.yield %n : i32
  } -> tensor<8x8xi32>
  return %r : tensor<8x8xi32>
}

// -----

#image = affine_map<(n, h, w, f, i, j, c) -> (n, h + i, w + j, c)>
#filter = affine_map<(n, h, w, f, i, j, c) -> (f, i, j, c)>
#none = affine_map<(n, h, w, f, i, j, c) -> ()>
#result = affine_map<(n, h, w, f, i, j, c) -> (n, h, w, f)>

// A zero point of 0 has no terms. A bias is corrected before the product.
//       CHECK: #[[$LAST:.*]] = affine_map<(d0, d1, d2, d3) -> (d3)>
// CHECK-LABEL: func.func @convolution(
//  CHECK-SAME:   %[[IMAGE:.*]]: tensor<1x18x18x8xi8>, %[[BIAS:.*]]: tensor<1x16x16x16xi32>)
//   CHECK-DAG:   %[[THREE:.*]] = arith.constant 3 : i32
//   CHECK-DAG:   %[[FILTER:.*]] = bufferization.to_tensor
//       CHECK:   %[[SUM:.*]] = linalg.generic {{.*}} ["parallel", "reduction", "reduction", "reduction"]} ins(%[[FILTER]] : {{.*}} attrs = {plim.split}
//       CHECK:   %[[INIT:.*]] = linalg.generic {indexing_maps = [#{{.*}}, #[[$LAST]], #{{.*}}], {{.*}} ins(%[[BIAS]], %[[SUM]]
//       CHECK:     %[[LESS:.*]] = arith.muli %{{.*}}, %[[THREE]]
//       CHECK:     arith.subi %{{.*}}, %[[LESS]]
//       CHECK:   %[[R:.*]] = linalg.generic {{.*}} ins(%[[IMAGE]], %[[FILTER]] : {{.*}} outs(%[[INIT]]
//   CHECK-NOT:     arith.subi
//       CHECK:   return %[[R]]
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"host" = #dlti.target_device_spec<"plim.kind" = "cpu", "plim.page_bytes" = 4096 : i64>>} {
memref.global "private" @filter : memref<16x3x3x8xi8>
func.func @convolution(%x: tensor<1x18x18x8xi8>, %bias: tensor<1x16x16x16xi32>) -> tensor<1x16x16x16xi32> {
  %m = memref.get_global @filter : memref<16x3x3x8xi8>
  %w = bufferization.to_tensor %m restrict : memref<16x3x3x8xi8> to tensor<16x3x3x8xi8>
  %z = arith.constant 3 : i32
  %zero = arith.constant 0 : i32
  %r = linalg.generic {indexing_maps = [#image, #filter, #none, #none, #result],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w, %z, %zero : tensor<1x18x18x8xi8>, tensor<16x3x3x8xi8>, i32, i32) outs(%bias : tensor<1x16x16x16xi32>) {
  ^bb0(%a: i8, %b: i8, %p: i32, %q: i32, %s: i32):
    %u = arith.extsi %a : i8 to i32
    %v = arith.subi %u, %p : i32
    %y = arith.extsi %b : i8 to i32
    %o = arith.subi %y, %q : i32
    %t = arith.muli %v, %o : i32
    %n = arith.addi %s, %t : i32
    linalg.yield %n : i32
  } -> tensor<1x16x16x16xi32>
  return %r : tensor<1x16x16x16xi32>
}
}

// -----

#image = affine_map<(n, h, w, f, i, j, c) -> (n, h + i, w + j, c)>
#filter = affine_map<(n, h, w, f, i, j, c) -> (f, i, j, c)>
#none = affine_map<(n, h, w, f, i, j, c) -> ()>
#result = affine_map<(n, h, w, f, i, j, c) -> (n, h, w, f)>

// Sums of windows of the image.
// CHECK-LABEL: func.func @windows(
//       CHECK:   linalg.generic
//       CHECK:     arith.subi
//       CHECK:     arith.subi
//   CHECK-NOT:   linalg.generic
//       CHECK:   return
func.func @windows(%x: tensor<1x18x18x8xi8>, %w: tensor<16x3x3x8xi8>, %bias: tensor<1x16x16x16xi32>, %za: i32, %zb: i32) -> tensor<1x16x16x16xi32> {
  %r = linalg.generic {indexing_maps = [#image, #filter, #none, #none, #result],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w, %za, %zb : tensor<1x18x18x8xi8>, tensor<16x3x3x8xi8>, i32, i32) outs(%bias : tensor<1x16x16x16xi32>) {
  ^bb0(%a: i8, %b: i8, %p: i32, %q: i32, %s: i32):
    %u = arith.extsi %a : i8 to i32
    %v = arith.subi %u, %p : i32
    %y = arith.extsi %b : i8 to i32
    %o = arith.subi %y, %q : i32
    %t = arith.muli %v, %o : i32
    %n = arith.addi %s, %t : i32
    linalg.yield %n : i32
  } -> tensor<1x16x16x16xi32>
  return %r : tensor<1x16x16x16xi32>
}

// -----

#a = affine_map<(n, k) -> (k)>
#b = affine_map<(n, k) -> (k, n)>
#c = affine_map<(n, k) -> (n)>

// The sum of the columns would read the matrix once more, for one row.
// CHECK-LABEL: func.func @row(
//       CHECK:   linalg.generic
//       CHECK:     arith.subi
//   CHECK-NOT:   linalg.generic
//       CHECK:   return
func.func @row(%a: tensor<64xi8>, %b: tensor<64x256xi8>, %c: tensor<256xi32>, %za: i32) -> tensor<256xi32> {
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction"]}
      ins(%a, %b : tensor<64xi8>, tensor<64x256xi8>) outs(%c : tensor<256xi32>) {
  ^bb0(%x: i8, %y: i8, %s: i32):
    %u = arith.extsi %x : i8 to i32
    %v = arith.subi %u, %za : i32
    %w = arith.extsi %y : i8 to i32
    %t = arith.muli %v, %w : i32
    %n = arith.addi %s, %t : i32
    linalg.yield %n : i32
  } -> tensor<256xi32>
  return %r : tensor<256xi32>
}
