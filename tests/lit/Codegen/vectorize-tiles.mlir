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
