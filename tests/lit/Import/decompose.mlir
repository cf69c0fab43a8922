// RUN: plimsoll-opt %s -pass-pipeline='builtin.module(func.func(plim-decompose))' -split-input-file | FileCheck %s

// Rows at coordinates that are data; the gathered dimension is dropped.
// CHECK-LABEL: func @gather_columns
// CHECK-SAME: (%[[X:.*]]: tensor<2x?xf32>, %[[I:.*]]: tensor<?x1xi32>)
// CHECK: %[[N:.*]] = tensor.dim %[[I]], %c0
// CHECK: tensor.empty(%[[N]]) : tensor<?x2xf32>
// CHECK: linalg.generic
// CHECK: %[[B:.*]] = linalg.index 0
// CHECK: %[[R:.*]] = linalg.index 1
// CHECK: %[[C:.*]] = tensor.extract %[[I]][%[[B]], %c0]
// CHECK: %[[AT:.*]] = arith.index_cast %[[C]] : i32 to index
// CHECK: %[[V:.*]] = tensor.extract %[[X]][%[[R]], %[[AT]]]
// CHECK: linalg.yield %[[V]]
func.func @gather_columns(%x: tensor<2x?xf32>, %i: tensor<?x1xi32>) -> tensor<?x2xf32> {
  %r = tensor.gather %x[%i] gather_dims([1]) : (tensor<2x?xf32>, tensor<?x1xi32>) -> tensor<?x2xf32>
  return %r : tensor<?x2xf32>
}

// -----

// CHECK-LABEL: func @scatter
// CHECK-SAME: (%[[S:.*]]: tensor<2x1x2xf32>, %[[X:.*]]: tensor<3x2xf32>, %[[I:.*]]: tensor<2x1xindex>)
// CHECK: scf.for %[[B:.*]] = {{.*}} iter_args(%[[T:.*]] = %[[X]])
// CHECK: %[[AT:.*]] = tensor.extract %[[I]][%[[B]], %c0]
// CHECK: %[[ROW:.*]] = tensor.extract_slice %[[S]][%[[B]], 0, 0] [1, 1, 2] [1, 1, 1] : tensor<2x1x2xf32> to tensor<1x2xf32>
// CHECK: tensor.insert_slice %[[ROW]] into %[[T]][%[[AT]], 0] [1, 2] [1, 1] : tensor<1x2xf32> into tensor<3x2xf32>
func.func @scatter(%s: tensor<2x1x2xf32>, %x: tensor<3x2xf32>, %i: tensor<2x1xindex>) -> tensor<3x2xf32> {
  %r = tensor.scatter %s into %x[%i] scatter_dims([0]) unique
      : (tensor<2x1x2xf32>, tensor<3x2xf32>, tensor<2x1xindex>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

// -----

// CHECK-LABEL: func @bitcast
// CHECK: linalg.generic
// CHECK: arith.bitcast %{{.*}} : i32 to f32
func.func @bitcast(%x: tensor<?xi32>) -> tensor<?xf32> {
  %r = tensor.bitcast %x : tensor<?xi32> to tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// CHECK-LABEL: func @pack
// CHECK-NOT: linalg.pack
// CHECK: %[[P:.*]] = tensor.pad
// CHECK: %[[E:.*]] = tensor.expand_shape %[[P]] {{\[\[}}0, 1], [2]]
// CHECK: linalg.transpose ins(%[[E]] {{.*}} permutation = [0, 2, 1]
func.func @pack(%x: tensor<?x4xf32>, %t: index, %e: tensor<?x4x?xf32>, %v: f32) -> tensor<?x4x?xf32> {
  %p = linalg.pack %x padding_value(%v : f32) inner_dims_pos = [0] inner_tiles = [%t] into %e
      : tensor<?x4xf32> -> tensor<?x4x?xf32>
  return %p : tensor<?x4x?xf32>
}

// -----

// CHECK-LABEL: func @class
// CHECK: %[[M:.*]] = math.absf
// CHECK: arith.cmpf oeq, %[[M]]
func.func @class(%x: f32) -> i1 {
  %r = math.isinf %x : f32
  return %r : i1
}

// -----

// Around tensors loops are those that bufferization knows; in a kernel they stay.
// CHECK-LABEL: func @for_tensor
// CHECK: scf.for
// CHECK-NOT: affine.for
func.func @for_tensor(%x: tensor<?xf32>) -> tensor<?xf32> {
  %r = affine.for %i = 0 to 2 iter_args(%t = %x) -> (tensor<?xf32>) {
    %d = arith.addf %t, %t : tensor<?xf32>
    affine.yield %d : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
// CHECK-LABEL: func @for_memref
// CHECK: affine.for
// CHECK: memref.prefetch
func.func @for_memref(%x: memref<4xf32>) {
  affine.for %i = 0 to 4 {
    affine.prefetch %x[%i], read, locality<3>, data : memref<4xf32>
  }
  return
}

// -----

// CHECK-LABEL: func @dealloc_tensor
// CHECK-NEXT: return
func.func @dealloc_tensor(%x: tensor<?xf32>) {
  bufferization.dealloc_tensor %x : tensor<?xf32>
  return
}
