// RUN: plimsoll-opt %s -plim-propagate-reshapes -canonicalize -split-input-file --mlir-print-local-scope | FileCheck %s

// A dimension that a reduction keeps is read at a constant: it goes.
// CHECK-LABEL: func.func @kept
//       CHECK:   %[[S:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<?xf32>)
//       CHECK:   linalg.generic {indexing_maps = [{{.*}}, affine_map<(d0, d1) -> (d0)>, {{.*}}], {{.*}} ins(%{{.*}}, %[[S]] : tensor<?x64xf32>, tensor<?xf32>)
#whole = affine_map<(i, j) -> (i, j)>
#kept = affine_map<(i, j) -> (i, 0)>
func.func @kept(%x: tensor<?x64xf32>, %n: index) -> tensor<?x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty(%n) : tensor<?x1xf32>
  %e = tensor.empty(%n) : tensor<?x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e0 : tensor<?x1xf32>) -> tensor<?x1xf32>
  %s = linalg.generic {indexing_maps = [#whole, #kept], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x64xf32>) outs(%f : tensor<?x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  } -> tensor<?x1xf32>
  %y = linalg.generic {indexing_maps = [#whole, #kept, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<?x64xf32>, tensor<?x1xf32>) outs(%e : tensor<?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.divf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

// Leading dimensions, and all of them.
// CHECK-LABEL: func.func @all
//       CHECK:   tensor.collapse_shape %{{.*}} {{\[}}[0, 1]] : tensor<1x8xf32> into tensor<8xf32>
//       CHECK:   tensor.collapse_shape %{{.*}} [] : tensor<1x1xf32> into tensor<f32>
//       CHECK:   linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<8xf32>, tensor<f32>)
func.func @all(%x: tensor<1x8xf32>, %s: tensor<1x1xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (0, j)>, affine_map<(i, j) -> (0, 0)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<1x8xf32>, tensor<1x1xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.mulf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// A place in more than one element stays.
// CHECK-LABEL: func.func @first
//       CHECK:   linalg.generic {{.*}} ins(%{{.*}} : tensor<3x8xf32>)
func.func @first(%x: tensor<3x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (0, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<3x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// A product of joined batches between ops on all dimensions.
// CHECK-LABEL: func.func @batches
//       CHECK:   %[[X:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<2x3x8x16xf32>)
//       CHECK:   %[[P:.*]] = linalg.generic {{.*}} ins(%[[X]], %{{.*}} : tensor<2x3x8x16xf32>, tensor<2x3x16x4xf32>)
//       CHECK:   linalg.generic {{.*}} ins(%[[P]] : tensor<2x3x8x4xf32>)
#id = affine_map<(a, b, c, d) -> (a, b, c, d)>
func.func @batches(%q: tensor<2x3x8x16xf32>, %k: tensor<6x16x4xf32>) -> tensor<2x3x8x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x3x8x16xf32>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%q : tensor<2x3x8x16xf32>) outs(%e : tensor<2x3x8x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<2x3x8x16xf32>
  %c = tensor.collapse_shape %x [[0, 1], [2], [3]] : tensor<2x3x8x16xf32> into tensor<6x8x16xf32>
  %e1 = tensor.empty() : tensor<6x8x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<6x8x4xf32>) -> tensor<6x8x4xf32>
  %p = linalg.batch_matmul ins(%c, %k : tensor<6x8x16xf32>, tensor<6x16x4xf32>) outs(%f : tensor<6x8x4xf32>) -> tensor<6x8x4xf32>
  %s = tensor.expand_shape %p [[0, 1], [2], [3]] output_shape [2, 3, 8, 4] : tensor<6x8x4xf32> into tensor<2x3x8x4xf32>
  %e2 = tensor.empty() : tensor<2x3x8x4xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s : tensor<2x3x8x4xf32>) outs(%e2 : tensor<2x3x8x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<2x3x8x4xf32>
  return %y : tensor<2x3x8x4xf32>
}

// -----

// A mean that keeps its dimension: what is computed of it stands beside the reduction, of rows whose number is not known either.
// CHECK-LABEL: func.func @mean
//       CHECK:   %[[S:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]}
//       CHECK:   %[[M:.*]] = linalg.generic {{.*}} iterator_types = ["parallel"]} ins(%[[S]] : tensor<?xf32>)
//       CHECK:   linalg.generic {{.*}} ins(%{{.*}}, %[[M]] : tensor<?x64xf32>, tensor<?xf32>)
#id = affine_map<(i, j) -> (i, j)>
func.func @mean(%x: tensor<?x64xf32>, %zeros: tensor<?xf32>, %n: index) -> tensor<?x64xf32> {
  %count = arith.constant 64.0 : f32
  %s = linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x64xf32>) outs(%zeros : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %k = tensor.expand_shape %s [[0, 1]] output_shape [%n, 1] : tensor<?xf32> into tensor<?x1xf32>
  %e1 = tensor.empty(%n) : tensor<?x1xf32>
  %m = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%k : tensor<?x1xf32>) outs(%e1 : tensor<?x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.divf %a, %count : f32
    linalg.yield %r : f32
  } -> tensor<?x1xf32>
  %e = tensor.empty(%n) : tensor<?x64xf32>
  %y = linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (i, 0)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<?x64xf32>, tensor<?x1xf32>) outs(%e : tensor<?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.subf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

// Not where an operand is a product, which would be another op for its dispatch.
// CHECK-LABEL: func.func @beside_a_product
//       CHECK:   tensor.expand_shape
//       CHECK:   linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<1x8xf32>, tensor<1x8xf32>)
#id = affine_map<(i, j) -> (i, j)>
func.func @beside_a_product(%x: tensor<8x64xf32>, %a: tensor<1x16xf32>, %b: tensor<16x8xf32>, %zeros: tensor<8xf32>, %init: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %s = linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x64xf32>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%c: f32, %o: f32):
    %r = arith.addf %o, %c : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %k = tensor.expand_shape %s [[0, 1]] output_shape [1, 8] : tensor<8xf32> into tensor<1x8xf32>
  %p = linalg.matmul ins(%a, %b : tensor<1x16xf32>, tensor<16x8xf32>) outs(%init : tensor<1x8xf32>) -> tensor<1x8xf32>
  %e = tensor.empty() : tensor<1x8xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%k, %p : tensor<1x8xf32>, tensor<1x8xf32>) outs(%e : tensor<1x8xf32>) {
  ^bb0(%c: f32, %d: f32, %o: f32):
    %r = arith.addf %c, %d : f32
    linalg.yield %r : f32
  } -> tensor<1x8xf32>
  return %y : tensor<1x8xf32>
}

// -----

// The same of an elementwise op whose operands know different extents: it keeps the dimension of one element.
// CHECK-LABEL: func.func @mixed(
//       CHECK:   %[[E:.*]] = tensor.expand_shape
//       CHECK:   %[[C:.*]] = tensor.cast %[[E]] : tensor<?x4x1xf32> to tensor<2x4x1xf32>
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel"]} ins(%[[C]], %{{.*}} : tensor<2x4x1xf32>, tensor<2x4x1xf32>)
func.func @mixed(%x: tensor<?x4x8xf32>, %b: tensor<2x4x1xf32>) -> tensor<2x4x1xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x4x8xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<?x4x8xf32>) outs(%f : tensor<?x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<?x4xf32>
  %kept = tensor.expand_shape %sum [[0], [1, 2]] output_shape [%n, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %room = tensor.empty() : tensor<2x4x1xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%kept, %b : tensor<?x4x1xf32>, tensor<2x4x1xf32>) outs(%room : tensor<2x4x1xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %s = arith.addf %a, %c : f32
    linalg.yield %s : f32
  } -> tensor<2x4x1xf32>
  return %r : tensor<2x4x1xf32>
}

// -----

// Batches that only a call knows are split like others.
// CHECK-LABEL: func.func @open_batches(
//  CHECK-SAME:   %[[Q:[a-z0-9]+]]: tensor<?x12x?x64xf32>, %[[K:[a-z0-9]+]]: tensor<?x12x64x?xf32>
//   CHECK-NOT:   tensor.collapse_shape
//       CHECK:   %[[P:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
//  CHECK-SAME:     ins(%{{.*}}, %{{.*}} : tensor<?x12x?x64xf32>, tensor<?x12x64x?xf32>)
//   CHECK-NOT:   tensor.expand_shape
//       CHECK:   linalg.generic {{.*}} ins(%[[P]], %{{.*}} : tensor<?x12x?x?xf32>, tensor<?x?xf32>)
func.func @open_batches(%q: tensor<?x12x?x64xf32>, %k: tensor<?x12x64x?xf32>, %mask: tensor<?x?xf32>) -> tensor<?x12x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c12 = arith.constant 12 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %q, %c0 : tensor<?x12x?x64xf32>
  %n = tensor.dim %q, %c2 : tensor<?x12x?x64xf32>
  %room = tensor.empty(%b, %n, %n) : tensor<?x12x?x?xf32>
  %qe = linalg.exp ins(%q : tensor<?x12x?x64xf32>) outs(%q : tensor<?x12x?x64xf32>) -> tensor<?x12x?x64xf32>
  %ke = linalg.exp ins(%k : tensor<?x12x64x?xf32>) outs(%k : tensor<?x12x64x?xf32>) -> tensor<?x12x64x?xf32>
  %qc = tensor.collapse_shape %qe [[0, 1], [2], [3]] : tensor<?x12x?x64xf32> into tensor<?x?x64xf32>
  %kc = tensor.collapse_shape %ke [[0, 1], [2], [3]] : tensor<?x12x64x?xf32> into tensor<?x64x?xf32>
  %bh = arith.muli %b, %c12 : index
  %e = tensor.empty(%bh, %n, %n) : tensor<?x?x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %s = linalg.batch_matmul ins(%qc, %kc : tensor<?x?x64xf32>, tensor<?x64x?xf32>) outs(%f : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %x = tensor.expand_shape %s [[0, 1], [2], [3]] output_shape [%b, 12, %n, %n] : tensor<?x?x?xf32> into tensor<?x12x?x?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, j)>, affine_map<(b, h, i, j) -> (b, h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %mask : tensor<?x12x?x?xf32>, tensor<?x?xf32>) outs(%room : tensor<?x12x?x?xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %t = arith.addf %a, %c : f32
    linalg.yield %t : f32
  } -> tensor<?x12x?x?xf32>
  return %r : tensor<?x12x?x?xf32>
}
