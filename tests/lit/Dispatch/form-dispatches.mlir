// RUN: plimsoll-opt %s -plim-form-dispatches -split-input-file | FileCheck %s
// RUN: plimsoll-opt %s -plim-form-dispatches=fuse=false -split-input-file \
// RUN:   | FileCheck %s --check-prefix=ORACLE

#id = affine_map<(d0, d1) -> (d0, d1)>

// An elementwise consumer takes the contraction before it inside. Fills and constants are copied,
// not bound; so is the empty tensor, whose extent is bound as a scalar.
// CHECK-LABEL: func.func private @relu_contraction_0(
//  CHECK-SAME: %[[A:.*]]: tensor<?x8xf32>, %[[B:.*]]: tensor<8x16xf32>, %[[N:.*]]: index, %[[O:.*]]: tensor<?x16xf32>)
//  CHECK-SAME: plim.dispatch_function
//  CHECK-SAME: plim.parallel_loops = array<i64: 0, 1>
//   CHECK-DAG: %[[Z:.*]] = arith.constant 0.000000e+00 : f32
//   CHECK-DAG: %[[E:.*]] = tensor.empty(%[[N]])
//       CHECK: %[[F:.*]] = linalg.fill ins(%[[Z]] : f32) outs(%[[E]] : tensor<?x16xf32>)
//       CHECK: %[[M:.*]] = linalg.matmul ins(%[[A]], %[[B]] : {{.*}}) outs(%[[F]] : tensor<?x16xf32>)
//       CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[M]] : tensor<?x16xf32>) outs(%[[O]] : tensor<?x16xf32>)
//       CHECK: return %[[R]]
// CHECK-LABEL: func.func @relu(
//  CHECK-SAME: %[[A:.*]]: tensor<?x8xf32>, %[[B:.*]]: tensor<8x16xf32>, %[[N:.*]]: index)
//       CHECK: %[[E:.*]] = tensor.empty(%[[N]])
//   CHECK-NOT: linalg
//       CHECK: %[[R:.*]] = plim.dispatch @relu_contraction_0 ins(%[[A]], %[[B]], %[[N]] : {{.*}}) outs(%[[E]] : tensor<?x16xf32>)
//   CHECK-NOT: linalg
//       CHECK: return %[[R]]

// ORACLE-LABEL: func.func private @relu_contraction_0(
//       ORACLE: linalg.matmul
//   ORACLE-NOT: linalg.generic
// ORACLE-LABEL: func.func private @relu_elementwise_1(
//   ORACLE-NOT: linalg.matmul
//       ORACLE: linalg.generic
// ORACLE-LABEL: func.func @relu(
//       ORACLE: %[[M:.*]] = plim.dispatch @relu_contraction_0
//       ORACLE: plim.dispatch @relu_elementwise_1 ins(%[[M]] : tensor<?x16xf32>)
func.func @relu(%a: tensor<?x8xf32>, %b: tensor<8x16xf32>, %n: index) -> tensor<?x16xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x16xf32>) -> tensor<?x16xf32>
  %m = linalg.matmul ins(%a, %b : tensor<?x8xf32>, tensor<8x16xf32>)
                     outs(%f : tensor<?x16xf32>) -> tensor<?x16xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%m : tensor<?x16xf32>) outs(%e : tensor<?x16xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.maximumf %x, %z : f32
    linalg.yield %y : f32
  } -> tensor<?x16xf32>
  return %r : tensor<?x16xf32>
}

// -----

// The operand of a contraction is read often: it gets memory. The fill of a root stays with it.
// CHECK-LABEL: func.func private @chain_contraction_0(
//  CHECK-SAME: %[[O:[^:]*]]: tensor<8x8xf32>) -> tensor<8x8xf32> attributes
//       CHECK: %[[F:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%[[O]] : tensor<8x8xf32>)
//       CHECK: linalg.matmul {{.*}} outs(%[[F]] : tensor<8x8xf32>)
// CHECK-LABEL: func.func private @chain_contraction_1(
//       CHECK: linalg.matmul
// CHECK-LABEL: func.func @chain(
//   CHECK-NOT: linalg.fill
//       CHECK: %[[M:.*]] = plim.dispatch @chain_contraction_0
//       CHECK: plim.dispatch @chain_contraction_1 ins(%[[M]], %{{.*}} : tensor<8x8xf32>, tensor<8x8xf32>)
func.func @chain(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %m = linalg.matmul ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>)
                     outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %r = linalg.matmul ins(%m, %b : tensor<8x8xf32>, tensor<8x8xf32>)
                     outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A reduction of rows and what divides by it share the loop over rows, and only that.
