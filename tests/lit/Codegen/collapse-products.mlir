// RUN: plimsoll-opt %s -plim-collapse-products -split-input-file | FileCheck %s

// A pointwise convolution is a product of all pixels, and what reads it element by element follows; the view stands behind
// both.
// CHECK-LABEL: func.func @pointwise(
//  CHECK-SAME: %[[X:.*]]: tensor<1x64x56x56xf32>, %[[W:.*]]: tensor<32x64x1x1xf32>
//   CHECK-DAG: %[[FLAT:.*]] = tensor.collapse_shape %[[X]] {{\[}}[0], [1], [2, 3]] {{.*}} into tensor<1x64x3136xf32>
//   CHECK-DAG: tensor.collapse_shape %[[W]] {{.*}} into tensor<32x64xf32>
//       CHECK: %[[R:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "reduction"]
//       CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[R]], %{{.*}} : tensor<1x32x3136xf32>, tensor<32xf32>)
//       CHECK: %[[V:.*]] = tensor.expand_shape %[[S]] {{.*}} into tensor<1x32x56x56xf32>
//       CHECK: return %[[V]]
#all = affine_map<(n, f, h, w) -> (n, f, h, w)>
#channels = affine_map<(n, f, h, w) -> (f)>
func.func @pointwise(%x: tensor<1x64x56x56xf32>, %w: tensor<32x64x1x1xf32>, %b: tensor<32xf32>)
    -> tensor<1x32x56x56xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x32x56x56xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x32x56x56xf32>) -> tensor<1x32x56x56xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x64x56x56xf32>, tensor<32x64x1x1xf32>)
                                outs(%f : tensor<1x32x56x56xf32>) -> tensor<1x32x56x56xf32>
  %s = linalg.generic {indexing_maps = [#all, #channels, #all],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r, %b : tensor<1x32x56x56xf32>, tensor<32xf32>) outs(%e : tensor<1x32x56x56xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.addf %p, %q : f32
    linalg.yield %t : f32
  } -> tensor<1x32x56x56xf32>
  return %s : tensor<1x32x56x56xf32>
}

// -----

// Where channels are innermost all of batch, height and width are rows, known or not, if the result has as many as the image.
// CHECK-LABEL: func.func @innermost(
//       CHECK: tensor.collapse_shape %{{.*}} {{\[}}[0, 1, 2], [3]] : tensor<2x?x9x16xf32> into tensor<?x16xf32>
//       CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]
//       CHECK: tensor.expand_shape %{{.*}} {{\[}}[0, 1, 2], [3]] output_shape [2, %{{.*}}, 9, 8]
func.func @innermost(%x: tensor<2x?x9x16xf32>, %w: tensor<1x1x16x8xf32>) -> tensor<2x?x9x8xf32> {
  %c1 = arith.constant 1 : index
  %h = tensor.dim %x, %c1 : tensor<2x?x9x16xf32>
  %o = tensor.empty(%h) : tensor<2x?x9x8xf32>
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<2x?x9x16xf32>, tensor<1x1x16x8xf32>)
                                outs(%o : tensor<2x?x9x8xf32>) -> tensor<2x?x9x8xf32>
  return %r : tensor<2x?x9x8xf32>
}

// The image may have more.
// CHECK-LABEL: func.func @larger(
//       CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<2x?x9x16xf32>, tensor<1x16x8xf32>)
func.func @larger(%x: tensor<2x?x9x16xf32>, %w: tensor<1x1x16x8xf32>, %o: tensor<2x?x9x8xf32>) -> tensor<2x?x9x8xf32> {
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<2x?x9x16xf32>, tensor<1x1x16x8xf32>)
                                outs(%o : tensor<2x?x9x8xf32>) -> tensor<2x?x9x8xf32>
  return %r : tensor<2x?x9x8xf32>
}

// -----

