// RUN: plimsoll-opt %s -plim-propagate-layouts -split-input-file | FileCheck %s --check-prefixes=CHECK,FREE
// RUN: plimsoll-opt %s -plim-propagate-layouts=strict -split-input-file | FileCheck %s --check-prefixes=CHECK,STRICT

// Filters become columns, and the offset, the activation and the border behind them follow; the sum reads what there is.
// CHECK-LABEL: func.func @network
//  CHECK-SAME:   %[[X:.*]]: tensor<1x128x16x16xf32>, %[[B:.*]]: tensor<128xf32>
//       CHECK:   %[[W:.*]] = linalg.transpose {{.*}} permutation = [1, 2, 3, 0]
//       CHECK:   %[[R:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[W]] : tensor<1x128x16x16xf32>, tensor<128x3x3x128xf32>) outs(%{{.*}} : tensor<1x14x14x128xf32>)
//       CHECK:   %[[S:.*]] = linalg.generic {{.*}} ins(%[[R]], %[[B]] : tensor<1x14x14x128xf32>, tensor<128xf32>)
//       CHECK:   %[[P:.*]] = tensor.insert_slice %[[S]] into %{{.*}}[0, 1, 1, 0] [1, 14, 14, 128] {{.*}} into tensor<1x16x16x128xf32>
//   CHECK-NOT:   linalg.transpose
//       CHECK:   linalg.generic {{.*}} ins(%[[P]] : tensor<1x16x16x128xf32>)
#image = affine_map<(n, f, h, w, c, y, x) -> (n, c, h + y, w + x)>
#filter = affine_map<(n, f, h, w, c, y, x) -> (f, c, y, x)>
#result = affine_map<(n, f, h, w, c, y, x) -> (n, f, h, w)>
#all = affine_map<(n, c, h, w) -> (n, c, h, w)>
#channels = affine_map<(n, c, h, w) -> (c)>
#sum = affine_map<(n, c, h, w) -> (n, c)>
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"host" = #dlti.target_device_spec<"plim.kind" = "cpu", "plim.page_bytes" = 4096 : i64>>} {
  memref.global "private" @weights : memref<128x128x3x3xf32>
  func.func @network(%x: tensor<1x128x16x16xf32>, %b: tensor<128xf32>, %out: tensor<1x128xf32>) -> tensor<1x128xf32> {
    %z = arith.constant 0.0 : f32
    %g = memref.get_global @weights : memref<128x128x3x3xf32>
    %w = bufferization.to_tensor %g restrict : memref<128x128x3x3xf32> to tensor<128x128x3x3xf32>
    %e = tensor.empty() : tensor<1x128x14x14xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x128x14x14xf32>) -> tensor<1x128x14x14xf32>
    %r = linalg.generic {indexing_maps = [#image, #filter, #result],
                         iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%x, %w : tensor<1x128x16x16xf32>, tensor<128x128x3x3xf32>) outs(%f : tensor<1x128x14x14xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %m = arith.mulf %p, %q : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<1x128x14x14xf32>
    %a = linalg.generic {indexing_maps = [#all, #channels, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%r, %b : tensor<1x128x14x14xf32>, tensor<128xf32>) outs(%e : tensor<1x128x14x14xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %s = arith.addf %p, %q : f32
      linalg.yield %s : f32
    } -> tensor<1x128x14x14xf32>
    %be = tensor.empty() : tensor<1x128x16x16xf32>
    %bf = linalg.fill ins(%z : f32) outs(%be : tensor<1x128x16x16xf32>) -> tensor<1x128x16x16xf32>
    %i = tensor.insert_slice %a into %bf[0, 0, 1, 1] [1, 128, 14, 14] [1, 1, 1, 1] : tensor<1x128x14x14xf32> into tensor<1x128x16x16xf32>
    %t = linalg.generic {indexing_maps = [#all, #sum], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        ins(%i : tensor<1x128x16x16xf32>) outs(%out : tensor<1x128xf32>) {
    ^bb0(%p: f32, %o: f32):
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
    } -> tensor<1x128xf32>
    return %t : tensor<1x128xf32>
  }
}

// -----

// Worth it where pixels are so few that there are no vectors of them, or may be: filters are columns.
// CHECK-LABEL: func.func @few_pixels
//       CHECK:   ins(%{{.*}} : tensor<1x32x4xf32>, tensor<32x3x64xf32>)
//       CHECK:   ins(%{{.*}} : tensor<1x32x?xf32>, tensor<32x3x64xf32>)
//       CHECK:   ins(%{{.*}} : tensor<1x32x202xf32>, tensor<64x32x3xf32>)
#signal = affine_map<(n, f, w, c, x) -> (n, c, w + x)>
#filter = affine_map<(n, f, w, c, x) -> (f, c, x)>
#result = affine_map<(n, f, w, c, x) -> (n, f, w)>
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"host" = #dlti.target_device_spec<"plim.kind" = "cpu", "plim.page_bytes" = 4096 : i64>>} {
  memref.global "private" @weights : memref<64x32x3xf32>
  func.func @few_pixels(%x: tensor<1x32x4xf32>, %y: tensor<1x32x?xf32>, %z: tensor<1x32x202xf32>, %n: index)
      -> (tensor<1x64x2xf32>, tensor<1x64x?xf32>, tensor<1x64x200xf32>) {
    %zero = arith.constant 0.0 : f32
    %g = memref.get_global @weights : memref<64x32x3xf32>
    %w = bufferization.to_tensor %g restrict : memref<64x32x3xf32> to tensor<64x32x3xf32>
    %ex = tensor.empty() : tensor<1x64x2xf32>
    %fx = linalg.fill ins(%zero : f32) outs(%ex : tensor<1x64x2xf32>) -> tensor<1x64x2xf32>
    %rx = linalg.generic {indexing_maps = [#signal, #filter, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %w : tensor<1x32x4xf32>, tensor<64x32x3xf32>) outs(%fx : tensor<1x64x2xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %m = arith.mulf %p, %q : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<1x64x2xf32>
    %ey = tensor.empty(%n) : tensor<1x64x?xf32>
    %fy = linalg.fill ins(%zero : f32) outs(%ey : tensor<1x64x?xf32>) -> tensor<1x64x?xf32>
    %ry = linalg.generic {indexing_maps = [#signal, #filter, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%y, %w : tensor<1x32x?xf32>, tensor<64x32x3xf32>) outs(%fy : tensor<1x64x?xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %m = arith.mulf %p, %q : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<1x64x?xf32>
    %ez = tensor.empty() : tensor<1x64x200xf32>
    %fz = linalg.fill ins(%zero : f32) outs(%ez : tensor<1x64x200xf32>) -> tensor<1x64x200xf32>
    %rz = linalg.generic {indexing_maps = [#signal, #filter, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%z, %w : tensor<1x32x202xf32>, tensor<64x32x3xf32>) outs(%fz : tensor<1x64x200xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %m = arith.mulf %p, %q : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<1x64x200xf32>
    return %rx, %ry, %rz : tensor<1x64x2xf32>, tensor<1x64x?xf32>, tensor<1x64x200xf32>
  }
}

// -----

// A convolution of few channels alone is not worth the transposition of what comes out.
// CHECK-LABEL: func.func @alone
//   CHECK-NOT:   linalg.transpose
//       CHECK:   outs(%{{.*}} : tensor<1x16x14x14xf32>)
#image = affine_map<(n, f, h, w, c, y, x) -> (n, c, h + y, w + x)>
#filter = affine_map<(n, f, h, w, c, y, x) -> (f, c, y, x)>
#result = affine_map<(n, f, h, w, c, y, x) -> (n, f, h, w)>
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"host" = #dlti.target_device_spec<"plim.kind" = "cpu", "plim.page_bytes" = 4096 : i64>>} {
  memref.global "private" @weights : memref<16x8x3x3xf32>
  func.func @alone(%x: tensor<1x8x16x16xf32>) -> tensor<1x16x14x14xf32> {
    %z = arith.constant 0.0 : f32
    %g = memref.get_global @weights : memref<16x8x3x3xf32>
    %w = bufferization.to_tensor %g restrict : memref<16x8x3x3xf32> to tensor<16x8x3x3xf32>
    %e = tensor.empty() : tensor<1x16x14x14xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x16x14x14xf32>) -> tensor<1x16x14x14xf32>
    %r = linalg.generic {indexing_maps = [#image, #filter, #result],
                         iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%x, %w : tensor<1x8x16x16xf32>, tensor<16x8x3x3xf32>) outs(%f : tensor<1x16x14x14xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %m = arith.mulf %p, %q : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<1x16x14x14xf32>
    return %r : tensor<1x16x14x14xf32>
  }
}

// -----

// The second convolution reads an image with channels innermost, and sums along them first, but where the order is the source's.
// FREE-DAG:    #[[$IMAGE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d2 + d4, d3 + d5, d6)>
// STRICT-DAG:  #[[$IMAGE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d2 + d5, d3 + d6, d4)>
// CHECK-LABEL: func.func @chain
//       CHECK:   linalg.generic {{.*}} outs(%{{.*}} : tensor<1x16x16x64xf32>)
//       CHECK:   linalg.generic {indexing_maps = [#[[$IMAGE]], {{.*}} ins(%{{.*}}, %{{.*}} : tensor<1x16x16x64xf32>, tensor<64x3x3x64xf32>) outs(%{{.*}} : tensor<1x14x14x64xf32>)
#image = affine_map<(n, f, h, w, c, y, x) -> (n, c, h + y, w + x)>
#filter = affine_map<(n, f, h, w, c, y, x) -> (f, c, y, x)>
#result = affine_map<(n, f, h, w, c, y, x) -> (n, f, h, w)>
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"host" = #dlti.target_device_spec<"plim.kind" = "cpu", "plim.page_bytes" = 4096 : i64>>} {
  memref.global "private" @first : memref<64x64x3x3xf32>
  memref.global "private" @second : memref<64x64x3x3xf32>
  func.func @chain(%x: tensor<1x64x18x18xf32>) -> tensor<1x64x14x14xf32> {
    %z = arith.constant 0.0 : f32
    %g = memref.get_global @first : memref<64x64x3x3xf32>
    %v = bufferization.to_tensor %g restrict : memref<64x64x3x3xf32> to tensor<64x64x3x3xf32>
    %h = memref.get_global @second : memref<64x64x3x3xf32>
    %w = bufferization.to_tensor %h restrict : memref<64x64x3x3xf32> to tensor<64x64x3x3xf32>
    %e = tensor.empty() : tensor<1x64x16x16xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x64x16x16xf32>) -> tensor<1x64x16x16xf32>
    %r = linalg.generic {indexing_maps = [#image, #filter, #result],
                         iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%x, %v : tensor<1x64x18x18xf32>, tensor<64x64x3x3xf32>) outs(%f : tensor<1x64x16x16xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %m = arith.mulf %p, %q : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<1x64x16x16xf32>
    %i = tensor.empty() : tensor<1x64x14x14xf32>
    %j = linalg.fill ins(%z : f32) outs(%i : tensor<1x64x14x14xf32>) -> tensor<1x64x14x14xf32>
    %t = linalg.generic {indexing_maps = [#image, #filter, #result],
                         iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%r, %w : tensor<1x64x16x16xf32>, tensor<64x64x3x3xf32>) outs(%j : tensor<1x64x14x14xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %m = arith.mulf %p, %q : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<1x64x14x14xf32>
    return %t : tensor<1x64x14x14xf32>
  }
}
