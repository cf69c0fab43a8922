// RUN: plimsoll-opt %s -plim-bind-arguments -split-input-file | FileCheck %s

// A dispatch function: buffers, then scalars, then one extent for each unknown dimension in binding
// order. Results are written to the last buffers.
// CHECK-LABEL: func.func private @dispatch(
//  CHECK-SAME: %[[A:[^:]*]]: memref<f32> {plim.access = #plim.access<readonly>, plim.shape = tensor<?x4xf32>},
//  CHECK-SAME: %[[B:[^:]*]]: memref<i16> {plim.bytes = 12 : i64, plim.shape = tensor<2x3xi16>},
//  CHECK-SAME: %[[O:[^:]*]]: memref<f32> {plim.shape = tensor<?x?xf32>},
//  CHECK-SAME: %[[S:[^:]*]]: f32,
//  CHECK-SAME: %[[A0:[^:]*]]: index, %[[O0:[^:]*]]: index, %[[O1:[^:]*]]: index) attributes
//       CHECK: %[[AM:.*]] = memref.reinterpret_cast %[[A]] to offset: [0], sizes: [%[[A0]], 4], strides: [4, 1]
//       CHECK: %[[AT:.*]] = bufferization.to_tensor %[[AM]] restrict : memref<?x4xf32>
//       CHECK: memref.reinterpret_cast %[[B]] to offset: [0], sizes: [2, 3], strides: [3, 1]
//       CHECK: %[[OM:.*]] = memref.reinterpret_cast %[[O]] to offset: [0], sizes: [%[[O0]], %[[O1]]], strides: [%{{.*}}, 1]
//       CHECK: %[[OT:.*]] = bufferization.to_tensor %[[OM]] restrict writable
//       CHECK: %[[R:.*]] = linalg.generic {{.*}} outs(%[[OT]] : tensor<?x?xf32>)
//       CHECK: tensor.extract %[[AT]]
//       CHECK: arith.mulf %{{.*}}, %[[S]]
//       CHECK: bufferization.materialize_in_destination %[[R]] in restrict writable %[[OM]]
//       CHECK: return{{$}}
func.func private @dispatch(%a: tensor<?x4xf32> {plim.access = #plim.access<readonly>}, %s: f32,
                            %b: tensor<2x3xi16>, %o: tensor<?x?xf32>) -> tensor<?x?xf32>
    attributes {plim.dispatch_function} {
  %c0 = arith.constant 0 : index
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]} outs(%o : tensor<?x?xf32>) {
  ^bb0(%old: f32):
    %x = tensor.extract %a[%c0, %c0] : tensor<?x4xf32>
    %y = arith.mulf %x, %s : f32
    linalg.yield %y : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

// A kernel keeps its order: the extents follow their buffer, which says what they are extents of.
// CHECK-LABEL: func.func @kernel(
//  CHECK-SAME: %[[S:[^:]*]]: i8,
//  CHECK-SAME: %[[A:[^:]*]]: memref<f32> {plim.extents = array<i64: 0, 2>},
//  CHECK-SAME: %[[A0:[^:]*]]: index, %[[A2:[^:]*]]: index,
//  CHECK-SAME: %[[T:[^:]*]]: index,
//  CHECK-SAME: %[[B:[^:]*]]: memref<f64> {plim.bytes = 40 : i64}) -> f64
//       CHECK: memref.reinterpret_cast %[[A]] to offset: [0], sizes: [%[[A0]], 4, %[[A2]]]
//       CHECK: %[[BM:.*]] = memref.reinterpret_cast %[[B]] to offset: [0], sizes: [5], strides: [1]
//   CHECK-NOT: bufferization
//       CHECK: %[[Y:.*]] = memref.load %[[BM]][%[[T]]]
//       CHECK: return %[[Y]]
func.func @kernel(%s: i8, %a: memref<?x4x?xf32>, %t: index, %b: memref<5xf64>) -> f64
    attributes {plim.kernel} {
  %y = memref.load %b[%t] : memref<5xf64>
  return %y : f64
}

// -----

// The dynamic strides of a strided layout follow the extents; an offset is part of the pointer. How
// many bytes such a buffer spans is not said.
// CHECK-LABEL: func.func @strided(
//  CHECK-SAME: %[[A:[^:]*]]: memref<f32> {plim.extents = array<i64: 0, 1>, plim.strides = array<i64: 0>},
//  CHECK-SAME: %[[A0:[^:]*]]: index, %[[A1:[^:]*]]: index, %[[S0:[^:]*]]: index,
//  CHECK-SAME: %[[B:[^:]*]]: memref<f32>, %[[I:[^:]*]]: index) -> f32
//       CHECK: %[[AM:.*]] = memref.reinterpret_cast %[[A]] to offset: [0], sizes: [%[[A0]], %[[A1]]], strides: [%[[S0]], 1]
//  CHECK-SAME: to memref<?x?xf32, strided<[?, 1], offset: ?>>
//       CHECK: memref.reinterpret_cast %[[B]] to offset: [0], sizes: [4], strides: [-2] : memref<f32> to memref<4xf32, strided<[-2]>>
//       CHECK: memref.load %[[AM]][%[[I]], %[[I]]]
func.func @strided(%a: memref<?x?xf32, strided<[?, 1], offset: ?>>, %b: memref<4xf32, strided<[-2]>>,
                   %i: index) -> f32 attributes {plim.kernel} {
  %x = memref.load %a[%i, %i] : memref<?x?xf32, strided<[?, 1], offset: ?>>
  %y = memref.load %b[%i] : memref<4xf32, strided<[-2]>>
  %z = arith.addf %x, %y : f32
  return %z : f32
}

// -----

// A rank-0 buffer is itself; i1 takes a byte.
// CHECK-LABEL: func.func @small(
//  CHECK-SAME: %[[A:[^:]*]]: memref<f32> {plim.bytes = 4 : i64},
//  CHECK-SAME: memref<i1> {plim.bytes = 3 : i64}) -> f32
//       CHECK: %[[X:.*]] = memref.load %[[A]][]
//       CHECK: return %[[X]]
func.func @small(%a: memref<f32>, %b: memref<3xi1>) -> f32 attributes {plim.kernel} {
  %x = memref.load %a[] : memref<f32>
  return %x : f32
}

// -----

// Several results, each to its own buffer.
// CHECK-LABEL: func.func private @two(
//  CHECK-SAME: %[[O:[^:]*]]: memref<f32> {{.*}}, %[[P:[^:]*]]: memref<i8> {{.*}}) attributes
//   CHECK-DAG: %[[OM:.*]] = memref.reinterpret_cast %[[O]]
//   CHECK-DAG: %[[PM:.*]] = memref.reinterpret_cast %[[P]]
//       CHECK: bufferization.materialize_in_destination %{{.*}} in restrict writable %[[OM]]
//       CHECK: bufferization.materialize_in_destination %{{.*}} in restrict writable %[[PM]]
func.func private @two(%o: tensor<4xf32>, %p: tensor<2xi8>) -> (tensor<4xf32>, tensor<2xi8>)
    attributes {plim.dispatch_function} {
  return %o, %p : tensor<4xf32>, tensor<2xi8>
}

// -----

// Host functions keep their tensors.
// CHECK-LABEL: func.func @host(
//  CHECK-SAME: tensor<?xf32>) -> tensor<?xf32>
func.func @host(%a: tensor<?xf32>) -> tensor<?xf32> {
  return %a : tensor<?xf32>
}
