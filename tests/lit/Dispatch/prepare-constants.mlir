// RUN: plimsoll-opt %s -plim-prepare-constants -split-input-file | FileCheck %s

// What is computed of constants alone moves, with all that it needs, and equal values are one; what depends on an argument
// stays, and so does what is small, or larger than what it is made of.
// CHECK-LABEL: func.func @twice
//       CHECK:   memref.get_global @plim.prepare.[[NAME:[0-9a-f]+]] : memref<64x32xf32>
//       CHECK:   memref.get_global @plim.prepare.[[NAME]] : memref<64x32xf32>
//       CHECK:   linalg.broadcast
//       CHECK:   linalg.transpose ins(%arg0
//       CHECK:   linalg.transpose ins(%{{.*}} : tensor<2x3xf32>)
//       CHECK: memref.global "private" @plim.prepare.[[NAME]] : memref<64x32xf32> = uninitialized {plim.prepared}
//   CHECK-NOT: memref.global
//       CHECK: func.func @plim.prepare() attributes {plim.prepared}
//   CHECK-DAG:   memref.get_global @weights
//   CHECK-DAG:   memref.get_global @plim.prepare.[[NAME]]
//       CHECK:   linalg.generic
//   CHECK-NOT:   linalg.generic
//       CHECK:   bufferization.materialize_in_destination
#negated = {
  indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
  iterator_types = ["parallel", "parallel"]
}
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"host" = #dlti.target_device_spec<"plim.kind" = "cpu", "plim.page_bytes" = 4096 : i64>>} {
  memref.global "private" @weights : memref<32x64xf32>
  memref.global "private" constant @small : memref<2x3xf32> = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]>
  func.func @twice(%x: tensor<32x64xf32>) -> (tensor<64x32xf32>, tensor<64x32xf32>, tensor<32x64x9xf32>, tensor<64x32xf32>, tensor<3x2xf32>) {
    %g = memref.get_global @weights : memref<32x64xf32>
    %w = bufferization.to_tensor %g restrict : memref<32x64xf32> to tensor<32x64xf32>
    %e = tensor.empty() : tensor<64x32xf32>
    %a = linalg.generic #negated ins(%w : tensor<32x64xf32>) outs(%e : tensor<64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %n = arith.negf %in : f32
      linalg.yield %n : f32
    } -> tensor<64x32xf32>
    %b = linalg.generic #negated ins(%w : tensor<32x64xf32>) outs(%e : tensor<64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %n = arith.negf %in : f32
      linalg.yield %n : f32
    } -> tensor<64x32xf32>
    %large = tensor.empty() : tensor<32x64x9xf32>
    %c = linalg.broadcast ins(%w : tensor<32x64xf32>) outs(%large : tensor<32x64x9xf32>) dimensions = [2]
    %d = linalg.transpose ins(%x : tensor<32x64xf32>) outs(%e : tensor<64x32xf32>) permutation = [1, 0]
    %h = memref.get_global @small : memref<2x3xf32>
    %s = bufferization.to_tensor %h restrict : memref<2x3xf32> to tensor<2x3xf32>
    %se = tensor.empty() : tensor<3x2xf32>
    %st = linalg.transpose ins(%s : tensor<2x3xf32>) outs(%se : tensor<3x2xf32>) permutation = [1, 0]
    return %a, %b, %c, %d, %st : tensor<64x32xf32>, tensor<64x32xf32>, tensor<32x64x9xf32>, tensor<64x32xf32>, tensor<3x2xf32>
  }
}

// -----

