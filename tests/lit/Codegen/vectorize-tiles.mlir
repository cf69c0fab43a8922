// RUN: plimsoll-opt %s -plim-attach-target=tag=x86-64-v3 -plim-vectorize-tiles | FileCheck %s

// Accumulators are carried from one iteration of the reduction to the next; memory has them before and behind.
// CHECK-LABEL: func.func private @tile(
//  CHECK-SAME:   %[[A:.*]]: tensor<6x512xf32>, %[[B:.*]]: tensor<512x16xf32>, %[[C:.*]]: tensor<6x16xf32>)
//       CHECK:   %[[FIRST:.*]] = vector.transfer_read %[[C]]{{.*}}, vector<6x16xf32>
//       CHECK:   %[[SUMS:.*]] = scf.for %[[K:.*]] = {{.*}} iter_args(%{{.*}} = %[[FIRST]]) -> (vector<6x16xf32>) {
//   CHECK-DAG:     vector.transfer_read %[[A]][%{{.*}}, %[[K]]]
//   CHECK-DAG:     vector.transfer_read %[[B]][%[[K]], %{{.*}}]
//       CHECK:     scf.yield %{{.*}} : vector<6x16xf32>
//       CHECK:   vector.transfer_write %[[SUMS]], %[[C]]
func.func private @tile(%a: tensor<6x512xf32>, %b: tensor<512x16xf32>, %c: tensor<6x16xf32>) -> tensor<6x16xf32> attributes {plim.dispatch_function} {
  %r = linalg.matmul {plim.registers = #plim.registers<rows = 6, row_loop = 0, columns = 16, column_loop = 1, lanes = 8, terms = 0, because = "">}
      ins(%a, %b : tensor<6x512xf32>, tensor<512x16xf32>) outs(%c : tensor<6x16xf32>) -> tensor<6x16xf32>
  return %r : tensor<6x16xf32>
}

// They begin as what a fill would write, which is not written.
// CHECK-LABEL: func.func private @filled(
//  CHECK-SAME:   %[[A:.*]]: tensor<4x8xf32>, %[[B:.*]]: tensor<8x8xf32>, %[[C:.*]]: tensor<4x8xf32>)
//       CHECK:   %[[ZEROS:.*]] = vector.broadcast %{{.*}} : f32 to vector<4x8xf32>
//       CHECK:   %[[SUMS:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[ZEROS]])
//       CHECK:   vector.transfer_write %[[SUMS]], %[[C]]
func.func private @filled(%a: tensor<4x8xf32>, %b: tensor<8x8xf32>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {plim.dispatch_function} {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = linalg.matmul {plim.registers = #plim.registers<rows = 4, row_loop = 0, columns = 8, column_loop = 1, lanes = 8, terms = 0, because = "">}
      ins(%a, %b : tensor<4x8xf32>, tensor<8x8xf32>) outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// A number of rows that is not known fills no registers, and only dispatch functions have tiles.
// CHECK-LABEL: func.func private @open(
//   CHECK-NOT:   plim.registers
//       CHECK:   linalg.matmul
func.func private @open(%a: tensor<?x8xf32>, %b: tensor<8x8xf32>, %c: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {plim.dispatch_function} {
  %r = linalg.matmul {plim.registers = #plim.registers<rows = 4, row_loop = 0, columns = 8, column_loop = 1, lanes = 8, terms = 0, because = "">}
      ins(%a, %b : tensor<?x8xf32>, tensor<8x8xf32>) outs(%c : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// CHECK-LABEL: func.func @elsewhere(
//       CHECK:   linalg.matmul
func.func @elsewhere(%a: tensor<4x8xf32>, %b: tensor<8x8xf32>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x8xf32>) outs(%c : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// Every other column of an image that gets a border of one: even ones, and behind them odd ones, so that each vector is one load.
// CHECK-LABEL: func.func private @everyOther(
//  CHECK-SAME:   %[[X:.*]]: tensor<1x16x16xf32>
//   CHECK-NOT:   vector.shuffle
//       CHECK:   linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<1x17x18xf32>)
//       CHECK:   tensor.extract_slice %[[X]][0, 0, 1] [1, 16, 15]
//       CHECK:   tensor.insert_slice %{{.*}} into %{{.*}}[0, 1, 1] [1, 16, 8]
//       CHECK:   tensor.extract_slice %[[X]][0, 0, 0] [1, 16, 15]
//       CHECK:   %[[SPLIT:.*]] = tensor.insert_slice %{{.*}} into %{{.*}}[0, 1, 9] [1, 16, 8]
// What is read for one place of the window along the rows is read once for all: of one block, around which a loop goes along the columns.
//       CHECK:   scf.for %[[COLUMN:.*]] = %{{.*}} to %c3{{.*}} iter_args
//       CHECK:     tensor.extract_slice %[[SPLIT]][0, 0, %{{.*}}] [1, 4, 8] [1, 2, 1]
//       CHECK:     tensor.extract_slice %[[SPLIT]][0, 1, %{{.*}}] [1, 4, 8] [1, 2, 1]
//       CHECK:     tensor.extract_slice %[[SPLIT]][0, 2, %{{.*}}] [1, 4, 8] [1, 2, 1]
//   CHECK-NOT:   scf.for
//   CHECK-NOT:   vector.shuffle
//       CHECK:   return
func.func private @everyOther(%x: tensor<1x16x16xf32>, %k: tensor<1x3x3xf32>, %c: tensor<1x4x8xf32>) -> tensor<1x4x8xf32> attributes {plim.dispatch_function} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x17x17xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x17x17xf32>) -> tensor<1x17x17xf32>
  %p = tensor.insert_slice %x into %f[0, 1, 1] [1, 16, 16] [1, 1, 1] : tensor<1x16x16xf32> into tensor<1x17x17xf32>
  %s = tensor.extract_slice %p[0, 0, 0] [1, 9, 17] [1, 1, 1] : tensor<1x17x17xf32> to tensor<1x9x17xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(c, h, w, y, x) -> (c, h * 2 + y, w * 2 + x)>, affine_map<(c, h, w, y, x) -> (c, y, x)>, affine_map<(c, h, w, y, x) -> (c, h, w)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"],
                       plim.registers = #plim.registers<rows = 4, row_loop = 1, columns = 8, column_loop = 2, lanes = 8, terms = 0, because = "">}
      ins(%s, %k : tensor<1x9x17xf32>, tensor<1x3x3xf32>) outs(%c : tensor<1x4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<1x4x8xf32>
  return %r : tensor<1x4x8xf32>
}