// Rows of a batch that share a matrix; sums over two dimensions that lie side by side.
// CHECK-LABEL: func.func @shared(
//       CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]{{.*}} ins(%{{.*}} : tensor<15x28xf32>, tensor<28x8xf32>)
#a = affine_map<(b, m, n, k, l) -> (b, m, k, l)>
#b = affine_map<(b, m, n, k, l) -> (k, l, n)>
#c = affine_map<(b, m, n, k, l) -> (b, m, n)>
func.func @shared(%a: tensor<3x5x4x7xf32>, %b: tensor<4x7x8xf32>, %c: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  %r = linalg.generic {indexing_maps = [#a, #b, #c],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b : tensor<3x5x4x7xf32>, tensor<4x7x8xf32>) outs(%c : tensor<3x5x8xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.addf %s, %p : f32
    linalg.yield %q : f32
  } -> tensor<3x5x8xf32>
  return %r : tensor<3x5x8xf32>
}

// -----

// Nothing lies side by side: windows, and a plain product, stay named.
// CHECK-LABEL: func.func @windows(
//       CHECK: linalg.conv_2d_nchw_fchw
//       CHECK: linalg.matmul
func.func @windows(%x: tensor<1x4x9x9xf32>, %w: tensor<8x4x3x3xf32>, %o: tensor<1x8x7x7xf32>,
                   %a: tensor<4x5xf32>, %b: tensor<5x6xf32>, %c: tensor<4x6xf32>)
    -> (tensor<1x8x7x7xf32>, tensor<4x6xf32>) {
  %r = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x4x9x9xf32>, tensor<8x4x3x3xf32>)
                                outs(%o : tensor<1x8x7x7xf32>) -> tensor<1x8x7x7xf32>
  %s = linalg.matmul ins(%a, %b : tensor<4x5xf32>, tensor<5x6xf32>) outs(%c : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r, %s : tensor<1x8x7x7xf32>, tensor<4x6xf32>
}

// -----

// A sum of one term keeps its one loop.
// CHECK-LABEL: func.func @one_channel(
//       CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "reduction"]
func.func @one_channel(%x: tensor<1x1x9x9xf32>, %w: tensor<8x1x1x1xf32>, %o: tensor<1x8x5x5xf32>)
    -> tensor<1x8x5x5xf32> {
  %r = linalg.conv_2d_nchw_fchw {strides = dense<2> : tensor<2xi64>}
      ins(%x, %w : tensor<1x1x9x9xf32>, tensor<8x1x1x1xf32>) outs(%o : tensor<1x8x5x5xf32>) -> tensor<1x8x5x5xf32>
  return %r : tensor<1x8x5x5xf32>
}

// -----

// An op that could be fused with another producer is not turned away from it.
// CHECK-LABEL: func.func @two_producers(
//       CHECK: %[[V:.*]] = tensor.expand_shape
//       CHECK: linalg.conv_2d_nchw_fchw
//       CHECK: linalg.generic {{.*}} ins(%[[V]], %{{.*}} : tensor<1x8x7x7xf32>, tensor<1x8x7x7xf32>)
#four = affine_map<(n, f, h, w) -> (n, f, h, w)>
func.func @two_producers(%x: tensor<1x4x7x7xf32>, %u: tensor<8x4x1x1xf32>, %y: tensor<1x4x9x9xf32>,
                         %v: tensor<8x4x3x3xf32>, %o: tensor<1x8x7x7xf32>) -> tensor<1x8x7x7xf32> {
  %p = linalg.conv_2d_nchw_fchw ins(%x, %u : tensor<1x4x7x7xf32>, tensor<8x4x1x1xf32>)
                                outs(%o : tensor<1x8x7x7xf32>) -> tensor<1x8x7x7xf32>
  %q = linalg.conv_2d_nchw_fchw ins(%y, %v : tensor<1x4x9x9xf32>, tensor<8x4x3x3xf32>)
                                outs(%o : tensor<1x8x7x7xf32>) -> tensor<1x8x7x7xf32>
  %e = tensor.empty() : tensor<1x8x7x7xf32>
  %r = linalg.generic {indexing_maps = [#four, #four, #four],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%p, %q : tensor<1x8x7x7xf32>, tensor<1x8x7x7xf32>) outs(%e : tensor<1x8x7x7xf32>) {
  ^bb0(%a: f32, %b: f32, %old: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<1x8x7x7xf32>
  return %r : tensor<1x8x7x7xf32>
}

// -----

// One column of rows that lie side by side: they are the columns. Those that lie apart stay rows.
// CHECK-LABEL: func.func @one_column(
//       CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]{{.*}} ins(%{{.*}} : tensor<2x50x40xf32>, tensor<2x50xf32>) outs(%{{.*}} : tensor<2x40xf32>)
//       CHECK: tensor.expand_shape %{{.*}} : tensor<2x40xf32> into tensor<2x40x1xf32>
//       CHECK: linalg.batch_matmul {{.*}} : tensor<2x40x50xf32>, tensor<2x50x1xf32>
#a = affine_map<(b, m, n, k) -> (b, k, m)>
#b = affine_map<(b, m, n, k) -> (b, k, n)>
#c = affine_map<(b, m, n, k) -> (b, m, n)>
func.func @one_column(%a: tensor<2x50x40xf32>, %b: tensor<2x50x1xf32>, %c: tensor<2x40x1xf32>,
                      %d: tensor<2x40x50xf32>) -> (tensor<2x40x1xf32>, tensor<2x40x1xf32>) {
  %r = linalg.batch_matmul indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<2x50x40xf32>, tensor<2x50x1xf32>)
                           outs(%c : tensor<2x40x1xf32>) -> tensor<2x40x1xf32>
  %s = linalg.batch_matmul ins(%d, %b : tensor<2x40x50xf32>, tensor<2x50x1xf32>) outs(%c : tensor<2x40x1xf32>)
      -> tensor<2x40x1xf32>
  return %r, %s : tensor<2x40x1xf32>, tensor<2x40x1xf32>
}

// -----

// Lines of one pixel are pixels of one line.
// CHECK-LABEL: func.func @one_pixel(
//       CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<2x4x60xf32>, tensor<8x4x3xf32>) outs(%{{.*}} : tensor<2x8x29xf32>)
//       CHECK: tensor.expand_shape %{{.*}} : tensor<2x8x29xf32> into tensor<2x8x29x1xf32>
func.func @one_pixel(%x: tensor<2x4x60x1xf32>, %w: tensor<8x4x3x1xf32>, %o: tensor<2x8x29x1xf32>) -> tensor<2x8x29x1xf32> {
  %r = linalg.conv_2d_nchw_fchw {strides = dense<2> : tensor<2xi64>}
      ins(%x, %w : tensor<2x4x60x1xf32>, tensor<8x4x3x1xf32>) outs(%o : tensor<2x8x29x1xf32>) -> tensor<2x8x29x1xf32>
  return %r : tensor<2x8x29x1xf32>
}

// -----

// The filters are known from the result alone: types of collapsed operands would not agree.
// CHECK-LABEL: func.func @mixed(
//       CHECK: linalg.conv_2d_nhwc_fhwc
func.func @mixed(%x: tensor<2x9x7x5xf32>, %w: tensor<?x1x1x5xf32>, %o: tensor<2x9x7x3xf32>) -> tensor<2x9x7x3xf32> {
  %r = linalg.conv_2d_nhwc_fhwc ins(%x, %w : tensor<2x9x7x5xf32>, tensor<?x1x1x5xf32>)
                                outs(%o : tensor<2x9x7x3xf32>) -> tensor<2x9x7x3xf32>
  return %r : tensor<2x9x7x3xf32>
}

// -----

// A pointwise convolution with strides: of the elements that it reads, one product of all pixels. The number of images is known
// to the call.
// CHECK-LABEL: func.func @strided(
//  CHECK-SAME: %[[X:.*]]: tensor<?x56x56x64xf32>
//       CHECK: %[[SLICE:.*]] = tensor.extract_slice %[[X]][0, 0, 0, 0] [%{{.*}}, 28, 28, 64] [1, 2, 2, 1]
//       CHECK: %[[ROWS:.*]] = tensor.collapse_shape %[[SLICE]] {{\[}}[0, 1, 2], [3]] : tensor<?x28x28x64xf32> into tensor<?x64xf32>
//       CHECK: linalg.generic {{.*}} ins(%[[ROWS]], %{{.*}} : tensor<?x64xf32>, tensor<64x128xf32>)
func.func @strided(%x: tensor<?x56x56x64xf32>, %w: tensor<1x1x64x128xf32>, %o: tensor<?x28x28x128xf32>) -> tensor<?x28x28x128xf32> {
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : vector<2xi64>}
      ins(%x, %w : tensor<?x56x56x64xf32>, tensor<1x1x64x128xf32>) outs(%o : tensor<?x28x28x128xf32>) -> tensor<?x28x28x128xf32>
  return %r : tensor<?x28x28x128xf32>
}

// -----

// A window of several places with strides stays one.
// CHECK-LABEL: func.func @window(
//   CHECK-NOT: tensor.extract_slice
//       CHECK: linalg.conv_2d_nhwc_hwcf
func.func @window(%x: tensor<1x57x57x64xf32>, %w: tensor<3x3x64x128xf32>, %o: tensor<1x28x28x128xf32>) -> tensor<1x28x28x128xf32> {
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : vector<2xi64>}
      ins(%x, %w : tensor<1x57x57x64xf32>, tensor<3x3x64x128xf32>) outs(%o : tensor<1x28x28x128xf32>) -> tensor<1x28x28x128xf32>
  return %r : tensor<1x28x28x128xf32>
}

// -----

// A window with strides at one place, which leaves the last column of the image: without its loop of one iteration the image would have
// a column more than there are iterations.
// CHECK-LABEL: func.func @left_behind(
//       CHECK:   linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<3x4xf32>, tensor<3x3x1xf32>)
#image = affine_map<(f, h, w, y, x, c) -> (h * 2 + y, c, w * 2 + x)>
#filter = affine_map<(f, h, w, y, x, c) -> (y, x, c, f)>
#result = affine_map<(f, h, w, y, x, c) -> (h, f, w)>
func.func @left_behind(%image: tensor<3x1x4xf32>, %filter: tensor<3x3x1x1xf32>, %init: tensor<1x1x1xf32>) -> tensor<1x1x1xf32> {
  %r = linalg.generic {indexing_maps = [#image, #filter, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%image, %filter : tensor<3x1x4xf32>, tensor<3x3x1x1xf32>) outs(%init : tensor<1x1x1xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<1x1x1xf32>
  return %r : tensor<1x1x1xf32>
}

// -----

// A reader that knows an extent which the product does not keeps its loops: what is joined would have a known extent here and an unknown one there.
// CHECK-LABEL: func.func @mixed(
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]
//       CHECK:   %[[P:.*]] = tensor.expand_shape %{{.*}} : tensor<?x8xf32> into tensor<?x4x8xf32>
//       CHECK:   %[[R:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel"]} ins(%[[P]], %{{.*}} : tensor<?x4x8xf32>, tensor<2x4x8xf32>)
//       CHECK:   return %[[R]]
func.func @mixed(%x: tensor<?x4x16xf32>, %w: tensor<16x8xf32>, %b: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x4x16xf32>
  %e = tensor.empty(%n) : tensor<?x4x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4x8xf32>) -> tensor<?x4x8xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j, n, k) -> (i, j, k)>, affine_map<(i, j, n, k) -> (k, n)>, affine_map<(i, j, n, k) -> (i, j, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x4x16xf32>, tensor<16x8xf32>) outs(%f : tensor<?x4x8xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %ac = arith.mulf %a, %c : f32
    %s = arith.addf %o, %ac : f32
    linalg.yield %s : f32
  } -> tensor<?x4x8xf32>
  %room = tensor.empty() : tensor<2x4x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, n) -> (i, j, n)>, affine_map<(i, j, n) -> (i, j, n)>, affine_map<(i, j, n) -> (i, j, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %b : tensor<?x4x8xf32>, tensor<2x4x8xf32>) outs(%room : tensor<2x4x8xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %s = arith.addf %a, %c : f32
    linalg.yield %s : f32
  } -> tensor<2x4x8xf32>
  return %r : tensor<2x4x8xf32>
}

