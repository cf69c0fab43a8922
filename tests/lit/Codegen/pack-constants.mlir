// RUN: plimsoll-opt %s -plim-attach-target=tag=x86-64-v4 -plim-pack-constants -split-input-file | FileCheck %s

// 500 columns in panels of 32, zeros behind them; for a single row in panels of 128, as a matrix is larger than caches keep.
// CHECK-LABEL: func.func @product
//  CHECK-SAME:   %[[X:.*]]: tensor<?x768xf32>, %[[ROW:.*]]: tensor<1x768xf32>
//       CHECK:   %[[P:.*]] = tensor.insert_slice %{{.*}} into %{{.*}}[0, 0] [768, 500] [1, 1] : tensor<768x500xf32> into tensor<768x512xf32>
//       CHECK:   %[[E:.*]] = tensor.expand_shape %[[P]] {{\[}}[0], [1, 2]] {{.*}} into tensor<768x16x32xf32>
//       CHECK:   %[[T:.*]] = linalg.transpose ins(%[[E]] : tensor<768x16x32xf32>) outs(%{{.*}} : tensor<16x768x32xf32>) permutation = [1, 0, 2]
//       CHECK:   %[[U:.*]] = plim.unpack_panels %[[T]] {column = 1 : i64, rest = array<i64: 0>} : tensor<16x768x32xf32> -> tensor<768x500xf32>
//       CHECK:   linalg.matmul ins(%[[X]], %[[U]]
//       CHECK:   %[[V:.*]] = plim.unpack_panels %{{.*}} {column = 1 : i64, rest = array<i64: 0>} : tensor<4x768x128xf32> -> tensor<768x500xf32>
//       CHECK:   linalg.matmul ins(%[[ROW]], %[[V]] : tensor<1x768xf32>, tensor<768x500xf32>)
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"host" = #dlti.target_device_spec<"plim.kind" = "cpu", "plim.page_bytes" = 4096 : i64>>} {
  memref.global "private" @weights : memref<768x500xf32>
  func.func @product(%x: tensor<?x768xf32>, %row: tensor<1x768xf32>, %out: tensor<?x500xf32>, %one: tensor<1x500xf32>) -> (tensor<?x500xf32>, tensor<1x500xf32>) {
    %g = memref.get_global @weights : memref<768x500xf32>
    %w = bufferization.to_tensor %g restrict : memref<768x500xf32> to tensor<768x500xf32>
    %r = linalg.matmul ins(%x, %w : tensor<?x768xf32>, tensor<768x500xf32>) outs(%out : tensor<?x500xf32>) -> tensor<?x500xf32>
    %s = linalg.matmul ins(%row, %w : tensor<1x768xf32>, tensor<768x500xf32>) outs(%one : tensor<1x500xf32>) -> tensor<1x500xf32>
    return %r, %s : tensor<?x500xf32>, tensor<1x500xf32>
  }
}

// -----

// A smaller one, and few rows, read it as it lies.
// CHECK-LABEL: func.func @few
//   CHECK-NOT:   plim.unpack_panels
//       CHECK:   return
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"host" = #dlti.target_device_spec<"plim.kind" = "cpu", "plim.page_bytes" = 4096 : i64>>} {
  memref.global "private" @weights : memref<768x500xf32>
  memref.global "private" @small : memref<256x500xf32>
  func.func @few(%x: tensor<3x768xf32>, %row: tensor<1x256xf32>, %out: tensor<3x500xf32>, %one: tensor<1x500xf32>) -> (tensor<3x500xf32>, tensor<1x500xf32>) {
    %g = memref.get_global @weights : memref<768x500xf32>
    %w = bufferization.to_tensor %g restrict : memref<768x500xf32> to tensor<768x500xf32>
    %h = memref.get_global @small : memref<256x500xf32>
    %v = bufferization.to_tensor %h restrict : memref<256x500xf32> to tensor<256x500xf32>
    %r = linalg.matmul ins(%x, %w : tensor<3x768xf32>, tensor<768x500xf32>) outs(%out : tensor<3x500xf32>) -> tensor<3x500xf32>
    %s = linalg.matmul ins(%row, %v : tensor<1x256xf32>, tensor<256x500xf32>) outs(%one : tensor<1x500xf32>) -> tensor<1x500xf32>
    return %r, %s : tensor<3x500xf32>, tensor<1x500xf32>
  }
}

// -----

