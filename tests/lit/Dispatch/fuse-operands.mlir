// RUN: plimsoll-opt %s -plim-fuse-operands -canonicalize -split-input-file | FileCheck %s
// RUN: plimsoll-opt %s -plim-fuse-operands -split-input-file | FileCheck %s --check-prefix=RAW

#id = affine_map<(d0, d1) -> (d0, d1)>
#none = affine_map<(d0, d1) -> ()>
#row = affine_map<(d0, d1) -> (d0)>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// Both operands, one of them less a zero point of its own type.
// CHECK-LABEL: func.func @bytes(
//  CHECK-SAME:   %[[A:[^:]*]]: tensor<8x16xi8>, %[[Z:[^:]*]]: tensor<i8>, %[[B:[^:]*]]: tensor<16x4xi8>
//       CHECK:   %[[R:.*]] = linalg.generic {{.*}} ins(%[[A]], %[[Z]], %[[B]] : tensor<8x16xi8>, tensor<i8>, tensor<16x4xi8>)
//  CHECK-NEXT:   ^bb0(%[[X:.*]]: i8, %[[ZERO:.*]]: i8, %[[Y:.*]]: i8, %[[S:.*]]: i32):
//   CHECK-DAG:     %[[WX:.*]] = arith.extui %[[X]] : i8 to i32
//   CHECK-DAG:     %[[WZ:.*]] = arith.extui %[[ZERO]] : i8 to i32
//   CHECK-DAG:     %[[D:.*]] = arith.subi %[[WX]], %[[WZ]]
//   CHECK-DAG:     %[[WY:.*]] = arith.extsi %[[Y]] : i8 to i32
//       CHECK:     %[[T:.*]] = arith.muli %[[D]], %[[WY]]
//       CHECK:     arith.addi %[[S]], %[[T]]
//       CHECK:   return %[[R]]
func.func @bytes(%a: tensor<8x16xi8>, %z: tensor<i8>, %b: tensor<16x4xi8>, %init: tensor<8x4xi32>) -> tensor<8x4xi32> {
  %ea = tensor.empty() : tensor<8x16xi32>
  %wa = linalg.generic {indexing_maps = [#id, #none, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %z : tensor<8x16xi8>, tensor<i8>) outs(%ea : tensor<8x16xi32>) {
  ^bb0(%x: i8, %zero: i8, %o: i32):
    %0 = arith.extui %x : i8 to i32
    %1 = arith.extui %zero : i8 to i32
    %2 = arith.subi %0, %1 : i32
    linalg.yield %2 : i32
  } -> tensor<8x16xi32>
  %eb = tensor.empty() : tensor<16x4xi32>
  %wb = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<16x4xi8>) outs(%eb : tensor<16x4xi32>) {
  ^bb0(%x: i8, %o: i32):
    %0 = arith.extsi %x : i8 to i32
    linalg.yield %0 : i32
  } -> tensor<16x4xi32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%wa, %wb : tensor<8x16xi32>, tensor<16x4xi32>) outs(%init : tensor<8x4xi32>) {
  ^bb0(%x: i32, %y: i32, %s: i32):
    %0 = arith.muli %x, %y : i32
    %1 = arith.addi %s, %0 : i32
    linalg.yield %1 : i32
  } -> tensor<8x4xi32>
  return %r : tensor<8x4xi32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// What something else reads stays beside the product.
// CHECK-LABEL: func.func @read_twice(
//  CHECK-SAME:   %[[A:[^:]*]]: tensor<?x?xbf16>, %[[B:[^:]*]]: tensor<?x?xf32>
//       CHECK:   %[[WIDE:.*]] = linalg.generic {{.*}} ins(%[[A]] : tensor<?x?xbf16>)
//       CHECK:   %[[R:.*]] = linalg.generic {{.*}} ins(%[[A]], %[[B]] : tensor<?x?xbf16>, tensor<?x?xf32>)
//       CHECK:     arith.extf
//       CHECK:   return %[[R]], %[[WIDE]]
func.func @read_twice(%a: tensor<?x?xbf16>, %b: tensor<?x?xf32>, %e: tensor<?x?xf32>, %init: tensor<?x?xf32>)
    -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %wa = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x?xbf16>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%x: bf16, %o: f32):
    %0 = arith.extf %x : bf16 to f32
    linalg.yield %0 : f32
  } -> tensor<?x?xf32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%wa, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%init : tensor<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?x?xf32>
  return %r, %wa : tensor<?x?xf32>, tensor<?x?xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// A zero point for each row, or a factor, is more than that.