// What only moves elements needs no code: 40 columns in vectors of 16, with zeros behind the last.
// CHECK-LABEL: func.func @panels
//       CHECK:   memref.get_global @plim.prepare.[[NAME:[0-9a-f]+]] : memref<3x7x16xf32>
//       CHECK: memref.global "private" @plim.prepare.[[NAME]] : memref<3x7x16xf32> = uninitialized
//  CHECK-SAME:   plim.arrangement = {extents = array<i64: 3, 7, 16>, of = array<i64: 0, 1, 0>, source = @weights, steps = array<i64: 16, 1, 1>}
//   CHECK-NOT: @plim.prepare()
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"host" = #dlti.target_device_spec<"plim.kind" = "cpu", "plim.page_bytes" = 4096 : i64>>} {
  memref.global "private" @weights : memref<40x7xf32>
  func.func @panels() -> tensor<3x7x16xf32> {
    %g = memref.get_global @weights : memref<40x7xf32>
    %w = bufferization.to_tensor %g restrict : memref<40x7xf32> to tensor<40x7xf32>
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<48x7xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<48x7xf32>) -> tensor<48x7xf32>
    %p = tensor.insert_slice %w into %f[0, 0] [40, 7] [1, 1] : tensor<40x7xf32> into tensor<48x7xf32>
    %s = tensor.expand_shape %p [[0, 1], [2]] output_shape [3, 16, 7] : tensor<48x7xf32> into tensor<3x16x7xf32>
    %m = tensor.empty() : tensor<3x7x16xf32>
    %t = linalg.transpose ins(%s : tensor<3x16x7xf32>) outs(%m : tensor<3x7x16xf32>) permutation = [0, 2, 1]
    return %t : tensor<3x7x16xf32>
  }
}

// -----

// Groups of bytes in one integer, the first in its low bits. Zeros in front, or other numbers behind, are code.
// CHECK-LABEL: func.func @groups
//       CHECK: plim.arrangement = {extents = array<i64: 8, 16, 4>, of = array<i64: 0, 1, 0>, source = @weights, steps = array<i64: 4, 1, 1>}
//   CHECK-NOT: plim.arrangement
//       CHECK: func.func @plim.prepare()
#group = {
  indexing_maps = [
    affine_map<(i, j) -> (i, 0, j)>, affine_map<(i, j) -> (i, 1, j)>, affine_map<(i, j) -> (i, 2, j)>,
    affine_map<(i, j) -> (i, 3, j)>, affine_map<(i, j) -> (i, j)>
  ],
  iterator_types = ["parallel", "parallel"]
}
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"host" = #dlti.target_device_spec<"plim.kind" = "cpu", "plim.page_bytes" = 4096 : i64>>} {
  memref.global "private" @weights : memref<32x16xi8>
  func.func @groups() -> (tensor<8x16xi32>, tensor<33x16xi8>, tensor<33x16xi8>) {
    %g = memref.get_global @weights : memref<32x16xi8>
    %w = bufferization.to_tensor %g restrict : memref<32x16xi8> to tensor<32x16xi8>
    %s = tensor.expand_shape %w [[0, 1], [2]] output_shape [8, 4, 16] : tensor<32x16xi8> into tensor<8x4x16xi8>
    %e = tensor.empty() : tensor<8x16xi32>
    %r = linalg.generic #group ins(%s, %s, %s, %s : tensor<8x4x16xi8>, tensor<8x4x16xi8>, tensor<8x4x16xi8>, tensor<8x4x16xi8>) outs(%e : tensor<8x16xi32>) {
    ^bb0(%a: i8, %b: i8, %c: i8, %d: i8, %out: i32):
      %eight = arith.constant 8 : i32
      %sixteen = arith.constant 16 : i32
      %twentyfour = arith.constant 24 : i32
      %a0 = arith.extui %a : i8 to i32
      %b0 = arith.extui %b : i8 to i32
      %c0 = arith.extui %c : i8 to i32
      %d0 = arith.extui %d : i8 to i32
      %b1 = arith.shli %b0, %eight : i32
      %c1 = arith.shli %c0, %sixteen : i32
      %d1 = arith.shli %d0, %twentyfour : i32
      %ab = arith.ori %a0, %b1 : i32
      %abc = arith.ori %ab, %c1 : i32
      %abcd = arith.ori %abc, %d1 : i32
      linalg.yield %abcd : i32
    } -> tensor<8x16xi32>
    %zero = arith.constant 0 : i8
    %one = arith.constant 1 : i8
    %m = tensor.empty() : tensor<33x16xi8>
    %zeros = linalg.fill ins(%zero : i8) outs(%m : tensor<33x16xi8>) -> tensor<33x16xi8>
    %ones = linalg.fill ins(%one : i8) outs(%m : tensor<33x16xi8>) -> tensor<33x16xi8>
    %front = tensor.insert_slice %w into %zeros[1, 0] [32, 16] [1, 1] : tensor<32x16xi8> into tensor<33x16xi8>
    %behind = tensor.insert_slice %w into %ones[0, 0] [32, 16] [1, 1] : tensor<32x16xi8> into tensor<33x16xi8>
    %f = linalg.copy ins(%front : tensor<33x16xi8>) outs(%m : tensor<33x16xi8>) -> tensor<33x16xi8>
    %b = linalg.copy ins(%behind : tensor<33x16xi8>) outs(%m : tensor<33x16xi8>) -> tensor<33x16xi8>
    return %r, %f, %b : tensor<8x16xi32>, tensor<33x16xi8>, tensor<33x16xi8>
  }
}