// -----

// Matrices in two dimensions stay there, where what reads a product may tell one of them from the other.
// CHECK-LABEL: func.func @batches(
//   CHECK-NOT:   tensor.collapse_shape
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]
//   CHECK-NOT:   tensor.expand_shape
func.func @batches(%q: tensor<?x12x16x64xf32>, %k: tensor<?x12x64x16xf32>, %mask: tensor<?x16xf32>) -> tensor<?x12x16x16xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %q, %c0 : tensor<?x12x16x64xf32>
  %e = tensor.empty(%n) : tensor<?x12x16x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x12x16x16xf32>) -> tensor<?x12x16x16xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(b, h, i, j, k) -> (b, h, i, k)>, affine_map<(b, h, i, j, k) -> (b, h, k, j)>, affine_map<(b, h, i, j, k) -> (b, h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<?x12x16x64xf32>, tensor<?x12x64x16xf32>) outs(%f : tensor<?x12x16x16xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %ac = arith.mulf %a, %c : f32
    %s = arith.addf %o, %ac : f32
    linalg.yield %s : f32
  } -> tensor<?x12x16x16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, j)>, affine_map<(b, h, i, j) -> (b, h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%p, %mask : tensor<?x12x16x16xf32>, tensor<?x16xf32>) outs(%e : tensor<?x12x16x16xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %s = arith.addf %a, %c : f32
    linalg.yield %s : f32
  } -> tensor<?x12x16x16xf32>
  return %r : tensor<?x12x16x16xf32>
}