// CHECK-LABEL: func.func @more(
//       CHECK:   %[[WA:.*]] = linalg.generic
//       CHECK:     arith.subi
//       CHECK:   %[[WB:.*]] = linalg.generic
//       CHECK:     arith.muli
//       CHECK:   linalg.generic {{.*}} ins(%[[WA]], %[[WB]] : tensor<8x16xi32>, tensor<16x4xi32>)
func.func @more(%a: tensor<8x16xi8>, %z: tensor<8xi32>, %b: tensor<16x4xi8>, %init: tensor<8x4xi32>) -> tensor<8x4xi32> {
  %ea = tensor.empty() : tensor<8x16xi32>
  %wa = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %z : tensor<8x16xi8>, tensor<8xi32>) outs(%ea : tensor<8x16xi32>) {
  ^bb0(%x: i8, %zero: i32, %o: i32):
    %0 = arith.extui %x : i8 to i32
    %1 = arith.subi %0, %zero : i32
    linalg.yield %1 : i32
  } -> tensor<8x16xi32>
  %eb = tensor.empty() : tensor<16x4xi32>
  %wb = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<16x4xi8>) outs(%eb : tensor<16x4xi32>) {
  ^bb0(%x: i8, %o: i32):
    %0 = arith.extsi %x : i8 to i32
    %1 = arith.muli %0, %0 : i32
    linalg.yield %1 : i32
  } -> tensor<16x4xi32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%wa, %wb : tensor<8x16xi32>, tensor<16x4xi32>) outs(%init : tensor<8x4xi32>) {
  ^bb0(%x: i32, %y: i32, %s: i32):
    %0 = arith.muli %x, %y : i32
    %1 = arith.addi %s, %0 : i32
    linalg.yield %1 : i32
  } -> tensor<8x4xi32>
  return %r : tensor<8x4xi32>
}

// -----

#t = affine_map<(d0, d1) -> (d1, d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

//   CHECK-DAG: #[[$NK:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-LABEL: func.func @transposed(
//  CHECK-SAME:   %[[A:[^:]*]]: tensor<1x?xf32>, %[[B:[^:]*]]: tensor<?x?xf32>
//   CHECK-NOT:   linalg.generic {{.*}}["parallel", "parallel"]
//       CHECK:   %[[R:.*]] = linalg.generic {indexing_maps = [#{{.*}}, #[[$NK]], #{{.*}}], {{.*}} ins(%[[A]], %[[B]] :
//       CHECK:   return %[[R]]
func.func @transposed(%a: tensor<1x?xf32>, %b: tensor<?x?xf32>, %e: tensor<?x?xf32>, %init: tensor<1x?xf32>) -> tensor<1x?xf32> {
  %t = linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<?x?xf32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %t : tensor<1x?xf32>, tensor<?x?xf32>) outs(%init : tensor<1x?xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<1x?xf32>
  return %r : tensor<1x?xf32>
}

// -----

#same = affine_map<(d0, d1) -> (d0, d1)>
#line = affine_map<(x, f, c, k) -> (c, x + k)>
#filter = affine_map<(x, f, c, k) -> (f, c, k)>
#all = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#out = affine_map<(x, f, c, k) -> (x, f)>