// CHECK-LABEL: func.func private @rows_reduction_0(
//  CHECK-SAME: plim.parallel_loops = array<i64: 0>
//       CHECK: linalg.fill
//       CHECK: linalg.generic {{.*}}"reduction"
//       CHECK: linalg.generic
// CHECK-LABEL: func.func @rows(
// CHECK-COUNT-1: plim.dispatch
//     CHECK-NOT: plim.dispatch
//         CHECK: return
func.func @rows(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %ee = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%z : f32) outs(%ee : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<8x8xf32>) outs(%f : tensor<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %o : f32
    linalg.yield %y : f32
  } -> tensor<8xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %s : tensor<8x8xf32>, tensor<8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %q = arith.divf %x, %y : f32
    linalg.yield %q : f32
  } -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>

// Fused, a vector over rows and one over columns would leave no loop to split.
// CHECK-LABEL: func.func @cross(
// CHECK-COUNT-2: plim.dispatch
//     CHECK-NOT: plim.dispatch
//         CHECK: return
func.func @cross(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8x8xf32> {
  %e = tensor.empty() : tensor<8x8xf32>
  %v = tensor.empty() : tensor<8xf32>
  %p = linalg.exp ins(%a : tensor<8xf32>) outs(%v : tensor<8xf32>) -> tensor<8xf32>
  %q = linalg.log ins(%b : tensor<8xf32>) outs(%v : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.generic {indexing_maps = [#row, #col, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p, %q : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

// -----

// What is used elsewhere is computed once, in a dispatch of its own.
// CHECK-LABEL: func.func @shared(
//       CHECK: %[[P:.*]] = plim.dispatch @shared_elementwise_0
//       CHECK: %[[Q:.*]] = plim.dispatch @shared_elementwise_1 ins(%[[P]] : tensor<8xf32>)
//       CHECK: return %[[P]], %[[Q]]
func.func @shared(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %p = linalg.exp ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %q = linalg.log ins(%p : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %p, %q : tensor<8xf32>, tensor<8xf32>
}

// -----

// Dispatches stand inside of the control flow that their ops stood in.
// CHECK-LABEL: func.func @in_loop(
//  CHECK-SAME: %[[P:[^:]*]]: tensor<4xf32>)
//       CHECK: scf.for %[[I:.*]] = {{.*}} iter_args(%[[T:.*]] = %{{.*}})
//       CHECK: %[[S:.*]] = plim.dispatch @in_loop_elementwise_0 ins(%[[T]] : tensor<8xf32>) outs(%[[T]] : tensor<8xf32>)
//       CHECK: %[[U:.*]] = plim.dispatch @in_loop_insert_slice_1 ins(%[[P]], %[[I]] : tensor<4xf32>, index) outs(%[[S]] : tensor<8xf32>)
//       CHECK: scf.yield %[[U]]
func.func @in_loop(%a: tensor<8xf32>, %n: index, %p: tensor<4xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %a) -> tensor<8xf32> {
    %s = linalg.exp ins(%t : tensor<8xf32>) outs(%t : tensor<8xf32>) -> tensor<8xf32>
    %u = tensor.insert_slice %p into %s[%i] [4] [1] : tensor<4xf32> into tensor<8xf32>
    scf.yield %u : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

// Ops without a destination of their own get one, and write it.
// CHECK-LABEL: func.func private @slice_extract_slice_0(
//       CHECK: %[[S:.*]] = tensor.extract_slice
//       CHECK: linalg.copy ins(%[[S]] : tensor<?xf32>) outs(%{{.*}} : tensor<?xf32>)
// CHECK-LABEL: func.func @slice(
//  CHECK-SAME: %[[N:[^:]*]]: index)
//       CHECK: %[[E:.*]] = tensor.empty(%[[N]]) : tensor<?xf32>
//       CHECK: plim.dispatch @slice_extract_slice_0 {{.*}} outs(%[[E]] : tensor<?xf32>)
func.func @slice(%a: tensor<8x?xf32>, %i: index, %n: index) -> tensor<?xf32> {
  %r = tensor.extract_slice %a[%i, 0] [1, %n] [1, 1] : tensor<8x?xf32> to tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// CHECK-LABEL: func.func private @elements_from_elements_0(
//       CHECK: tensor.from_elements
// CHECK-LABEL: func.func @elements(
//       CHECK: tensor.empty() : tensor<2xf32>
//       CHECK: plim.dispatch @elements_from_elements_0
func.func @elements(%a: f32) -> tensor<2xf32> {
  %r = tensor.from_elements %a, %a : tensor<2xf32>
  return %r : tensor<2xf32>
}

// -----

// A fill that is itself a result computes. An annotation of the root goes to the dispatch.
// CHECK-LABEL: func.func @fill(
//       CHECK: plim.dispatch @fill_fill_0 {{.*}} {plim.device = "npu"}
func.func @fill(%a: f32) -> tensor<2xf32> {
  %e = tensor.empty() : tensor<2xf32>
  %f = linalg.fill {plim.device = "npu"} ins(%a : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  return %f : tensor<2xf32>
}

// -----

// Splats are copied inside, other constants are bound.
// CHECK-LABEL: func.func private @constants_elementwise_0(
//  CHECK-SAME: %[[TABLE:[^:]*]]: tensor<2xf32>, %{{[^:]*}}: tensor<2xf32>)
//       CHECK: %[[SPLAT:.*]] = arith.constant dense<2.000000e+00> : tensor<2xf32>
//       CHECK: linalg.add ins(%[[TABLE]], %[[SPLAT]] : tensor<2xf32>, tensor<2xf32>)
func.func @constants() -> tensor<2xf32> {
  %table = arith.constant dense<[1.0, 3.0]> : tensor<2xf32>
  %splat = arith.constant dense<2.0> : tensor<2xf32>
  %e = tensor.empty() : tensor<2xf32>
  %r = linalg.add ins(%table, %splat : tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<2xf32>)
      -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// -----

// A value that the body reads at random is bound like an operand.
#v = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func private @gather_elementwise_0(
//  CHECK-SAME: %[[I:[^:]*]]: tensor<4xindex>, %[[T:[^:]*]]: tensor<?xf32>, %{{[^:]*}}: tensor<4xf32>)
//       CHECK: tensor.extract %[[T]]
// CHECK-LABEL: func.func @gather(
//       CHECK: plim.dispatch @gather_elementwise_0
func.func @gather(%t: tensor<?xf32>, %i: tensor<4xindex>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]}
      ins(%i : tensor<4xindex>) outs(%e : tensor<4xf32>) {
  ^bb0(%at: index, %o: f32):
    %x = tensor.extract %t[%at] : tensor<?xf32>
    linalg.yield %x : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// Kernels and dispatch functions are left alone.
// CHECK-LABEL: func.func @kernel(
//   CHECK-NOT: plim.dispatch @
func.func @kernel(%a: memref<4xf32>) attributes {plim.kernel} {
  linalg.exp ins(%a : memref<4xf32>) outs(%a : memref<4xf32>)
  return
}
func.func private @made(%a: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32>
    attributes {plim.dispatch_function} {
  %r = linalg.exp ins(%a : tensor<4xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// What a destination starts from is copied inside the dispatch: the source is one more input.
// CHECK-LABEL: func.func private @starts_from_contraction_0(
//  CHECK-SAME: %[[A:.*]]: tensor<4x4xf32>, %[[C:.*]]: tensor<4x4xf32>, %[[O:.*]]: tensor<4x4xf32>)
//       CHECK: %[[I:.*]] = linalg.copy ins(%[[C]] : tensor<4x4xf32>) outs(%[[O]] : tensor<4x4xf32>)
//       CHECK: linalg.matmul {{.*}} outs(%[[I]] : tensor<4x4xf32>)
// CHECK-LABEL: func.func @starts_from(
//       CHECK: plim.dispatch @starts_from_contraction_0
//   CHECK-NOT: plim.dispatch
//       CHECK: return
func.func @starts_from(%a: tensor<4x4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %i = linalg.copy ins(%c : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>)
                     outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

// A copy that something else needs is a dispatch of its own.
// CHECK-LABEL: func.func @copies(
//       CHECK: plim.dispatch @copies_copy_0 {{.*}} {plim.copy}
func.func @copies(%c: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %i = linalg.copy ins(%c : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %i : tensor<4xf32>
}

// -----

// What is for a device is not fused with what is for another; on the same device it is.
// CHECK-LABEL: func.func @devices(
//       CHECK: %[[A:.*]] = plim.dispatch @devices_elementwise_0 {{.*}} {plim.device = "npu"
//       CHECK: %[[B:.*]] = plim.dispatch @devices_elementwise_1 ins(%[[A]]
//   CHECK-NOT: plim.device
//       CHECK: return
func.func @devices(%x: tensor<?xf32>, %e: tensor<?xf32>) -> tensor<?xf32> {
  %a = linalg.exp {plim.device = "npu"} ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %b = linalg.abs {plim.device = "npu"} ins(%a : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %c = linalg.negf ins(%b : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %c : tensor<?xf32>
}

// -----

// Nor does an initializer that is for a device disappear in a dispatch.
// CHECK-LABEL: func.func @initializer(
//       CHECK: %[[F:.*]] = plim.dispatch @initializer_fill_0 {{.*}} {plim.device = "npu"
//       CHECK: plim.dispatch @initializer_elementwise_1 {{.*}}outs(%[[F]]
func.func @initializer(%x: tensor<4xf32>, %a: f32) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill {plim.device = "npu"} ins(%a : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%u: f32, %o: f32):
    %s = arith.addf %u, %o : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// A complex number that a body captures comes as its two parts.
// CHECK-LABEL: func.func @complex(
//   CHECK-DAG: %[[RE:.*]] = complex.re %[[W:.*]] : complex<f32>
//   CHECK-DAG: %[[IM:.*]] = complex.im %[[W]] : complex<f32>
//       CHECK: plim.dispatch {{.*}}%[[RE]]{{.*}}%[[IM]]
func.func @complex(%x: tensor<4xcomplex<f32>>, %i: index) -> tensor<4xcomplex<f32>> {
  %w = tensor.extract %x[%i] : tensor<4xcomplex<f32>>
  %e = tensor.empty() : tensor<4xcomplex<f32>>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xcomplex<f32>>) outs(%e : tensor<4xcomplex<f32>>) {
  ^bb0(%u: complex<f32>, %o: complex<f32>):
    %s = complex.mul %u, %w : complex<f32>
    linalg.yield %s : complex<f32>
  } -> tensor<4xcomplex<f32>>
  return %r : tensor<4xcomplex<f32>>
}

// -----

// Rows of a product of few columns are computed where they are used, with what computes them: attention.
// CHECK-LABEL: func.func @attention(
// CHECK-COUNT-1: plim.dispatch
//     CHECK-NOT: plim.dispatch
//         CHECK: return
func.func @attention(%q: tensor<12x128x64xf32>, %k: tensor<12x64x256xf32>, %v: tensor<12x256x64xf32>) -> tensor<12x128x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<12x128x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<12x128x256xf32>) -> tensor<12x128x256xf32>
  %s = linalg.batch_matmul ins(%q, %k : tensor<12x128x64xf32>, tensor<12x64x256xf32>) outs(%f : tensor<12x128x256xf32>) -> tensor<12x128x256xf32>
  %x = linalg.exp ins(%s : tensor<12x128x256xf32>) outs(%e : tensor<12x128x256xf32>) -> tensor<12x128x256xf32>
  %e1 = tensor.empty() : tensor<12x128x64xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<12x128x64xf32>) -> tensor<12x128x64xf32>
  %r = linalg.batch_matmul ins(%x, %v : tensor<12x128x256xf32>, tensor<12x256x64xf32>) outs(%f1 : tensor<12x128x64xf32>) -> tensor<12x128x64xf32>
  return %r : tensor<12x128x64xf32>
}

// -----

// Not if the sums are long, if there are many columns, if there are few rows, or as the other operand.
// CHECK-LABEL: func.func @layers(
//       CHECK:   plim.dispatch @layers_contraction_0
//       CHECK:   plim.dispatch @layers_contraction_1
//       CHECK:   plim.dispatch @layers_contraction_2
//       CHECK:   plim.dispatch @layers_contraction_3
//       CHECK:   plim.dispatch @layers_elementwise_4
//       CHECK:   plim.dispatch @layers_contraction_5
func.func @layers(%x: tensor<128x768xf32>, %a: tensor<768x1024xf32>, %b: tensor<1024x64xf32>, %c: tensor<64x512xf32>, %d: tensor<512x384xf32>)
    -> (tensor<128x384xf32>, tensor<4x8xf32>, tensor<128x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x1024xf32>) -> tensor<128x1024xf32>
  %m = linalg.matmul ins(%x, %a : tensor<128x768xf32>, tensor<768x1024xf32>) outs(%f : tensor<128x1024xf32>) -> tensor<128x1024xf32>
  %r = linalg.exp ins(%m : tensor<128x1024xf32>) outs(%e : tensor<128x1024xf32>) -> tensor<128x1024xf32>
  %e1 = tensor.empty() : tensor<128x64xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<128x64xf32>) -> tensor<128x64xf32>
  %n = linalg.matmul ins(%r, %b : tensor<128x1024xf32>, tensor<1024x64xf32>) outs(%f1 : tensor<128x64xf32>) -> tensor<128x64xf32>
  %e2 = tensor.empty() : tensor<128x512xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<128x512xf32>) -> tensor<128x512xf32>
  %o = linalg.matmul ins(%n, %c : tensor<128x64xf32>, tensor<64x512xf32>) outs(%f2 : tensor<128x512xf32>) -> tensor<128x512xf32>
  %e3 = tensor.empty() : tensor<128x384xf32>
  %f3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<128x384xf32>) -> tensor<128x384xf32>
  %p = linalg.matmul ins(%o, %d : tensor<128x512xf32>, tensor<512x384xf32>) outs(%f3 : tensor<128x384xf32>) -> tensor<128x384xf32>
  %e4 = tensor.empty() : tensor<4x8xf32>
  %f4 = linalg.fill ins(%zero : f32) outs(%e4 : tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = tensor.extract_slice %x[0, 0] [4, 64] [1, 1] : tensor<128x768xf32> to tensor<4x64xf32>
  %e5 = tensor.empty() : tensor<4x64xf32>
  %s1 = linalg.exp ins(%s : tensor<4x64xf32>) outs(%e5 : tensor<4x64xf32>) -> tensor<4x64xf32>
  %t = tensor.extract_slice %c[0, 0] [64, 8] [1, 1] : tensor<64x512xf32> to tensor<64x8xf32>
  %u = linalg.matmul ins(%s1, %t : tensor<4x64xf32>, tensor<64x8xf32>) outs(%f4 : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %p, %u, %n : tensor<128x384xf32>, tensor<4x8xf32>, tensor<128x64xf32>
}

// -----

// The border of an image joins what reads windows of it, if there are no more filters than pixels; not what reads elements.
// CHECK-LABEL: func.func @borders(
//       CHECK:   plim.dispatch @borders_convolution_0 ins(%arg0, %arg1
//       CHECK:   plim.dispatch @borders_insert_slice_1
//       CHECK:   plim.dispatch @borders_convolution_2
//       CHECK:   plim.dispatch @borders_insert_slice_3
//       CHECK:   plim.dispatch @borders_elementwise_4
func.func @borders(%x: tensor<1x8x8x16xf32>, %w: tensor<3x3x16x4xf32>, %y: tensor<1x4x4x16xf32>, %v: tensor<3x3x16x64xf32>)
    -> (tensor<1x8x8x4xf32>, tensor<1x4x4x64xf32>, tensor<1x6x6x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %p = tensor.empty() : tensor<1x10x10x16xf32>
  %pf = linalg.fill ins(%zero : f32) outs(%p : tensor<1x10x10x16xf32>) -> tensor<1x10x10x16xf32>
  %px = tensor.insert_slice %x into %pf[0, 1, 1, 0] [1, 8, 8, 16] [1, 1, 1, 1] : tensor<1x8x8x16xf32> into tensor<1x10x10x16xf32>
  %e = tensor.empty() : tensor<1x8x8x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32>
  %a = linalg.conv_2d_nhwc_hwcf ins(%px, %w : tensor<1x10x10x16xf32>, tensor<3x3x16x4xf32>) outs(%f : tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32>
  %q = tensor.empty() : tensor<1x6x6x16xf32>
  %qf = linalg.fill ins(%zero : f32) outs(%q : tensor<1x6x6x16xf32>) -> tensor<1x6x6x16xf32>
  %qy = tensor.insert_slice %y into %qf[0, 1, 1, 0] [1, 4, 4, 16] [1, 1, 1, 1] : tensor<1x4x4x16xf32> into tensor<1x6x6x16xf32>
  %e1 = tensor.empty() : tensor<1x4x4x64xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x4x4x64xf32>) -> tensor<1x4x4x64xf32>
  %b = linalg.conv_2d_nhwc_hwcf ins(%qy, %v : tensor<1x6x6x16xf32>, tensor<3x3x16x64xf32>) outs(%f1 : tensor<1x4x4x64xf32>) -> tensor<1x4x4x64xf32>
  %ry = tensor.insert_slice %y into %qf[0, 2, 2, 0] [1, 4, 4, 16] [1, 1, 1, 1] : tensor<1x4x4x16xf32> into tensor<1x6x6x16xf32>
  %c = linalg.exp ins(%ry : tensor<1x6x6x16xf32>) outs(%q : tensor<1x6x6x16xf32>) -> tensor<1x6x6x16xf32>
  return %a, %b, %c : tensor<1x8x8x4xf32>, tensor<1x4x4x64xf32>, tensor<1x6x6x16xf32>
}

// -----

// Nor where a window reaches over most of a large image: it gets its border once.
// CHECK-LABEL: func.func @dilated(
//       CHECK:   plim.dispatch @dilated_insert_slice_0
//       CHECK:   plim.dispatch @dilated_convolution_1
//   CHECK-NOT:   plim.dispatch
//       CHECK:   return
func.func @dilated(%x: tensor<1x33x33x32xf32>, %w: tensor<3x3x32x4xf32>) -> tensor<1x33x33x4xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.empty() : tensor<1x57x57x32xf32>
  %pf = linalg.fill ins(%zero : f32) outs(%p : tensor<1x57x57x32xf32>) -> tensor<1x57x57x32xf32>
  %px = tensor.insert_slice %x into %pf[0, 12, 12, 0] [1, 33, 33, 32] [1, 1, 1, 1] : tensor<1x33x33x32xf32> into tensor<1x57x57x32xf32>
  %e = tensor.empty() : tensor<1x33x33x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x33x33x4xf32>) -> tensor<1x33x33x4xf32>
  %a = linalg.conv_2d_nhwc_hwcf {dilations = dense<12> : tensor<2xi64>} ins(%px, %w : tensor<1x57x57x32xf32>, tensor<3x3x32x4xf32>) outs(%f : tensor<1x33x33x4xf32>) -> tensor<1x33x33x4xf32>
  return %a : tensor<1x33x33x4xf32>
}

// -----

#rows = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#v = affine_map<(d0) -> (d0)>
#s = affine_map<(d0) -> ()>

// Halves of a reduction that was split (plim-split-reductions): the workgroups of the chunks, and of what has more elements
// than the result, would be lost. What has no more is computed along. A slice in another shape is a view.
// CHECK-LABEL: func.func private @split_reduction_0(
//       CHECK:   linalg.generic {{.*}} outs(%{{.*}} : tensor<?xf32>) {
// CHECK-LABEL: func.func private @split_reduction_1(
//       CHECK:   linalg.generic {{.*}} outs(%{{.*}} : tensor<f32>) {
//       CHECK:   math.sqrt
// CHECK-LABEL: func.func private @split_elementwise_2(
// CHECK-LABEL: func.func @split(
//  CHECK-SAME:   %[[X:[^:]*]]: tensor<?xf32>
//       CHECK:   %[[SLICE:.*]] = tensor.extract_slice %[[X]]
//       CHECK:   %[[CHUNKS:.*]] = tensor.expand_shape %[[SLICE]]
//       CHECK:   plim.dispatch @split_reduction_0 ins(%[[CHUNKS]]
func.func @split(%x: tensor<?xf32>, %chunks: index, %whole: index, %e: tensor<?xf32>) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %slice = tensor.extract_slice %x[0] [%whole] [1] : tensor<?xf32> to tensor<?xf32>
  %c = tensor.expand_shape %slice [[0, 1]] output_shape [%chunks, 64] : tensor<?xf32> into tensor<?x64xf32>
  %memory = tensor.empty(%chunks) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%memory : tensor<?xf32>) -> tensor<?xf32>
  %p = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%c : tensor<?x64xf32>) outs(%f : tensor<?xf32>) attrs = {plim.split} {
  ^bb0(%a: f32, %acc: f32):
    %t = arith.addf %acc, %a : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  %one = tensor.empty() : tensor<f32>
  %g = linalg.fill ins(%zero : f32) outs(%one : tensor<f32>) -> tensor<f32>
  %r = linalg.generic {indexing_maps = [#v, #s], iterator_types = ["reduction"]}
      ins(%p : tensor<?xf32>) outs(%g : tensor<f32>) attrs = {plim.split} {
  ^bb0(%a: f32, %acc: f32):
    %t = arith.addf %acc, %a : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  %q = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
      ins(%r : tensor<f32>) outs(%one : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %t = math.sqrt %a : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  %n = linalg.generic {indexing_maps = [#v, #s, #v], iterator_types = ["parallel"]}
      ins(%x, %q : tensor<?xf32>, tensor<f32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.divf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  return %n : tensor<?xf32>
}

// -----

// Slices are read where they are by what goes over their elements, and by what inserts them elsewhere.
// CHECK-LABEL: func.func @stencil(
//       CHECK:   plim.dispatch @stencil_elementwise_0 ins(%arg0, %arg2 : tensor<?x64xf32>, index)
//       CHECK:   plim.dispatch @stencil_reduction_1 ins(%arg0 : tensor<?x64xf32>)
//       CHECK:   plim.dispatch @stencil_insert_slice_2
//   CHECK-NOT:   plim.dispatch
//       CHECK:   return
func.func @stencil(%x: tensor<?x64xf32>, %y: tensor<8x64xf32>, %n: index) -> (tensor<?x31xf32>, tensor<9xf32>, tensor<8x64xf32>) {
  %left = tensor.extract_slice %x[1, 0] [%n, 31] [1, 1] : tensor<?x64xf32> to tensor<?x31xf32>
  %right = tensor.extract_slice %x[2, 1] [%n, 31] [2, 2] : tensor<?x64xf32> to tensor<?x31xf32>
  %e = tensor.empty(%n) : tensor<?x31xf32>
  %r = linalg.add ins(%left, %right : tensor<?x31xf32>, tensor<?x31xf32>) outs(%e : tensor<?x31xf32>) -> tensor<?x31xf32>
  %part = tensor.extract_slice %x[0, 3] [9, 31] [1, 1] : tensor<?x64xf32> to tensor<9x31xf32>
  %zero = arith.constant dense<0.0> : tensor<9xf32>
  %s = linalg.reduce { arith.addf } ins(%part : tensor<9x31xf32>) outs(%zero : tensor<9xf32>) dimensions = [1]
  %column = tensor.extract_slice %x[0, 5] [8, 1] [1, 1] : tensor<?x64xf32> to tensor<8x1xf32>
  %i = tensor.insert_slice %column into %y[0, 7] [8, 1] [1, 1] : tensor<8x1xf32> into tensor<8x64xf32>
  return %r, %s, %i : tensor<?x31xf32>, tensor<9xf32>, tensor<8x64xf32>
}

// By products, too. Not more than once where every other element counts, nor if somebody else needs them.
// CHECK-LABEL: func.func @copies(
//       CHECK:   plim.dispatch @copies_contraction_0
//       CHECK:   plim.dispatch @copies_extract_slice_1
//       CHECK:   plim.dispatch @copies_reduction_2
//       CHECK:   plim.dispatch @copies_extract_slice_3
//       CHECK:   plim.dispatch @copies_elementwise_4
func.func @copies(%x: tensor<64x64xf32>, %m: tensor<32x32xf32>, %v: tensor<32xf32>)
    -> (tensor<32x32xf32>, tensor<32xf32>, tensor<32x32xf32>, tensor<32x32xf32>) {
  %e = tensor.empty() : tensor<32x32xf32>
  %a = tensor.extract_slice %x[1, 1] [32, 32] [1, 1] : tensor<64x64xf32> to tensor<32x32xf32>
  %p = linalg.matmul ins(%a, %m : tensor<32x32xf32>, tensor<32x32xf32>) outs(%m : tensor<32x32xf32>) -> tensor<32x32xf32>
  %b = tensor.extract_slice %x[0, 0] [32, 32] [1, 2] : tensor<64x64xf32> to tensor<32x32xf32>
  %q = linalg.reduce { arith.addf } ins(%b : tensor<32x32xf32>) outs(%v : tensor<32xf32>) dimensions = [1]
  %c = tensor.extract_slice %x[2, 2] [32, 32] [1, 1] : tensor<64x64xf32> to tensor<32x32xf32>
  %r = linalg.exp ins(%c : tensor<32x32xf32>) outs(%e : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %p, %q, %r, %c : tensor<32x32xf32>, tensor<32xf32>, tensor<32x32xf32>, tensor<32x32xf32>
}

// -----

// What is inserted is computed where it is inserted, with another rank too, but not if what it is inserted into is read, or an older
// version of it.
// CHECK-LABEL: func.func private @into_elementwise_0(
//  CHECK-SAME:     %{{.*}}: tensor<8x31xf32>, %[[OUT:.*]]: tensor<8x64xf32>) -> tensor<8x64xf32>
//       CHECK:   %[[PART:.*]] = tensor.extract_slice %[[OUT]][0, 7] [8, 31] [1, 1]
//       CHECK:   %[[R:.*]] = linalg.generic {{.*}} outs(%[[PART]] :
//       CHECK:   %[[ALL:.*]] = tensor.insert_slice %[[R]] into %[[OUT]][0, 7] [8, 31] [1, 1]
//       CHECK:   return %[[ALL]]
// CHECK-LABEL: func.func private @into_elementwise_1(
//       CHECK:   tensor.extract_slice %{{.*}}[0, 0, 1] [8, 31, 1] [1, 1, 1] : tensor<8x31x2xf32> to tensor<8x31xf32>
// CHECK-LABEL: func.func @into(
//       CHECK:   plim.dispatch @into_elementwise_0 ins(%arg0 : {{.*}}) outs(%arg1 :
//       CHECK:   plim.dispatch @into_elementwise_1
//   CHECK-NOT:   plim.dispatch
//       CHECK:   return
#id = affine_map<(i, j) -> (i, j)>
func.func @into(%x: tensor<8x31xf32>, %y: tensor<8x64xf32>, %z: tensor<8x31x2xf32>) -> (tensor<8x64xf32>, tensor<8x31x2xf32>) {
  %e = tensor.empty() : tensor<8x31xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x31xf32>) outs(%e : tensor<8x31xf32>) {
  ^bb0(%p: f32, %o: f32):
    %q = arith.negf %p : f32
    linalg.yield %q : f32
  } -> tensor<8x31xf32>
  %r = tensor.insert_slice %a into %y[0, 7] [8, 31] [1, 1] : tensor<8x31xf32> into tensor<8x64xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x31xf32>) outs(%e : tensor<8x31xf32>) {
  ^bb0(%p: f32, %o: f32):
    %q = arith.addf %p, %p : f32
    linalg.yield %q : f32
  } -> tensor<8x31xf32>
  %c = tensor.expand_shape %b [[0], [1, 2]] output_shape [8, 31, 1] : tensor<8x31xf32> into tensor<8x31x1xf32>
  %s = tensor.insert_slice %c into %z[0, 0, 1] [8, 31, 1] [1, 1, 1] : tensor<8x31x1xf32> into tensor<8x31x2xf32>
  return %r, %s : tensor<8x64xf32>, tensor<8x31x2xf32>
}

// CHECK-LABEL: func.func @updates(
//       CHECK:   plim.dispatch @updates_elementwise_0
//       CHECK:   plim.dispatch @updates_insert_slice_1
//       CHECK:   plim.dispatch @updates_elementwise_2
//       CHECK:   plim.dispatch @updates_insert_slice_3
func.func @updates(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %e = tensor.empty() : tensor<8x31xf32>
  %part = tensor.extract_slice %x[0, 1] [8, 31] [1, 1] : tensor<8x64xf32> to tensor<8x31xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%part : tensor<8x31xf32>) outs(%e : tensor<8x31xf32>) {
  ^bb0(%p: f32, %o: f32):
    %q = arith.negf %p : f32
    linalg.yield %q : f32
  } -> tensor<8x31xf32>
  %r = tensor.insert_slice %a into %x[0, 7] [8, 31] [1, 1] : tensor<8x31xf32> into tensor<8x64xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%part : tensor<8x31xf32>) outs(%e : tensor<8x31xf32>) {
  ^bb0(%p: f32, %o: f32):
    %q = arith.addf %p, %p : f32
    linalg.yield %q : f32
  } -> tensor<8x31xf32>
  %s = tensor.insert_slice %b into %r[0, 3] [8, 31] [1, 1] : tensor<8x31xf32> into tensor<8x64xf32>
  return %s : tensor<8x64xf32>
}

// -----

// A fill that only a slice uses is repeated with the slice.
// CHECK-LABEL: func.func @filled(
//       CHECK:   plim.dispatch @filled_elementwise_0 ins(%arg0 :
//   CHECK-NOT:   plim.dispatch
//       CHECK:   return
func.func @filled(%x: tensor<8x31xf32>) -> tensor<8x31xf32> {
  %one = arith.constant 1.0 : f32
  %w = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%one : f32) outs(%w : tensor<64x64xf32>) -> tensor<64x64xf32>
  %part = tensor.extract_slice %f[2, 3] [8, 31] [1, 1] : tensor<64x64xf32> to tensor<8x31xf32>
  %e = tensor.empty() : tensor<8x31xf32>
  %r = linalg.add ins(%x, %part : tensor<8x31xf32>, tensor<8x31xf32>) outs(%e : tensor<8x31xf32>) -> tensor<8x31xf32>
  return %r : tensor<8x31xf32>
}
