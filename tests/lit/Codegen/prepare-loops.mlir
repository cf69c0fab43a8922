// RUN: plimsoll-opt %s -plim-prepare-loops -split-input-file | FileCheck %s

#t = affine_map<(d0, d1) -> (d1, d0)>

// All operands are contiguous along the first loop: it becomes the inner one.
// CHECK-DAG: #[[$ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func private @columns(
//       CHECK: linalg.generic {indexing_maps = [#[[$ID]], #[[$ID]]]
func.func private @columns(%a: tensor<8x16xf32>, %o: tensor<8x16xf32>) -> tensor<8x16xf32>
    attributes {plim.dispatch_function} {
  %r = linalg.generic {indexing_maps = [#t, #t], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<8x16xf32>) outs(%o : tensor<8x16xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  } -> tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// A contraction runs along the columns of the result and of its right-hand side. Its sum may be
// taken in any order, its product contracted into it.
// CHECK-LABEL: func.func private @contraction(
//       CHECK: iterator_types = ["parallel", "reduction", "parallel"]
//       CHECK: arith.mulf {{.*}} fastmath<contract>
//       CHECK: arith.addf {{.*}} fastmath<reassoc,contract>
func.func private @contraction(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %o: tensor<8x8xf32>)
    -> tensor<8x8xf32> attributes {plim.dispatch_function} {
  %r = linalg.generic {indexing_maps = [#a, #b, #c],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%o : tensor<8x8xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.addf %s, %p : f32
    linalg.yield %q : f32
  } -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#t = affine_map<(d0, d1) -> (d1, d0)>

// A tie keeps the order as written.
// CHECK-DAG: #[[$ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[$T:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func private @transpose(
//       CHECK: linalg.generic {indexing_maps = [#[[$T]], #[[$ID]]]
func.func private @transpose(%a: tensor<8x16xf32>, %o: tensor<16x8xf32>) -> tensor<16x8xf32>
    attributes {plim.dispatch_function} {
  %r = linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<8x16xf32>) outs(%o : tensor<16x8xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  } -> tensor<16x8xf32>
  return %r : tensor<16x8xf32>
}

// -----

#v = affine_map<(d0) -> (d0)>

// Elementwise sums keep their order; they may be contracted with products, differences may not. Flags that
// the author set stay, divisions get none.
// CHECK-LABEL: func.func private @elementwise(
//       CHECK: arith.addf %{{.*}} fastmath<contract>
//       CHECK: arith.subf %{{.*}} fastmath<nnan> 
//       CHECK: arith.divf %{{[^ ]*}}, %{{[^ ]*}} : f32
func.func private @elementwise(%a: tensor<8xf32>, %o: tensor<8xf32>) -> tensor<8xf32>
    attributes {plim.dispatch_function} {
  %r = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]}
      ins(%a : tensor<8xf32>) outs(%o : tensor<8xf32>) {
  ^bb0(%x: f32, %old: f32):
    %s = arith.addf %x, %x : f32
    %d = arith.subf %s, %x fastmath<nnan> : f32
    %q = arith.divf %d, %x : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

#v = affine_map<(d0) -> (d0)>

// Polynomials for f32 and narrower, calls of the vector library for f64.
// CHECK-LABEL: func.func private @functions(
//   CHECK-NOT: math.exp {{.*}} : f32
//   CHECK-NOT: math.tanh {{.*}} : f16
//   CHECK-NOT: math.exp {{.*}} : bf16
//       CHECK: math.exp %{{.*}} : f64
//   CHECK-NOT: math.exp {{.*}} : f32
func.func private @functions(%a: tensor<8xf32>, %b: tensor<8xf16>, %c: tensor<8xbf16>,
                             %d: tensor<8xf64>)
    -> (tensor<8xf32>, tensor<8xf16>, tensor<8xbf16>, tensor<8xf64>)
    attributes {plim.dispatch_function} {
  %r:4 = linalg.generic {indexing_maps = [#v, #v, #v, #v], iterator_types = ["parallel"]}
      outs(%a, %b, %c, %d : tensor<8xf32>, tensor<8xf16>, tensor<8xbf16>, tensor<8xf64>) {
  ^bb0(%x: f32, %y: f16, %z: bf16, %w: f64):
    %0 = math.exp %x : f32
    %1 = math.tanh %y : f16
    %2 = math.exp %z : bf16
    %3 = math.exp %w : f64
    linalg.yield %0, %1, %2, %3 : f32, f16, bf16, f64
  } -> (tensor<8xf32>, tensor<8xf16>, tensor<8xbf16>, tensor<8xf64>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<8xf32>, tensor<8xf16>, tensor<8xbf16>, tensor<8xf64>
}

// -----

// A kernel has polynomials and contracted products as well; its loops run as they are written, since %y may be a part of %x.
// CHECK: #map = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @kernel(
//       CHECK: arith.addf %arg0, %arg0 fastmath<contract>
//   CHECK-NOT: math.exp
//       CHECK: linalg.generic {indexing_maps = [#map, #map]
func.func @kernel(%f: f32, %x: memref<8x8xf32>, %y: memref<8x8xf32>) -> f32 attributes {plim.kernel} {
  %s = arith.addf %f, %f : f32
  %r = math.exp %s : f32
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (j, i)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<8x8xf32>) outs(%y : memref<8x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return %r : f32
}

// -----

// In no other function.
// CHECK-LABEL: func.func @host(
//   CHECK-NOT: fastmath
//       CHECK: math.exp
func.func @host(%x: f32) -> f32 {
  %s = arith.addf %x, %x : f32
  %r = math.exp %s : f32
  return %r : f32
}

// -----

// Along a row that is computed in place, although two operands have an element for each row.
// CHECK-LABEL: func.func private @in_place
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
#whole = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func private @in_place(%m: tensor<8xf32>, %e: tensor<8x64xf32>, %s: tensor<8xf32>) -> (tensor<8x64xf32>, tensor<8xf32>) attributes {plim.dispatch_function} {
  %r:2 = linalg.generic {indexing_maps = [#row, #whole, #row], iterator_types = ["parallel", "reduction"]}
      ins(%m : tensor<8xf32>) outs(%e, %s : tensor<8x64xf32>, tensor<8xf32>) {
  ^bb0(%a: f32, %x: f32, %o: f32):
    %p = arith.mulf %a, %x : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %p, %t : f32, f32
  } -> (tensor<8x64xf32>, tensor<8xf32>)
  return %r#0, %r#1 : tensor<8x64xf32>, tensor<8xf32>
}

// -----

// Along the line of a result rather than the three columns of a window, where these are read two apart.
// CHECK-LABEL: func.func private @two_apart
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "parallel"]
func.func private @two_apart(%x: tensor<2x4x17x17xf32>, %w: tensor<4x3x3xf32>, %s: tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32> attributes {plim.dispatch_function} {
  %r = linalg.generic {indexing_maps = [affine_map<(n, g, i, j, k, l) -> (n, g, 2 * i + k, 2 * j + l)>, affine_map<(n, g, i, j, k, l) -> (g, k, l)>, affine_map<(n, g, i, j, k, l) -> (n, g, i, j)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<2x4x17x17xf32>, tensor<4x3x3xf32>) outs(%s : tensor<2x4x8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<2x4x8x8xf32>
  return %r : tensor<2x4x8x8xf32>
}