// A filter alone says how large a window is; what it was made from says it as well, so that there is no second result.
// RAW-LABEL: func.func @window(
//       RAW:   %[[R:.*]] = linalg.generic {{.*}}"reduction", "reduction"]} ins(%{{.*}}, %{{.*}} : tensor<8x16xi8>, tensor<4x8x3xi8>) outs(%{{.*}} : tensor<14x4xi32>)
//       RAW:     linalg.yield %{{[^,]*}} : i32
//       RAW:   return %[[R]]
func.func @window(%a: tensor<8x16xi8>, %b: tensor<4x8x3xi8>, %init: tensor<14x4xi32>) -> tensor<14x4xi32> {
  %ea = tensor.empty() : tensor<8x16xi32>
  %wa = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<8x16xi8>) outs(%ea : tensor<8x16xi32>) {
  ^bb0(%x: i8, %o: i32):
    %0 = arith.extsi %x : i8 to i32
    linalg.yield %0 : i32
  } -> tensor<8x16xi32>
  %eb = tensor.empty() : tensor<4x8x3xi32>
  %wb = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%b : tensor<4x8x3xi8>) outs(%eb : tensor<4x8x3xi32>) {
  ^bb0(%x: i8, %o: i32):
    %0 = arith.extsi %x : i8 to i32
    linalg.yield %0 : i32
  } -> tensor<4x8x3xi32>
  %r = linalg.generic {indexing_maps = [#line, #filter, #out], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%wa, %wb : tensor<8x16xi32>, tensor<4x8x3xi32>) outs(%init : tensor<14x4xi32>) {
  ^bb0(%x: i32, %y: i32, %s: i32):
    %0 = arith.muli %x, %y : i32
    %1 = arith.addi %s, %0 : i32
    linalg.yield %1 : i32
  } -> tensor<14x4xi32>
  return %r : tensor<14x4xi32>
}

// -----

#all = affine_map<(d0, d1) -> (d0, d1)>
#none = affine_map<(d0, d1) -> ()>
#grouped = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#line = affine_map<(g, x, f, c, k) -> (g, c, x + k)>
#filter = affine_map<(g, x, f, c, k) -> (g, f, c, k)>
#out = affine_map<(g, x, f, c, k) -> (g, x, f)>

// A reshape into groups between what widens and the product: bytes are reshaped, and widened by the product.
// CHECK-LABEL: func.func @groups(
//  CHECK-SAME:   %[[A:[^:]*]]: tensor<?x16xi8>
//       CHECK:   %[[G:.*]] = tensor.expand_shape %[[A]] {{.*}} : tensor<?x16xi8> into tensor<2x?x16xi8>
//       CHECK:   %[[R:.*]] = linalg.generic {{.*}}"reduction"]} ins(%[[G]], %{{.*}}, %{{.*}} : tensor<2x?x16xi8>, tensor<i8>, tensor<2x4x?x3xi32>)
//       CHECK:   return %[[R]]
func.func @groups(%a: tensor<?x16xi8>, %z: tensor<i8>, %b: tensor<2x4x?x3xi32>, %n: index, %init: tensor<2x14x4xi32>) -> tensor<2x14x4xi32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %a, %c0 : tensor<?x16xi8>
  %e = tensor.empty(%d) : tensor<?x16xi32>
  %w = linalg.generic {indexing_maps = [#all, #none, #all], iterator_types = ["parallel", "parallel"]}
      ins(%a, %z : tensor<?x16xi8>, tensor<i8>) outs(%e : tensor<?x16xi32>) {
  ^bb0(%x: i8, %zero: i8, %o: i32):
    %0 = arith.extui %x : i8 to i32
    %1 = arith.extui %zero : i8 to i32
    %2 = arith.subi %0, %1 : i32
    linalg.yield %2 : i32
  } -> tensor<?x16xi32>
  %g = tensor.expand_shape %w [[0, 1], [2]] output_shape [2, %n, 16] : tensor<?x16xi32> into tensor<2x?x16xi32>
  %r = linalg.generic {indexing_maps = [#line, #filter, #out], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%g, %b : tensor<2x?x16xi32>, tensor<2x4x?x3xi32>) outs(%init : tensor<2x14x4xi32>) {
  ^bb0(%x: i32, %y: i32, %s: i32):
    %0 = arith.muli %x, %y : i32
    %1 = arith.addi %s, %0 : i32
    linalg.yield %1 : i32
  } -> tensor<2x14x4xi32>
  return %r : tensor<2x14x4xi32>
}
