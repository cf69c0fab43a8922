// RUN: plimsoll-opt %s -plim-choose-panels -plim-pack-panels -canonicalize -cse -split-input-file | FileCheck %s
// RUN: plimsoll-opt %s -plim-attach-target=tag=cortex-m7 -plim-choose-panels -plim-pack-panels -split-input-file | FileCheck %s --check-prefix=NARROW
// RUN: plimsoll-opt %s -plim-choose-panels=strict -plim-pack-panels -split-input-file | FileCheck %s --check-prefix=STRICT
// With vectors of one element, or none, register tiles have too few columns.
//   NARROW-NOT: scf.for

// Blocks of 512 of the reduction, then panels as wide as a register tile; each is copied once for all rows.
// CHECK-LABEL: func.func private @deep(
//  CHECK-SAME: %[[A:.*]]: tensor<64x2048xf32>, %[[B:.*]]: tensor<2048x128xf32>
//       CHECK: scf.for %[[K:.*]] = %{{.*}} to %c2048 step %c512
//       CHECK:   scf.for %[[N:.*]] = %{{.*}} to %c128 step %c16
//       CHECK:     %[[ROWS:.*]] = tensor.extract_slice %[[A]][0, %[[K]]] [64, 512] [1, 1]
//       CHECK:     %[[COLUMNS:.*]] = tensor.extract_slice %[[B]][%[[K]], %[[N]]] [512, 16] [1, 1]
//       CHECK:     %[[MEMORY:.*]] = tensor.empty() : tensor<512x16xf32>
//       CHECK:     %[[PANEL:.*]] = bufferization.materialize_in_destination %[[COLUMNS]] in %[[MEMORY]]
//       CHECK:     linalg.generic {{.*}} ins(%[[ROWS]], %[[PANEL]] : tensor<64x512xf32>, tensor<512x16xf32>)
func.func private @deep(%a: tensor<64x2048xf32>, %b: tensor<2048x128xf32>, %c: tensor<64x128xf32>)
    -> tensor<64x128xf32> attributes {plim.dispatch_function} {
  %r = linalg.matmul ins(%a, %b : tensor<64x2048xf32>, tensor<2048x128xf32>) outs(%c : tensor<64x128xf32>)
      -> tensor<64x128xf32>
  return %r : tensor<64x128xf32>
}

// -----

// An operand whose columns are not contiguous is transposed on the way. Columns that fill no register tile have a panel
// of their own.
//       CHECK: #[[$COLUMNS:.*]] = affine_map<(d0, d1) -> (d1, d0)>
//       CHECK: #[[$PLAIN:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func private @transposed(
//  CHECK-SAME: %[[B:[a-z0-9]*]]: tensor<40x33xf32>
//       CHECK: scf.for %[[N:.*]] = %{{.*}} to %c32 step %c16
//       CHECK:   tensor.extract_slice %[[B]][%[[N]], 0] [16, 33] [1, 1]
//       CHECK:   linalg.generic {indexing_maps = [#[[$COLUMNS]], #[[$PLAIN]]]
//       CHECK: tensor.extract_slice %[[B]][32, 0] [8, 33] [1, 1]
//       CHECK: linalg.generic {indexing_maps = [#[[$COLUMNS]], #[[$PLAIN]]]
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func private @transposed(%b: tensor<40x33xf32>, %a: tensor<8x33xf32>, %c: tensor<8x40xf32>)
    -> tensor<8x40xf32> attributes {plim.dispatch_function} {
  %r = linalg.matmul indexing_maps = [#a, #b, #c]
      ins(%a, %b : tensor<8x33xf32>, tensor<40x33xf32>) outs(%c : tensor<8x40xf32>) -> tensor<8x40xf32>
  return %r : tensor<8x40xf32>
}

// -----

// The left operand has the columns of a result that is stored by columns.
// CHECK-LABEL: func.func private @swapped(
//  CHECK-SAME: %[[A:[a-z0-9]*]]: tensor<700x64xf32>
//       CHECK: tensor.extract_slice %[[A]][%{{.*}}, %{{.*}}] [350, 16] [1, 1]
//       CHECK: bufferization.materialize_in_destination
#a = affine_map<(m, n, k) -> (k, m)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (n, m)>
func.func private @swapped(%a: tensor<700x64xf32>, %b: tensor<700x96xf32>, %c: tensor<96x64xf32>)
    -> tensor<96x64xf32> attributes {plim.dispatch_function} {
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<700x64xf32>, tensor<700x96xf32>) outs(%c : tensor<96x64xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  } -> tensor<96x64xf32>
  return %r : tensor<96x64xf32>
}

// -----