// -----

// Without pages there is no place for it.
// CHECK-LABEL: func.func @microcontroller
//       CHECK:   linalg.transpose
//   CHECK-NOT: plim.prepare
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"host" = #dlti.target_device_spec<"plim.kind" = "cpu">>} {
  memref.global "private" @weights : memref<32x64xf32>
  func.func @microcontroller() -> tensor<64x32xf32> {
    %g = memref.get_global @weights : memref<32x64xf32>
    %w = bufferization.to_tensor %g restrict : memref<32x64xf32> to tensor<32x64xf32>
    %e = tensor.empty() : tensor<64x32xf32>
    %a = linalg.transpose ins(%w : tensor<32x64xf32>) outs(%e : tensor<64x32xf32>) permutation = [1, 0]
    return %a : tensor<64x32xf32>
  }
}

// -----

// 64 bytes are small, an element more is not.
// CHECK-LABEL: func.func @bound
//       CHECK:   linalg.generic
//  CHECK-SAME:     outs(%{{.*}} : tensor<4x4xf32>)
//   CHECK-NOT:   linalg.generic
//       CHECK:   return
//       CHECK: memref.global "private" @plim.prepare.{{[0-9a-f]+}} : memref<17x1xf32> = uninitialized {plim.prepared}
//   CHECK-NOT: memref.global "private" @plim.prepare
#negated = {
  indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
  iterator_types = ["parallel", "parallel"]
}
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"host" = #dlti.target_device_spec<"plim.kind" = "cpu", "plim.page_bytes" = 4096 : i64>>} {
  memref.global "private" @square : memref<4x4xf32>
  memref.global "private" @row : memref<1x17xf32>
  func.func @bound() -> (tensor<4x4xf32>, tensor<17x1xf32>) {
    %g = memref.get_global @square : memref<4x4xf32>
    %v = bufferization.to_tensor %g restrict : memref<4x4xf32> to tensor<4x4xf32>
    %e = tensor.empty() : tensor<4x4xf32>
    %a = linalg.generic #negated ins(%v : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %n = arith.negf %in : f32
      linalg.yield %n : f32
    } -> tensor<4x4xf32>
    %h = memref.get_global @row : memref<1x17xf32>
    %w = bufferization.to_tensor %h restrict : memref<1x17xf32> to tensor<1x17xf32>
    %f = tensor.empty() : tensor<17x1xf32>
    %b = linalg.generic #negated ins(%w : tensor<1x17xf32>) outs(%f : tensor<17x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %n = arith.negf %in : f32
      linalg.yield %n : f32
    } -> tensor<17x1xf32>
    return %a, %b : tensor<4x4xf32>, tensor<17x1xf32>
  }
}