// Pairs of bytes along the sum, the last one of 29 with a zero; for any number of rows.
// CHECK-LABEL: func.func @groups
//       CHECK:   %[[P:.*]] = tensor.insert_slice %{{.*}} into %{{.*}}[0, 0] [29, 500] [1, 1] : tensor<29x500xi8> into tensor<30x512xi8>
//       CHECK:   %[[E:.*]] = tensor.expand_shape %[[P]] {{\[}}[0, 1], [2, 3]] {{.*}} into tensor<15x2x16x32xi8>
//       CHECK:   %[[G:.*]] = linalg.generic {{.*}} ins(%[[E]], %[[E]] : {{.*}} outs(%{{.*}} : tensor<16x15x32xi32>)
//       CHECK:     arith.extsi
//       CHECK:   plim.unpack_panels %[[G]] {column = 1 : i64, group = 2 : i64, grouped = 0 : i64, rest = array<i64: 0>} : tensor<16x15x32xi32> -> tensor<29x500xi8>
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"host" = #dlti.target_device_spec<"plim.kind" = "cpu", "plim.page_bytes" = 4096 : i64>>} {
  memref.global "private" @weights : memref<29x500xi8>
  func.func @groups(%x: tensor<2x29xi8>, %out: tensor<2x500xi32>) -> tensor<2x500xi32> {
    %g = memref.get_global @weights : memref<29x500xi8>
    %w = bufferization.to_tensor %g restrict : memref<29x500xi8> to tensor<29x500xi8>
    %r = linalg.matmul ins(%x, %w : tensor<2x29xi8>, tensor<29x500xi8>) outs(%out : tensor<2x500xi32>) -> tensor<2x500xi32>
    return %r : tensor<2x500xi32>
  }
}

// -----

// Three columns, and eight beside three rows, are turned to where the sum goes; nine are not, nor is one, nor what is read across.
// CHECK-LABEL: func.func @turned
//       CHECK:   %[[T:.*]] = linalg.transpose ins(%{{.*}} : tensor<768x3xf32>) outs(%{{.*}} : tensor<3x768xf32>) permutation = [1, 0]
//       CHECK:   linalg.generic
//  CHECK-SAME:     ins(%{{.*}}, %[[T]] : tensor<?x768xf32>, tensor<3x768xf32>)
//       CHECK:   linalg.transpose ins(%{{.*}} : tensor<768x8xf32>) outs(%{{.*}} : tensor<8x768xf32>) permutation = [1, 0]
//       CHECK:   linalg.generic
//   CHECK-NOT:   linalg.transpose
//       CHECK:   return
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
#d = affine_map<(i, j, k) -> (k, i)>
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"host" = #dlti.target_device_spec<"plim.kind" = "cpu", "plim.page_bytes" = 4096 : i64>>} {
  memref.global "private" @three : memref<768x3xf32>
  memref.global "private" @eight : memref<768x8xf32>
  func.func @turned(%x: tensor<?x768xf32>, %y: tensor<3x768xf32>, %o: tensor<?x3xf32>, %p: tensor<3x8xf32>, %across: tensor<768x3xf32>, %q: tensor<3x3xf32>)
      -> (tensor<?x3xf32>, tensor<3x8xf32>, tensor<3x3xf32>) {
    %g = memref.get_global @three : memref<768x3xf32>
    %w = bufferization.to_tensor %g restrict : memref<768x3xf32> to tensor<768x3xf32>
    %h = memref.get_global @eight : memref<768x8xf32>
    %v = bufferization.to_tensor %h restrict : memref<768x8xf32> to tensor<768x8xf32>
    %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<?x768xf32>, tensor<768x3xf32>) outs(%o : tensor<?x3xf32>) {
    ^bb0(%s: f32, %t: f32, %u: f32):
      %m = arith.mulf %s, %t : f32
      %n = arith.addf %u, %m : f32
      linalg.yield %n : f32
    } -> tensor<?x3xf32>
    %e = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%y, %v : tensor<3x768xf32>, tensor<768x8xf32>) outs(%p : tensor<3x8xf32>) {
    ^bb0(%s: f32, %t: f32, %u: f32):
      %m = arith.mulf %s, %t : f32
      %n = arith.addf %u, %m : f32
      linalg.yield %n : f32
    } -> tensor<3x8xf32>
    %f = linalg.generic {indexing_maps = [#d, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%across, %w : tensor<768x3xf32>, tensor<768x3xf32>) outs(%q : tensor<3x3xf32>) {
    ^bb0(%s: f32, %t: f32, %u: f32):
      %m = arith.mulf %s, %t : f32
      %n = arith.addf %u, %m : f32
      linalg.yield %n : f32
    } -> tensor<3x3xf32>
    return %r, %e, %f : tensor<?x3xf32>, tensor<3x8xf32>, tensor<3x3xf32>
  }
}