// Many columns use a block of rows: where its rows lie far apart it is copied in front of them, with rows that do not
// fall on the same lines of the caches.
// CHECK-LABEL: func.func private @far_rows(
//  CHECK-SAME: %[[A:.*]]: tensor<96x2048xf32>, %[[B:.*]]: tensor<2048x512xf32>
//       CHECK: scf.for %[[K:.*]] = %{{.*}} to %c2048 step %c512
//       CHECK:   %[[ROWS:.*]] = tensor.extract_slice %[[A]][0, %[[K]]] [96, 512] [1, 1]
//       CHECK:   tensor.empty() : tensor<96x528xf32>
//       CHECK:   %[[BLOCK:.*]] = bufferization.materialize_in_destination %[[ROWS]] in
//       CHECK:   scf.for %[[N:.*]] = %{{.*}} to %c512
//       CHECK:     %[[PANEL:.*]] = bufferization.materialize_in_destination
//       CHECK:     linalg.generic {{.*}} ins(%[[BLOCK]], %[[PANEL]] : tensor<96x512xf32>, tensor<512x16xf32>)
func.func private @far_rows(%a: tensor<96x2048xf32>, %b: tensor<2048x512xf32>, %c: tensor<96x512xf32>)
    -> tensor<96x512xf32> attributes {plim.dispatch_function} {
  %r = linalg.matmul ins(%a, %b : tensor<96x2048xf32>, tensor<2048x512xf32>) outs(%c : tensor<96x512xf32>)
      -> tensor<96x512xf32>
  return %r : tensor<96x512xf32>
}

// -----

// One column is a plain loop.
// CHECK-LABEL: func.func private @one_column(
//   CHECK-NOT: scf.for
func.func private @one_column(%a: tensor<64x2048xf32>, %b: tensor<2048x1xf32>, %c: tensor<64x1xf32>)
    -> tensor<64x1xf32> attributes {plim.dispatch_function} {
  %r = linalg.matmul ins(%a, %b : tensor<64x2048xf32>, tensor<2048x1xf32>) outs(%c : tensor<64x1xf32>)
      -> tensor<64x1xf32>
  return %r : tensor<64x1xf32>
}

// -----

// Complex numbers are not what register tiles are made of.
// CHECK-LABEL: func.func private @complex(
//   CHECK-NOT: scf.for
func.func private @complex(%a: tensor<64x2048xcomplex<f32>>, %b: tensor<2048x512xcomplex<f32>>,
                           %c: tensor<64x512xcomplex<f32>>) -> tensor<64x512xcomplex<f32>>
    attributes {plim.dispatch_function} {
  %r = linalg.matmul ins(%a, %b : tensor<64x2048xcomplex<f32>>, tensor<2048x512xcomplex<f32>>)
                     outs(%c : tensor<64x512xcomplex<f32>>) -> tensor<64x512xcomplex<f32>>
  return %r : tensor<64x512xcomplex<f32>>
}

// -----

