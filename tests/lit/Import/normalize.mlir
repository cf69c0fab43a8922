// RUN: plimsoll-opt %s -plim-normalize -split-input-file | FileCheck %s

// Of what the author claims nothing is kept.
// CHECK-LABEL: func.func @claims(
//       CHECK: arith.addi %{{[^ ]*}}, %{{[^ ]*}} : i32
//       CHECK: arith.shrui %{{[^ ]*}}, %{{[^ ]*}} : i32
//       CHECK: arith.trunci %{{[^ ]*}} : i32 to i8
func.func @claims(%a: i32, %b: i32) -> i8 {
  %s = arith.addi %a, %b overflow<nsw, nuw> : i32
  %t = arith.shrui %s, %b exact : i32
  %u = arith.trunci %t overflow<nsw> : i32 to i8
  return %u : i8
}

// -----

// CHECK-LABEL: func.func @quotient(
//       CHECK: arith.ceildivsi %{{.*}} : index
func.func @quotient(%a: index, %b: index) -> index {
  %q = index.ceildivs %a, %b
  return %q : index
}

// -----

// A tensor without elements is no constant.
// CHECK-LABEL: func.func @nothing(
//       CHECK: tensor.empty() : tensor<3x0xf32>
func.func @nothing() -> tensor<3x0xf32> {
  %c = arith.constant dense<> : tensor<3x0xf32>
  return %c : tensor<3x0xf32>
}

// -----

// Sums and logarithms of complex numbers are those of their parts; what the author allows stays.
// CHECK-LABEL: func.func @complex(
//   CHECK-NOT: complex.sub
//       CHECK: arith.subf %{{.*}} fastmath<nnan> : f32
//       CHECK: arith.subf %{{.*}} fastmath<nnan> : f32
//       CHECK: complex.create
//   CHECK-NOT: complex.log
//       CHECK: complex.abs
//       CHECK: math.log
//       CHECK: complex.angle
func.func @complex(%a: complex<f32>, %b: complex<f32>) -> complex<f32> {
  %s = complex.sub %a, %b fastmath<nnan> : complex<f32>
  %l = complex.log %s : complex<f32>
  return %l : complex<f32>
}

// -----

// A narrow counter counts by an index; an unsigned one starts and ends where it says.
// CHECK-LABEL: func.func @narrow(
//  CHECK-SAME: %[[N:.*]]: i8
//       CHECK: %[[BELOW:.*]] = arith.index_castui %[[N]] : i8 to index
//       CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[BELOW]] step
//       CHECK:   arith.index_cast %[[I]] : index to i8
func.func @narrow(%n: i8) -> i8 {
  %c0 = arith.constant 0 : i8
  %c1 = arith.constant 1 : i8
  %r = scf.for unsigned %i = %c0 to %n step %c1 iter_args(%s = %c0) -> (i8) : i8 {
    %t = arith.addi %s, %i : i8
    scf.yield %t : i8
  }
  return %r : i8
}

// -----

// Which of two units a slice drops is said by a reshape; where there is one only, the slice says it.
// CHECK-LABEL: func.func @slices(
//       CHECK: %[[W:.*]] = tensor.extract_slice %{{.*}} : tensor<1x4x8xf32> to tensor<1x1x8xf32>
//       CHECK: tensor.collapse_shape %[[W]] {{\[\[}}0, 1], [2]] : tensor<1x1x8xf32> into tensor<1x8xf32>
//       CHECK: tensor.extract_slice %{{.*}} : tensor<1x4x8xf32> to tensor<4x8xf32>
//       CHECK: tensor.expand_shape
//       CHECK: tensor.insert_slice %{{.*}} : tensor<1x1x8xf32> into tensor<1x4x8xf32>
func.func @slices(%x: tensor<1x4x8xf32>, %i: index)
    -> (tensor<1x8xf32>, tensor<4x8xf32>, tensor<1x4x8xf32>) {
  %s = tensor.extract_slice %x[0, %i, 0] [1, 1, 8] [1, 1, 1]
      : tensor<1x4x8xf32> to tensor<1x8xf32>
  %t = tensor.extract_slice %x[0, 0, 0] [1, 4, 8] [1, 1, 1]
      : tensor<1x4x8xf32> to tensor<4x8xf32>
  %u = tensor.insert_slice %s into %x[0, %i, 0] [1, 1, 8] [1, 1, 1]
      : tensor<1x8xf32> into tensor<1x4x8xf32>
  return %s, %t, %u : tensor<1x8xf32>, tensor<4x8xf32>, tensor<1x4x8xf32>
}
// CHECK-LABEL: func.func @view(
//       CHECK: memref.subview
//       CHECK: memref.collapse_shape
func.func @view(%x: memref<1x4x8xf32>, %i: index) -> f32 {
  %c0 = arith.constant 0 : index
  %s = memref.subview %x[0, %i, 0] [1, 1, 8] [1, 1, 1]
      : memref<1x4x8xf32> to memref<1x8xf32, strided<[32, 1], offset: ?>>
  %r = memref.load %s[%c0, %c0] : memref<1x8xf32, strided<[32, 1], offset: ?>>
  return %r : f32
}

// -----

// CHECK-LABEL: func.func @joined(
//       CHECK: plim.require %{{.*}}, "{{.*}}'tensor.concat': extent 1 of argument #1 is {0}, of argument #0 {1}"
//       CHECK: tensor.concat
func.func @joined(%a: tensor<?x?xf32>, %b: tensor<?x4xf32>) -> tensor<?x?xf32> {
  %r = tensor.concat dim(0) %a, %b : (tensor<?x?xf32>, tensor<?x4xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
