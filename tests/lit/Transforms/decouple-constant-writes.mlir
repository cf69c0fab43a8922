// RUN: plimsoll-opt %s -plim-decouple-constant-writes -split-input-file | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>

// Overwritten without being read: memory of any content will do.
// CHECK-LABEL: func.func @unread(
//       CHECK: %[[E:.*]] = tensor.empty() : tensor<2x2xf32>
//   CHECK-NOT: linalg.fill
//       CHECK: linalg.generic
//  CHECK-SAME: outs(%[[E]] : tensor<2x2xf32>)
func.func @unread(%a: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %c = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<2x2xf32>) outs(%c : tensor<2x2xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}

// -----

// A splat that is read becomes a fill.
// CHECK-LABEL: func.func @splat(
//       CHECK: %[[E:.*]] = tensor.empty() : tensor<4x4xf32>
//       CHECK: %[[S:.*]] = arith.constant 2.000000e+00 : f32
//       CHECK: %[[F:.*]] = linalg.fill ins(%[[S]] : f32) outs(%[[E]] : tensor<4x4xf32>)
//       CHECK: linalg.matmul
//  CHECK-SAME: outs(%[[F]] : tensor<4x4xf32>)
func.func @splat(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c = arith.constant dense<2.0> : tensor<4x4xf32>
  %r = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%c : tensor<4x4xf32>)
      -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

// Any other constant is the read-only input of a copy.
// CHECK-LABEL: func.func @elements(
//   CHECK-DAG: %[[C:.*]] = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
//   CHECK-DAG: %[[E:.*]] = tensor.empty() : tensor<3xi32>
//       CHECK: %[[COPY:.*]] = linalg.copy ins(%[[C]] : tensor<3xi32>) outs(%[[E]] : tensor<3xi32>)
//       CHECK: linalg.reduce
//  CHECK-SAME: outs(%[[COPY]] : tensor<3xi32>)
func.func @elements(%a: tensor<3x5xi32>) -> tensor<3xi32> {
  %c = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
  %r = linalg.reduce {arith.addi} ins(%a : tensor<3x5xi32>) outs(%c : tensor<3xi32>)
      dimensions = [1]
  return %r : tensor<3xi32>
}

// -----

// What is around the slice keeps the constant's values.
// CHECK-LABEL: func.func @insert_splat(
//  CHECK-SAME: %[[A:.*]]: tensor<2xi8>
//       CHECK: %[[F:.*]] = linalg.fill
//       CHECK: tensor.insert_slice %[[A]] into %[[F]][1] [2] [1]
func.func @insert_splat(%a: tensor<2xi8>) -> tensor<4xi8> {
  %c = arith.constant dense<7> : tensor<4xi8>
  %r = tensor.insert_slice %a into %c[1] [2] [1] : tensor<2xi8> into tensor<4xi8>
  return %r : tensor<4xi8>
}

// -----

// CHECK-LABEL: func.func @insert_elements(
//  CHECK-SAME: %[[A:.*]]: tensor<2xindex>
//       CHECK: %[[COPY:.*]] = linalg.copy
//       CHECK: tensor.insert_slice %[[A]] into %[[COPY]][1] [2] [1]
func.func @insert_elements(%a: tensor<2xindex>) -> tensor<4xindex> {
  %c = arith.constant dense<[1, 2, 3, 4]> : tensor<4xindex>
  %r = tensor.insert_slice %a into %c[1] [2] [1] : tensor<2xindex> into tensor<4xindex>
  return %r : tensor<4xindex>
}

// -----

// Each destination on its own merits.
#m = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @two(
//   CHECK-DAG: %[[UNREAD:.*]] = tensor.empty() : tensor<4xf32>
//   CHECK-DAG: %[[READ:.*]] = linalg.fill {{.*}} -> tensor<4xf64>
//       CHECK: linalg.generic
//  CHECK-SAME: outs(%[[UNREAD]], %[[READ]] : tensor<4xf32>, tensor<4xf64>)
func.func @two(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf64>) {
  %c = arith.constant dense<0.0> : tensor<4xf32>
  %d = arith.constant dense<1.0> : tensor<4xf64>
  %r:2 = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf32>) outs(%c, %d : tensor<4xf32>, tensor<4xf64>) {
  ^bb0(%x: f32, %o: f32, %p: f64):
    %w = arith.extf %x : f32 to f64
    %s = arith.addf %w, %p : f64
    linalg.yield %x, %s : f32, f64
  } -> (tensor<4xf32>, tensor<4xf64>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf64>
}

// -----

// A constant that is only read stays where it is.
// CHECK-LABEL: func.func @input(
//  CHECK-SAME: %[[O:.*]]: tensor<4xf32>
//       CHECK: %[[C:.*]] = arith.constant dense
//   CHECK-NOT: tensor.empty
//       CHECK: linalg.exp ins(%[[C]] : tensor<4xf32>) outs(%[[O]] : tensor<4xf32>)
func.func @input(%o: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %r = linalg.exp ins(%c : tensor<4xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// What a loop starts from, and what one element is put into, are written too.
// CHECK-LABEL: func.func @carried(
//       CHECK: %[[F:.*]] = linalg.fill
//       CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[F]])
//       CHECK: %[[G:.*]] = linalg.fill
//       CHECK: scf.forall {{.*}} shared_outs(%{{.*}} = %[[G]])
//       CHECK: %[[H:.*]] = linalg.copy
//       CHECK: tensor.insert %{{.*}} into %[[H]]
func.func @carried(%n: index, %x: tensor<4xf32>, %v: f32)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %table = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %a = scf.for %i = %c0 to %n step %c1 iter_args(%y = %zero) -> tensor<4xf32> {
    %s = arith.addf %y, %x : tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  %b = scf.forall (%i) in (4) shared_outs(%o = %zero) -> tensor<4xf32> {
    %s = tensor.extract_slice %x[%i] [1] [1] : tensor<4xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
    }
  }
  %c = tensor.insert %v into %table[%n] : tensor<4xf32>
  return %a, %b, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// A resource that is the start of a reduction is read, not copied behind the dispatch's back.
// CHECK-LABEL: func.func @resource(
//       CHECK: %[[C:.*]] = arith.constant dense_resource<table> : tensor<3xi32>
//       CHECK: %[[COPY:.*]] = linalg.copy ins(%[[C]] : tensor<3xi32>)
//       CHECK: linalg.reduce {{.*}} outs(%[[COPY]] : tensor<3xi32>)
func.func @resource(%a: tensor<3x5xi32>) -> tensor<3xi32> {
  %c = arith.constant dense_resource<table> : tensor<3xi32>
  %r = linalg.reduce {arith.addi} ins(%a : tensor<3x5xi32>) outs(%c : tensor<3xi32>)
      dimensions = [1]
  return %r : tensor<3xi32>
}
{-# dialect_resources: { builtin: { table: "0x04000000010000000200000003000000" } } #-}