// An image stored by channels. The panel has its windows: a row for each channel and place in the window, in the order of
// the filter, so that these are one loop. Columns that do not fill vectors get zeros behind them, and so does a copy of the
// result.
//       CHECK: #[[$WINDOWS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d2, d1 * 2 + d3, d5 * 2 + d4)>
// CHECK-LABEL: func.func private @windows(
//  CHECK-SAME: %[[IMAGE:[a-z0-9]*]]: tensor<2x24x15x15xf32>, %[[FILTER:[a-z0-9]*]]: tensor<20x24x3x3xf32>
//       CHECK: scf.for %[[N:.*]] = %{{.*}} to %c2 step %c1
//       CHECK:   scf.for %[[H:.*]] = %{{.*}} to %c7 step %c1
//       CHECK:     tensor.extract_slice %[[IMAGE]][%[[N]], 0, %{{.*}}, 0] [1, 24, 3, 15] [1, 1, 1, 1]
//       CHECK:     %[[ROWS:.*]] = tensor.extract_slice %{{.*}}[%[[N]], 0, %[[H]], 0] [1, 20, 1, 7]
//       CHECK:     %[[MEMORY:.*]] = tensor.empty() : tensor<1x1x24x3x3x8xf32>
//       CHECK:     linalg.fill {{.*}} tensor<1x1x24x3x3x1xf32>
//       CHECK:     linalg.generic {indexing_maps = [#[[$WINDOWS]], {{.*}} outs(%{{.*}} : tensor<1x1x24x3x3x7xf32>)
//       CHECK:     %[[RESULT:.*]] = bufferization.alloc_tensor() : tensor<1x20x1x8xf32>
//       CHECK:     linalg.fill {{.*}} tensor<1x20x1x1xf32>
//       CHECK:     tensor.insert_slice %[[ROWS]] into
//       CHECK:     %[[PANEL:.*]] = tensor.collapse_shape {{.*}} into tensor<1x1x216x8xf32>
//       CHECK:     %[[BLOCK:.*]] = tensor.collapse_shape %[[FILTER]] {{.*}} into tensor<20x216xf32>
//       CHECK:     linalg.generic {{.*}} ins(%[[PANEL]], %[[BLOCK]]
//       CHECK:     tensor.extract_slice {{.*}} : tensor<1x20x1x8xf32> to tensor<1x20x1x7xf32>
#image = affine_map<(n, f, h, w, c, y, x) -> (n, c, h * 2 + y, w * 2 + x)>
#filter = affine_map<(n, f, h, w, c, y, x) -> (f, c, y, x)>
#result = affine_map<(n, f, h, w, c, y, x) -> (n, f, h, w)>
func.func private @windows(%i: tensor<2x24x15x15xf32>, %f: tensor<20x24x3x3xf32>, %r: tensor<2x20x7x7xf32>)
    -> tensor<2x20x7x7xf32> attributes {plim.dispatch_function} {
  %s = linalg.generic {indexing_maps = [#image, #filter, #result],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%i, %f : tensor<2x24x15x15xf32>, tensor<20x24x3x3xf32>) outs(%r : tensor<2x20x7x7xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.addf %sum, %p : f32
    linalg.yield %q : f32
  } -> tensor<2x20x7x7xf32>
  return %s : tensor<2x20x7x7xf32>
}

// -----

// Lines of 14 pixels fill no panels, two of them nearly do: their windows are copied beside each other, and the columns of
// the product are those of all.
// CHECK-LABEL: func.func private @lines(
//       CHECK: scf.for %[[H:.*]] = %{{.*}} to %c14 step %c7
//       CHECK:   tensor.empty() : tensor<1x48x3x3x7x14xf32>
//       CHECK:   linalg.generic {{.*}} outs(%{{.*}} : tensor<1x48x3x3x7x14xf32>)
//       CHECK:   tensor.collapse_shape {{.*}} into tensor<1x432x98xf32>
//       CHECK:   tensor.collapse_shape {{.*}} into tensor<48x432xf32>
//       CHECK:   tensor.collapse_shape {{.*}} into tensor<1x48x98xf32>
//       CHECK:   scf.for %{{.*}} = %{{.*}} to %c96 step %c16
//       CHECK:     linalg.generic {{.*}} outs(%{{.*}} : tensor<1x48x16xf32>)
//       CHECK:   linalg.generic {{.*}} outs(%{{.*}} : tensor<1x48x8xf32>)
#image = affine_map<(n, f, h, w, c, y, x) -> (n, c, h + y, w + x)>
#filter = affine_map<(n, f, h, w, c, y, x) -> (f, c, y, x)>
#result = affine_map<(n, f, h, w, c, y, x) -> (n, f, h, w)>
func.func private @lines(%i: tensor<1x48x16x16xf32>, %f: tensor<48x48x3x3xf32>, %r: tensor<1x48x14x14xf32>)
    -> tensor<1x48x14x14xf32> attributes {plim.dispatch_function} {
  %s = linalg.generic {indexing_maps = [#image, #filter, #result],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%i, %f : tensor<1x48x16x16xf32>, tensor<48x48x3x3xf32>) outs(%r : tensor<1x48x14x14xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.addf %sum, %p : f32
    linalg.yield %q : f32
  } -> tensor<1x48x14x14xf32>
  return %s : tensor<1x48x14x14xf32>
}

// -----

// Of a filter that is a part of a larger one the loops of the reduction do not lie side by side; lines of the result do.
// CHECK-LABEL: func.func private @part_of_a_filter(
//       CHECK:   tensor.empty() : tensor<1x48x3x3x7x14xf32>
//   CHECK-NOT:   into tensor<48x432xf32>
//       CHECK:   tensor.collapse_shape {{.*}} into tensor<1x48x98xf32>
//   CHECK-NOT:   into tensor<48x432xf32>
//       CHECK:   return
#image = affine_map<(n, f, h, w, c, y, x) -> (n, c, h + y, w + x)>
#filter = affine_map<(n, f, h, w, c, y, x) -> (f, c, y, x)>
#result = affine_map<(n, f, h, w, c, y, x) -> (n, f, h, w)>
func.func private @part_of_a_filter(%i: tensor<1x48x16x16xf32>, %large: tensor<48x48x5x5xf32>, %r: tensor<1x48x14x14xf32>)
    -> tensor<1x48x14x14xf32> attributes {plim.dispatch_function} {
  %f = tensor.extract_slice %large[0, 0, 1, 1] [48, 48, 3, 3] [1, 1, 1, 1] : tensor<48x48x5x5xf32> to tensor<48x48x3x3xf32>
  %s = linalg.generic {indexing_maps = [#image, #filter, #result],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%i, %f : tensor<1x48x16x16xf32>, tensor<48x48x3x3xf32>) outs(%r : tensor<1x48x14x14xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.addf %sum, %p : f32
    linalg.yield %q : f32
  } -> tensor<1x48x14x14xf32>
  return %s : tensor<1x48x14x14xf32>
}

// -----

// Where the channels are innermost the panel has the filter's, once for all rows and columns of the image. Of loops over
// the window and the channels those outside have one iteration each, that of a block of 512.
// CHECK-LABEL: func.func private @filter(
//  CHECK-SAME: %[[FILTER:[a-z0-9]*]]: tensor<40x3x3x400xf32>
//       CHECK: scf.for %[[Y:.*]] = %{{.*}} to %c3 step %c1
//       CHECK:   scf.for %[[X:.*]] = %{{.*}} to %c3 step %c1
//       CHECK:     scf.for %[[F:.*]] = %{{.*}} to %c32 step %c16
//       CHECK:       tensor.extract_slice %[[FILTER]][%[[F]], %[[Y]], %[[X]], 0] [16, 1, 1, 400]
//       CHECK:       %[[PANEL:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<1x1x400x16xf32>)
//       CHECK:       linalg.generic {{.*}} ins(%{{.*}}, %[[PANEL]] : tensor<1x12x12x400xf32>, {{.*}} tensor<1x12x12x16xf32>)
#image = affine_map<(n, h, w, f, y, x, c) -> (n, h + y, w + x, c)>
#filter = affine_map<(n, h, w, f, y, x, c) -> (f, y, x, c)>
#result = affine_map<(n, h, w, f, y, x, c) -> (n, h, w, f)>
func.func private @filter(%f: tensor<40x3x3x400xf32>, %i: tensor<1x14x14x400xf32>, %r: tensor<1x12x12x40xf32>)
    -> tensor<1x12x12x40xf32> attributes {plim.dispatch_function} {
  %s = linalg.generic {indexing_maps = [#image, #filter, #result],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%i, %f : tensor<1x14x14x400xf32>, tensor<40x3x3x400xf32>) outs(%r : tensor<1x12x12x40xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.addf %sum, %p : f32
    linalg.yield %q : f32
  } -> tensor<1x12x12x40xf32>
  return %s : tensor<1x12x12x40xf32>
}

// -----

// Few rows of many columns are not worth a copy either, but go along the columns in the order of memory.
// CHECK-LABEL: func.func private @sweep(
//       CHECK: scf.for %[[K:.*]] = %{{.*}} to %c2048 step %c8
//       CHECK:   tensor.extract_slice %{{.*}}[%[[K]], 0] [8, 4096] [1, 1]
//   CHECK-NOT:   tensor.empty
//       CHECK:   linalg.matmul {{.*}} -> tensor<3x4096xf32>
func.func private @sweep(%a: tensor<3x2048xf32>, %b: tensor<2048x4096xf32>, %c: tensor<3x4096xf32>)
    -> tensor<3x4096xf32> attributes {plim.dispatch_function} {
  %r = linalg.matmul ins(%a, %b : tensor<3x2048xf32>, tensor<2048x4096xf32>) outs(%c : tensor<3x4096xf32>)
      -> tensor<3x4096xf32>
  return %r : tensor<3x4096xf32>
}

// -----

// Few rows, or few and short columns, are not worth a copy: panels are read where they lie, for all of the reduction. What has no
// iterations, and a function of the host, are left alone.
// CHECK-LABEL: func.func private @few_rows(
//       CHECK: scf.for %[[N:.*]] = %{{.*}} to %c512 step %c16
//   CHECK-NOT:   tensor.empty
//       CHECK:   tensor.extract_slice %arg1[0, %[[N]]] [2048, 16]
//       CHECK:   linalg.matmul {{.*}} -> tensor<12x16xf32>
//       CHECK: scf.for
//   CHECK-NOT:   tensor.empty
//       CHECK:   linalg.matmul {{.*}} -> tensor<64x16xf32>
//   CHECK-NOT: scf.for
//       CHECK: linalg.matmul {{.*}} -> tensor<64x512xf32>
func.func private @few_rows(%a: tensor<12x2048xf32>, %b: tensor<2048x512xf32>, %c: tensor<12x512xf32>,
                            %d: tensor<64x32xf32>, %e: tensor<32x32xf32>, %f: tensor<64x32xf32>,
                            %g: tensor<64x0xf32>, %h: tensor<0x512xf32>, %i: tensor<64x512xf32>)
    -> (tensor<12x512xf32>, tensor<64x32xf32>, tensor<64x512xf32>) attributes {plim.dispatch_function} {
  %r = linalg.matmul ins(%a, %b : tensor<12x2048xf32>, tensor<2048x512xf32>) outs(%c : tensor<12x512xf32>)
      -> tensor<12x512xf32>
  %s = linalg.matmul ins(%d, %e : tensor<64x32xf32>, tensor<32x32xf32>) outs(%f : tensor<64x32xf32>)
      -> tensor<64x32xf32>
  %t = linalg.matmul ins(%g, %h : tensor<64x0xf32>, tensor<0x512xf32>) outs(%i : tensor<64x512xf32>)
      -> tensor<64x512xf32>
  return %r, %s, %t : tensor<12x512xf32>, tensor<64x32xf32>, tensor<64x512xf32>
}
// Of columns that do not fill vectors the last panel is copied, with zeros behind it.
// CHECK-LABEL: func.func private @few_rows_of_odd_length(
//       CHECK: scf.for %{{.*}} = %{{.*}} to %c96 step %c16
//   CHECK-NOT:   tensor.empty
//       CHECK:   linalg.matmul {{.*}} -> tensor<12x16xf32>
//       CHECK: tensor.empty() : tensor<100x8xf32>
//       CHECK: linalg.generic {{.*}} tensor<12x100xf32>, tensor<100x8xf32>
func.func private @few_rows_of_odd_length(%a: tensor<12x100xf32>, %b: tensor<100x101xf32>, %c: tensor<12x101xf32>)
    -> tensor<12x101xf32> attributes {plim.dispatch_function} {
  %r = linalg.matmul ins(%a, %b : tensor<12x100xf32>, tensor<100x101xf32>) outs(%c : tensor<12x101xf32>)
      -> tensor<12x101xf32>
  return %r : tensor<12x101xf32>
}

// Rows that lie apart are as good as copies while the nearest cache keeps them, which it does not if they all fall on one set.
// CHECK-LABEL: func.func private @short_panels(
//       CHECK: scf.for
//   CHECK-NOT:   tensor.empty
//       CHECK:   linalg.matmul {{.*}} -> tensor<64x16xf32>
//       CHECK: scf.for
//       CHECK:   tensor.empty() : tensor<64x16xf32>
//       CHECK:   linalg.generic
func.func private @short_panels(%a: tensor<64x64xf32>, %b: tensor<64x2000xf32>, %c: tensor<64x2000xf32>,
                                %d: tensor<64x2048xf32>, %e: tensor<64x2048xf32>)
    -> (tensor<64x2000xf32>, tensor<64x2048xf32>) attributes {plim.dispatch_function} {
  %r = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x2000xf32>) outs(%c : tensor<64x2000xf32>)
      -> tensor<64x2000xf32>
  %s = linalg.matmul ins(%a, %d : tensor<64x64xf32>, tensor<64x2048xf32>) outs(%e : tensor<64x2048xf32>)
      -> tensor<64x2048xf32>
  return %r, %s : tensor<64x2000xf32>, tensor<64x2048xf32>
}
// CHECK-LABEL: func.func @host(
//   CHECK-NOT: scf.for
func.func @host(%a: tensor<64x2048xf32>, %b: tensor<2048x128xf32>, %c: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<64x2048xf32>, tensor<2048x128xf32>) outs(%c : tensor<64x128xf32>)
      -> tensor<64x128xf32>
  return %r : tensor<64x128xf32>
}

// -----

// Extents that only the call knows.
// CHECK-LABEL: func.func private @dynamic(
//       CHECK: scf.for
//       CHECK:   scf.for
//       CHECK:     bufferization.materialize_in_destination
//       CHECK:     linalg.generic {{.*}} tensor<?x?xf32>, tensor<?x16xf32>
//       CHECK:   scf.for
//       CHECK:     bufferization.materialize_in_destination
//       CHECK:     linalg.generic {{.*}} tensor<?x?xf32>, tensor<?x?xf32>
func.func private @dynamic(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32>
    attributes {plim.dispatch_function} {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

// Products of small integers: pairs of both operands, in 32 bits, rows in front of the panels; what an odd number leaves is a
// pair with a zero.
#left = affine_map<(m, n, k) -> (m, k)>
#right = affine_map<(m, n, k) -> (k, n)>
#sum = affine_map<(m, n, k) -> (m, n)>
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu", "plim.features" = ["+avx2"]>>} {
// CHECK-LABEL: func.func private @pairs(
//  CHECK-SAME: %[[A:.*]]: tensor<64x33xi8>, %[[B:.*]]: tensor<33x48xi8>,
//       CHECK: linalg.generic {{.*}} ins(%[[A]], %[[A]] : {{.*}} outs(%{{.*}} : tensor<64x16xi32>)
//       CHECK:   arith.extsi
//       CHECK:   arith.ori
//       CHECK: linalg.generic {{.*}} ins(%[[A]] : {{.*}} outs(%{{.*}} : tensor<64x1xi32>)
//   CHECK-NOT:   arith.ori
//       CHECK: %[[ROWS:.*]] = tensor.extract_slice %{{.*}}[0, 0] [64, 17] [1, 1]
//       CHECK: scf.for %[[N:.*]] = %{{.*}} to %c48 step %c16
//       CHECK:   %[[PART:.*]] = tensor.extract_slice %[[B]][0, %[[N]]] [33, 16] [1, 1]
//       CHECK:   linalg.generic {{.*}} ins(%[[PART]], %[[PART]] : {{.*}} outs(%{{.*}} : tensor<16x16xi32>)
//       CHECK:   linalg.generic {{.*}} ins(%[[PART]] : {{.*}} outs(%{{.*}} : tensor<1x16xi32>)
//       CHECK:   linalg.generic {{.*}} ins(%[[ROWS]], %{{.*}} : tensor<64x17xi32>, tensor<17x16xi32>)
//       CHECK:     plim.dot_groups
//       CHECK: return
func.func private @pairs(%a: tensor<64x33xi8>, %b: tensor<33x48xi8>, %c: tensor<64x48xi32>) -> tensor<64x48xi32>
    attributes {plim.dispatch_function} {
  %r = linalg.matmul ins(%a, %b : tensor<64x33xi8>, tensor<33x48xi8>) outs(%c : tensor<64x48xi32>)
      -> tensor<64x48xi32>
  return %r : tensor<64x48xi32>
}

// 16 bits without a sign do not fit into pairs; they are widened where they are copied.
// CHECK-LABEL: func.func private @unsigned(
//       CHECK: arith.extui
//   CHECK-NOT: plim.dot_groups
//       CHECK: return
func.func private @unsigned(%a: tensor<64x33xi16>, %b: tensor<33x48xi16>, %c: tensor<64x48xi32>)
    -> tensor<64x48xi32> attributes {plim.dispatch_function} {
  %r = linalg.generic {indexing_maps = [#left, #right, #sum], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x33xi16>, tensor<33x48xi16>) outs(%c : tensor<64x48xi32>) {
  ^bb0(%x: i16, %y: i16, %s: i32):
    %u = arith.extui %x : i16 to i32
    %v = arith.extui %y : i16 to i32
    %p = arith.muli %u, %v : i32
    %q = arith.addi %s, %p : i32
    linalg.yield %q : i32
  } -> tensor<64x48xi32>
  return %r : tensor<64x48xi32>
}
}

// -----

// Four bytes at a time, in one instruction. Both have signs: the rows get other top bits, and the product of a row of zeros with such
// bits is taken from what is added to.
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu", "plim.features" = ["+avx512bw", "+avx512vnni", "+avx512bf16"]>>} {
// CHECK-LABEL: func.func private @bytes(
//   CHECK-DAG: %[[TOPS:.*]] = arith.constant -2139062144 : i32
//       CHECK: %[[ROWS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<64x8xi32>)
//       CHECK:   arith.xori %{{.*}}, %[[TOPS]]
//       CHECK: scf.for
//       CHECK:   %[[PANEL:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<8x16xi32>)
//   CHECK-NOT:   arith.xori
//       CHECK:   %[[ADDED:.*]] = linalg.generic {{.*}}"reduction", "parallel"{{.*}} ins(%[[PANEL]] : tensor<8x16xi32>) outs(%{{.*}} : tensor<16xi32>)
//       CHECK:     plim.dot_groups %[[TOPS]], %{{.*}} of i8
//       CHECK:   %[[LESS:.*]] = linalg.generic {{.*}} ins(%[[ADDED]] : tensor<16xi32>) outs(%{{.*}} : tensor<64x16xi32>)
//       CHECK:     arith.subi
//       CHECK:   linalg.generic {{.*}} ins(%[[ROWS]], %[[PANEL]] : {{.*}} outs(%[[LESS]] : tensor<64x16xi32>)
//       CHECK:     plim.dot_groups %{{.*}}, %{{.*}}, %{{.*}} of i8
func.func private @bytes(%a: tensor<64x32xi8>, %b: tensor<32x48xi8>, %c: tensor<64x48xi32>) -> tensor<64x48xi32>
    attributes {plim.dispatch_function} {
  %r = linalg.matmul ins(%a, %b : tensor<64x32xi8>, tensor<32x48xi8>) outs(%c : tensor<64x48xi32>)
      -> tensor<64x48xi32>
  return %r : tensor<64x48xi32>
}

// Images are regrouped as they lie, all that the windows touch, once; three channels are a group with a zero.
// CHECK-LABEL: func.func private @windows(
//  CHECK-SAME: %[[IMAGE:.*]]: tensor<9x15x3xi8>, %[[FILTER:.*]]: tensor<3x3x3x32xi8>,
//       CHECK: %[[COPY:.*]] = linalg.generic {{.*}} ins(%[[IMAGE]], %[[IMAGE]], %[[IMAGE]] : {{.*}} outs(%{{.*}} : tensor<9x15x1xi32>)
//       CHECK: scf.for
//       CHECK:   %[[PART:.*]] = tensor.extract_slice %[[FILTER]]
//       CHECK:   linalg.generic {{.*}} ins(%[[PART]], %[[PART]], %[[PART]] : {{.*}} outs(%{{.*}} : tensor<3x3x1x16xi32>)
//       CHECK:   linalg.generic {{.*}} "reduction", "reduction", "reduction"{{.*}} ins(%{{.*}}, %{{.*}} : tensor<9x15x1xi32>, tensor<3x3x1x16xi32>)
//       CHECK:     plim.dot_groups
func.func private @windows(%image: tensor<9x15x3xi8>, %filter: tensor<3x3x3x32xi8>, %sum: tensor<4x7x32xi32>)
    -> tensor<4x7x32xi32> attributes {plim.dispatch_function} {
  %r = linalg.generic {indexing_maps = [affine_map<(h, w, f, kh, kw, c) -> (h * 2 + kh, w * 2 + kw, c)>,
                                        affine_map<(h, w, f, kh, kw, c) -> (kh, kw, c, f)>,
                                        affine_map<(h, w, f, kh, kw, c) -> (h, w, f)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%image, %filter : tensor<9x15x3xi8>, tensor<3x3x3x32xi8>) outs(%sum : tensor<4x7x32xi32>) {
  ^bb0(%x: i8, %y: i8, %s: i32):
    %u = arith.extsi %x : i8 to i32
    %v = arith.extsi %y : i8 to i32
    %p = arith.muli %u, %v : i32
    %q = arith.addi %s, %p : i32
    linalg.yield %q : i32
  } -> tensor<4x7x32xi32>
  return %r : tensor<4x7x32xi32>
}

// CHECK-LABEL: func.func private @floats(
//       CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<64x16xi32>)
//       CHECK:   arith.bitcast %{{.*}} : bf16 to i16
//       CHECK: scf.for
//       CHECK:   plim.dot_groups %{{.*}}, %{{.*}}, %{{.*}} of bf16 : i32, f32
//  STRICT-NOT: of bf16
//       CHECK: return
func.func private @floats(%a: tensor<64x32xbf16>, %b: tensor<32x48xbf16>, %c: tensor<64x48xf32>) -> tensor<64x48xf32>
    attributes {plim.dispatch_function} {
  %r = linalg.matmul ins(%a, %b : tensor<64x32xbf16>, tensor<32x48xbf16>) outs(%c : tensor<64x48xf32>)
      -> tensor<64x48xf32>
  return %r : tensor<64x48xf32>
}
}

// -----

// Operands that are widened are widened once, when they are copied: rows for all panels.
// CHECK-LABEL: func.func private @widened(
//       CHECK: %[[ROWS:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<64x33xf16>) outs(%{{.*}} : tensor<64x33xf32>)
//       CHECK:   arith.extf
//       CHECK: scf.for
//       CHECK:   %[[PANEL:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<33x16xf16>) outs(%{{.*}} : tensor<33x16xf32>)
//       CHECK:     arith.extf
//       CHECK:   linalg.generic {{.*}} ins(%[[ROWS]], %[[PANEL]] : tensor<64x33xf32>, tensor<33x16xf32>)
//   CHECK-NOT:     arith.extf
//       CHECK:     arith.mulf
func.func private @widened(%a: tensor<64x33xf16>, %b: tensor<33x48xf16>, %c: tensor<64x48xf32>) -> tensor<64x48xf32>
    attributes {plim.dispatch_function} {
  %r = linalg.matmul ins(%a, %b : tensor<64x33xf16>, tensor<33x48xf16>) outs(%c : tensor<64x48xf32>)
      -> tensor<64x48xf32>
  return %r : tensor<64x48xf32>
}

// -----

// With one block of the reduction, what reads the result takes each panel when it is done; the product has memory for one. The
// last panel's columns of zeros are not copied back anywhere.
// CHECK-LABEL: func.func private @consumed(
//  CHECK-SAME: %{{[a-z0-9]*}}: tensor<64x600xf32>, %{{[a-z0-9]*}}: tensor<600x200xf32>, %[[O:[a-z0-9]*]]: tensor<64x200xf32>
//       CHECK: scf.for %{{.*}} to %c192 step %c16 iter_args(%{{.*}} = %[[O]])
//       CHECK:   tensor.empty() : tensor<64x16xf32>
//       CHECK:   linalg.fill {{.*}} -> tensor<64x16xf32>
//       CHECK:   %[[R:.*]] = linalg.generic {{.*}}"reduction"]
//       CHECK:   linalg.generic {{.*}} ins(%[[R]] : tensor<64x16xf32>)
//       CHECK:     math.absf
//       CHECK: %[[LAST:.*]] = linalg.generic {{.*}}"reduction"]
//   CHECK-NOT: bufferization.materialize_in_destination
//       CHECK: math.absf
//   CHECK-NOT: linalg.matmul
//       CHECK: return
#both = affine_map<(m, n) -> (m, n)>
func.func private @consumed(%a: tensor<64x600xf32>, %b: tensor<600x200xf32>, %o: tensor<64x200xf32>)
    -> tensor<64x200xf32> attributes {plim.dispatch_function} {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x200xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x200xf32>) -> tensor<64x200xf32>
  %r = linalg.matmul ins(%a, %b : tensor<64x600xf32>, tensor<600x200xf32>) outs(%f : tensor<64x200xf32>)
      -> tensor<64x200xf32>
  %s = linalg.generic {indexing_maps = [#both, #both], iterator_types = ["parallel", "parallel"]}
      ins(%r : tensor<64x200xf32>) outs(%o : tensor<64x200xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = math.absf %x : f32
    linalg.yield %y : f32
  } -> tensor<64x200xf32>
  return %s : tensor<64x200xf32>
}

// -----

// Tile registers: rows are read where they lie as long as they fill tiles, the panel has pairs. What was zero is not read.
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu", "plim.features" = ["+amx-bf16", "+amx-int8", "+amx-tile"]>>} {
// CHECK-LABEL: func.func private @tiles(
//  CHECK-SAME: %[[A:.*]]: tensor<40x64xbf16>, %[[B:.*]]: tensor<64x48xbf16>, %[[E:.*]]: tensor<40x48xf32>)
//   CHECK-NOT: linalg.fill
//       CHECK: %[[REST:.*]] = tensor.extract_slice %[[A]][32, 0] [8, 64] [1, 1]
//       CHECK: bufferization.materialize_in_destination %[[REST]] in %{{.*}} : (tensor<8x64xbf16>, tensor<8x64xbf16>)
//       CHECK: %[[PANEL:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<32x32xi32>)
//       CHECK:   arith.shli
//       CHECK:   arith.ori
//       CHECK: %[[WHOLE:.*]] = tensor.extract_slice %[[A]][0, 0] [32, 64] [1, 1]
//       CHECK: plim.tile_product ins(%[[WHOLE]], %[[PANEL]] : tensor<32x64xbf16>, tensor<32x32xi32>)
//  CHECK-SAME:   outs(%{{.*}} : tensor<32x32xf32>) {fromZero}
//       CHECK: plim.tile_product ins(%{{.*}}, %[[PANEL]] : tensor<16x64xbf16>, tensor<32x32xi32>)
//  CHECK-SAME:   outs(%{{.*}}, %{{.*}} : tensor<8x32xf32>, tensor<16x32xf32>) {fromZero}
// The last panel has the columns that are left, in whole tiles.
//       CHECK: plim.tile_product {{.*}} outs(%{{.*}} : tensor<32x16xf32>) {fromZero}
//       CHECK: return
func.func private @tiles(%a: tensor<40x64xbf16>, %b: tensor<64x48xbf16>, %e: tensor<40x48xf32>) -> tensor<40x48xf32>
    attributes {plim.dispatch_function} {
  %z = arith.constant 0.0 : f32
  %c = linalg.fill ins(%z : f32) outs(%e : tensor<40x48xf32>) -> tensor<40x48xf32>
  %r = linalg.matmul ins(%a, %b : tensor<40x64xbf16>, tensor<64x48xbf16>) outs(%c : tensor<40x48xf32>) -> tensor<40x48xf32>
  return %r : tensor<40x48xf32>
}

// A depth that does not fill tiles has zeros behind it in both copies, and its last group zeros behind the elements.
// CHECK-LABEL: func.func private @odd(
//  CHECK-SAME: %[[A:.*]]: tensor<32x37xi8>, %[[B:.*]]: tensor<37x16xi8>, %[[C:.*]]: tensor<32x16xi32>)
//       CHECK: bufferization.materialize_in_destination %[[A]] in %{{.*}} : (tensor<32x37xi8>, tensor<32x37xi8>)
//       CHECK: linalg.fill ins(%{{.*}} : i8) outs(%{{.*}} : tensor<32x27xi8>)
//       CHECK: linalg.generic {{.*}} ins(%[[B]], %[[B]], %[[B]], %[[B]] : {{.*}} outs(%{{.*}} : tensor<9x16xi32>)
//       CHECK: linalg.generic {{.*}} ins(%[[B]] : {{.*}} outs(%{{.*}} : tensor<1x16xi32>)
//       CHECK: linalg.fill ins(%{{.*}} : i32) outs(%{{.*}} : tensor<6x16xi32>)
//       CHECK: plim.tile_product ins(%{{.*}}, %{{.*}} : tensor<32x64xi8>, tensor<16x16xi32>) outs(%[[C]] : tensor<32x16xi32>) ->
func.func private @odd(%a: tensor<32x37xi8>, %b: tensor<37x16xi8>, %c: tensor<32x16xi32>) -> tensor<32x16xi32>
    attributes {plim.dispatch_function} {
  %r = linalg.matmul ins(%a, %b : tensor<32x37xi8>, tensor<37x16xi8>) outs(%c : tensor<32x16xi32>) -> tensor<32x16xi32>
  return %r : tensor<32x16xi32>
}

// Three rows are not worth tiles.
// CHECK-LABEL: func.func private @few(
//   CHECK-NOT: plim.tile_product
//       CHECK: return
func.func private @few(%a: tensor<3x64xbf16>, %b: tensor<64x48xbf16>, %c: tensor<3x48xf32>) -> tensor<3x48xf32>
    attributes {plim.dispatch_function} {
  %r = linalg.matmul ins(%a, %b : tensor<3x64xbf16>, tensor<64x48xbf16>) outs(%c : tensor<3x48xf32>) -> tensor<3x48xf32>
  return %r : tensor<3x48xf32>
}
}
