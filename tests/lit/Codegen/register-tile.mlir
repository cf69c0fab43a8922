// RUN: plimsoll-opt %s -plim-attach-target=tag=x86-64-v2 -plim-order-loops -plim-choose-register-tiles -plim-register-tile -plim-vectorize-tiles -canonicalize -cse -split-input-file \
// RUN:   | FileCheck %s --check-prefixes=CHECK,V128
// RUN: plimsoll-opt %s -plim-attach-target=tag=x86-64-v3 -plim-order-loops -plim-choose-register-tiles -plim-register-tile -plim-vectorize-tiles -canonicalize -cse -split-input-file \
// RUN:   | FileCheck %s --check-prefixes=CHECK,V256
// RUN: plimsoll-opt %s -plim-attach-target=tag=x86-64-v4 -plim-order-loops -plim-choose-register-tiles -plim-register-tile -plim-vectorize-tiles -canonicalize -cse -split-input-file \
// RUN:   | FileCheck %s --check-prefixes=CHECK,V512

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// The accumulators are read once, carried through the reduction as one vector and written once. So
// are those of the remainders, whose extents are known: of columns, of rows, and of the corner. One of more columns
// than a vector has is a vector and the rest. Where there are masks, vectors of 11 are made 16.
// CHECK-LABEL: func.func private @contraction(
//        V128: %[[ACC:.*]] = vector.transfer_read {{.*}}, vector<4x8xf32>
//        V256: %[[ACC:.*]] = vector.transfer_read {{.*}}, vector<6x16xf32>
//        V512: %[[ACC:.*]] = vector.transfer_read {{.*}}, vector<13x32xf32>
//       CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args(%[[CARRIED:.*]] = %[[ACC]])
//   CHECK-NOT: tensor.extract_slice
//       CHECK: arith.mulf
//       CHECK: %[[NEXT:.*]] = arith.addf {{.*}}%[[CARRIED]]
//   CHECK-NOT: vector.transfer_write
//       CHECK: scf.yield %[[NEXT]] : vector
//       CHECK: vector.transfer_write %[[SUM]]
//        V128: scf.for {{.*}} -> (vector<4x3xf32>)
//        V256: scf.for {{.*}} -> (vector<6x8xf32>)
//        V256: scf.for {{.*}} -> (vector<6x3xf32>)
//        V512: scf.for {{.*}} -> (vector<13x16xf32>)
//        V128: scf.for {{.*}} -> (vector<8xf32>)
//        V256: scf.for {{.*}} -> (vector<16xf32>)
//        V512: scf.for {{.*}} -> (vector<11x32xf32>)
//        V128: scf.for {{.*}} -> (vector<3xf32>)
//        V256: scf.for {{.*}} -> (vector<8xf32>)
//        V256: scf.for {{.*}} -> (vector<3xf32>)
//        V512: scf.for {{.*}} -> (vector<11x16xf32>)
//   CHECK-NOT: linalg.generic
//       CHECK: return
func.func private @contraction(%a: tensor<37x64xf32>, %b: tensor<64x1003xf32>,
                               %c: tensor<37x1003xf32>) -> tensor<37x1003xf32>
    attributes {plim.dispatch_function} {
  %r = linalg.generic {indexing_maps = [#a, #b, #c],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<37x64xf32>, tensor<64x1003xf32>) outs(%c : tensor<37x1003xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.addf %s, %p : f32
    linalg.yield %q : f32
  } -> tensor<37x1003xf32>
  return %r : tensor<37x1003xf32>
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// Wider elements, narrower tiles.
// CHECK-LABEL: func.func private @double(
//        V128: vector<4x4xf64>
//        V256: vector<6x8xf64>
//        V512: vector<12x16xf64>
func.func private @double(%a: tensor<48x64xf64>, %b: tensor<64x48xf64>, %c: tensor<48x48xf64>)
    -> tensor<48x48xf64> attributes {plim.dispatch_function} {
  %r = linalg.generic {indexing_maps = [#a, #b, #c],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<48x64xf64>, tensor<64x48xf64>) outs(%c : tensor<48x48xf64>) {
  ^bb0(%x: f64, %y: f64, %s: f64):
    %p = arith.mulf %x, %y : f64
    %q = arith.addf %s, %p : f64
    linalg.yield %q : f64
  } -> tensor<48x48xf64>
  return %r : tensor<48x48xf64>
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// Extents that are not known: the main part is of whole tiles. The columns left over are a loop; the
// rows left over go one at a time, as vectors of columns.
// CHECK-LABEL: func.func private @dynamic(
//        V128: scf.for {{.*}} -> (vector<4x8xf32>)
//        V256: scf.for {{.*}} -> (vector<6x16xf32>)
//        V512: scf.for {{.*}} -> (vector<12x32xf32>)
//       CHECK: linalg.generic
//        V128: %[[ROW:.*]] = vector.transfer_read {{.*}} tensor<1x8xf32>, vector<8xf32>
//        V256: %[[ROW:.*]] = vector.transfer_read {{.*}} tensor<1x16xf32>, vector<16xf32>
//        V512: %[[ROW:.*]] = vector.transfer_read {{.*}} tensor<1x32xf32>, vector<32xf32>
//  CHECK-NEXT: %[[SUM:.*]] = scf.for {{.*}} iter_args(%[[CARRIED:.*]] = %[[ROW]])
//       CHECK: %[[NEXT:.*]] = arith.addf {{.*}}%[[CARRIED]]
//       CHECK: scf.yield %[[NEXT]] : vector
//       CHECK: vector.transfer_write %[[SUM]]
//       CHECK: linalg.generic
//       CHECK: return
func.func private @dynamic(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>)
    -> tensor<?x?xf32> attributes {plim.dispatch_function} {
  %r = linalg.generic {indexing_maps = [#a, #b, #c],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.addf %s, %p : f32
    linalg.yield %q : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// One reduction step leaves no loop around the accumulators; without any iteration there is nothing
// to hold in registers.
// CHECK-LABEL: func.func private @outer_product(
//        V256: arith.addf {{.*}} : vector<12x8xf32>
//   CHECK-NOT: linalg.generic
//       CHECK: return
func.func private @outer_product(%a: tensor<24x1xf32>, %b: tensor<1x64xf32>, %c: tensor<24x64xf32>)
    -> tensor<24x64xf32> attributes {plim.dispatch_function} {
  %r = linalg.generic {indexing_maps = [#a, #b, #c],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<24x1xf32>, tensor<1x64xf32>) outs(%c : tensor<24x64xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.addf %s, %p : f32
    linalg.yield %q : f32
  } -> tensor<24x64xf32>
  return %r : tensor<24x64xf32>
}
// CHECK-LABEL: func.func private @nothing(
//   CHECK-NOT: vector
//       CHECK: return
func.func private @nothing(%a: tensor<24x0xf32>, %b: tensor<0x64xf32>, %c: tensor<24x64xf32>)
    -> tensor<24x64xf32> attributes {plim.dispatch_function} {
  %r = linalg.generic {indexing_maps = [#a, #b, #c],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<24x0xf32>, tensor<0x64xf32>) outs(%c : tensor<24x64xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.addf %s, %p : f32
    linalg.yield %q : f32
  } -> tensor<24x64xf32>
  return %r : tensor<24x64xf32>
}

// -----

#in = affine_map<(h, w, o, i, j, c) -> (h + i, w + j, c)>
#k = affine_map<(h, w, o, i, j, c) -> (i, j, c, o)>
#out = affine_map<(h, w, o, i, j, c) -> (h, w, o)>

// A convolution: three reduction loops around the accumulators.
// CHECK-LABEL: func.func private @convolution(
//        V256: %[[ACC:.*]] = vector.transfer_read {{.*}}, vector<6x16xf32>
//        V256: scf.for {{.*}} iter_args(%[[S0:.*]] = %[[ACC]])
//        V256: scf.for {{.*}} iter_args(%[[S1:.*]] = %[[S0]])
//        V256: scf.for {{.*}} iter_args(%[[S2:.*]] = %[[S1]])
//        V256: arith.addf
func.func private @convolution(%a: tensor<14x14x8xf32>, %b: tensor<3x3x8x16xf32>,
                               %c: tensor<12x12x16xf32>) -> tensor<12x12x16xf32>
    attributes {plim.dispatch_function} {
  %r = linalg.generic {indexing_maps = [#in, #k, #out],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%a, %b : tensor<14x14x8xf32>, tensor<3x3x8x16xf32>) outs(%c : tensor<12x12x16xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.addf %s, %p : f32
    linalg.yield %q : f32
  } -> tensor<12x12x16xf32>
  return %r : tensor<12x12x16xf32>
}

// -----

#in = affine_map<(m, n) -> (n, m)>
#out = affine_map<(m, n) -> (m)>

// A sum over columns has no row loop.
// CHECK-LABEL: func.func private @columns(
//        V256: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (vector<64xf32>)
func.func private @columns(%a: tensor<64x64xf32>, %c: tensor<64xf32>) -> tensor<64xf32>
    attributes {plim.dispatch_function} {
  %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<64x64xf32>) outs(%c : tensor<64xf32>) {
  ^bb0(%x: f32, %s: f32):
    %q = arith.addf %s, %x : f32
    linalg.yield %q : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}

// -----

// Accumulators that start from a fill have its value; nothing is filled.
// CHECK-LABEL: func.func private @filled(
//       CHECK: %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : vector<4x
//   CHECK-NOT: linalg.fill
//   CHECK-NOT: vector.transfer_read %{{.*}} : tensor<12x64xf32>
//       CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[ZEROS]])
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func private @filled(%a: tensor<4x64xf32>, %b: tensor<64x64xf32>, %c: tensor<4x64xf32>) -> tensor<4x64xf32>
    attributes {plim.dispatch_function} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%c : tensor<4x64xf32>) -> tensor<4x64xf32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<4x64xf32>, tensor<64x64xf32>) outs(%z : tensor<4x64xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.addf %s, %p : f32
    linalg.yield %q : f32
  } -> tensor<4x64xf32>
  return %r : tensor<4x64xf32>
}

// -----

// Rows of an image that a window leaves out are a slice with a stride; so are columns.
// CHECK-LABEL: func.func private @strides(
//       CHECK: tensor.extract_slice {{.*}} [1, 1, {{[0-9]+}}, 1] [1, 1, 2, 1]
//       CHECK: arith.mulf
//       CHECK: arith.addf {{.*}} : vector<{{[0-9]+}}x{{[0-9]+}}xf32>
#image = affine_map<(h, w, f, y, x, c) -> (0, h * 2 + y, w * 2 + x, c)>
#filter = affine_map<(h, w, f, y, x, c) -> (y, x, c, f)>
#result = affine_map<(h, w, f, y, x, c) -> (h, w, f)>
func.func private @strides(%i: tensor<1x9x9x5xf32>, %f: tensor<3x3x5x32xf32>, %r: tensor<4x4x32xf32>)
    -> tensor<4x4x32xf32> attributes {plim.dispatch_function} {
  %s = linalg.generic {indexing_maps = [#image, #filter, #result],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%i, %f : tensor<1x9x9x5xf32>, tensor<3x3x5x32xf32>) outs(%r : tensor<4x4x32xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.addf %sum, %p : f32
    linalg.yield %q : f32
  } -> tensor<4x4x32xf32>
  return %s : tensor<4x4x32xf32>
}

// -----

// Twelve rows for one vector of columns, but six where all would fall on the same lines of the nearest cache.
// CHECK-LABEL: func.func private @one_set(
//        V256: vector<6x8xf32>
//    V256-NOT: vector<12x8xf32>
//       CHECK: return
func.func private @one_set(%a: tensor<48x1024xf32>, %b: tensor<1024x8xf32>, %c: tensor<48x8xf32>) -> tensor<48x8xf32>
    attributes {plim.dispatch_function, plim.parallel_loops = array<i64: 0, 1>} {
  %r = linalg.matmul ins(%a, %b : tensor<48x1024xf32>, tensor<1024x8xf32>) outs(%c : tensor<48x8xf32>) -> tensor<48x8xf32>
  return %r : tensor<48x8xf32>
}
// CHECK-LABEL: func.func private @many_sets(
//        V256: vector<12x8xf32>
//       CHECK: return
func.func private @many_sets(%a: tensor<48x1000xf32>, %b: tensor<1000x8xf32>, %c: tensor<48x8xf32>) -> tensor<48x8xf32>
    attributes {plim.dispatch_function, plim.parallel_loops = array<i64: 0, 1>} {
  %r = linalg.matmul ins(%a, %b : tensor<48x1000xf32>, tensor<1000x8xf32>) outs(%c : tensor<48x8xf32>) -> tensor<48x8xf32>
  return %r : tensor<48x8xf32>
}

// -----

// What a loop carries is used as it is, not a slice of all of it, whose extent is not known: a buffer that is carried as one
// and yielded as the other would have no known strides.
// CHECK-LABEL: func.func private @carried(
//       CHECK: scf.for {{.*}} iter_args(%[[CARRIED:.*]] = %{{.*}}) -> (tensor<1x?xf32>)
//   CHECK-NOT: tensor.extract_slice %[[CARRIED]]
//       CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[CARRIED]]) -> (tensor<1x?xf32>)
func.func private @carried(%a: tensor<1x64xf32>, %b: tensor<64x?xf32>, %n: index) -> tensor<1x?xf32>
    attributes {plim.dispatch_function, plim.parallel_loops = array<i64: 0, 1>} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<1x?xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x?xf32>) -> tensor<1x?xf32>
  %r = scf.for %k = %c0 to %c64 step %c8 iter_args(%acc = %f) -> (tensor<1x?xf32>) {
    %sa = tensor.extract_slice %a[0, %k] [1, 8] [1, 1] : tensor<1x64xf32> to tensor<1x8xf32>
    %sb = tensor.extract_slice %b[%k, 0] [8, %n] [1, 1] : tensor<64x?xf32> to tensor<8x?xf32>
    %so = tensor.extract_slice %acc[0, 0] [1, %n] [1, 1] : tensor<1x?xf32> to tensor<1x?xf32>
    %m = linalg.matmul ins(%sa, %sb : tensor<1x8xf32>, tensor<8x?xf32>)
                       outs(%so : tensor<1x?xf32>) -> tensor<1x?xf32>
    %i = tensor.insert_slice %m into %acc[0, 0] [1, %n] [1, 1] : tensor<1x?xf32> into tensor<1x?xf32>
    scf.yield %i : tensor<1x?xf32>
  }
  return %r : tensor<1x?xf32>
}

// -----

#in = affine_map<(m, n) -> (m, n)>
#out = affine_map<(m, n) -> (m)>
#v = affine_map<(m) -> (m)>

// Three columns are vectors of three.
// CHECK-LABEL: func.func private @narrow(
//       CHECK: arith.addf {{.*}} : vector<{{[0-9]+}}x3xf32>
func.func private @narrow(%a: tensor<64x64xf32>, %b: tensor<64x3xf32>, %c: tensor<64x3xf32>)
    -> tensor<64x3xf32> attributes {plim.dispatch_function} {
  %r = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x3xf32>)
                     outs(%c : tensor<64x3xf32>) -> tensor<64x3xf32>
  return %r : tensor<64x3xf32>
}

// Left alone: a sum along rows is contiguous in the reduction; one column; elementwise ops;
// functions that are no dispatches.
// CHECK-LABEL: func.func private @rows(
//   CHECK-NOT: vector
//       CHECK: return
func.func private @rows(%a: tensor<64x64xf32>, %c: tensor<64xf32>) -> tensor<64xf32>
    attributes {plim.dispatch_function} {
  %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<64x64xf32>) outs(%c : tensor<64xf32>) {
  ^bb0(%x: f32, %s: f32):
    %q = arith.addf %s, %x : f32
    linalg.yield %q : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}
// CHECK-LABEL: func.func private @column(
//   CHECK-NOT: vector
//       CHECK: return
func.func private @column(%a: tensor<64x64xf32>, %b: tensor<64x1xf32>, %c: tensor<64x1xf32>)
    -> tensor<64x1xf32> attributes {plim.dispatch_function} {
  %r = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x1xf32>)
                     outs(%c : tensor<64x1xf32>) -> tensor<64x1xf32>
  return %r : tensor<64x1xf32>
}
// CHECK-LABEL: func.func private @elementwise(
//   CHECK-NOT: vector
//       CHECK: return
func.func private @elementwise(%a: tensor<64xf32>, %c: tensor<64xf32>) -> tensor<64xf32>
    attributes {plim.dispatch_function} {
  %r = linalg.exp ins(%a : tensor<64xf32>) outs(%c : tensor<64xf32>) -> tensor<64xf32>
  return %r : tensor<64xf32>
}
// CHECK-LABEL: func.func @host(
//   CHECK-NOT: vector
//       CHECK: return
func.func @host(%a: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %r = linalg.matmul ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>)
                     outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// Accumulators that start from a row of offsets take it into registers: nothing is written first.
// CHECK-LABEL: func.func private @offset(
//   CHECK-NOT: linalg.generic
//       CHECK: vector.transfer_read %arg3
//       CHECK: scf.for {{.*}} -> (vector<
//       CHECK: vector.transfer_write
//   CHECK-NOT: linalg.generic
//       CHECK: return
func.func private @offset(%a: tensor<12x64xf32>, %b: tensor<64x64xf32>, %c: tensor<12x64xf32>, %bias: tensor<64xf32>)
    -> tensor<12x64xf32> attributes {plim.dispatch_function} {
  %first = linalg.generic {indexing_maps = [affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>],
                           iterator_types = ["parallel", "parallel"]}
      ins(%bias : tensor<64xf32>) outs(%c : tensor<12x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<12x64xf32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<12x64xf32>, tensor<64x64xf32>) outs(%first : tensor<12x64xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.addf %s, %p : f32
    linalg.yield %q : f32
  } -> tensor<12x64xf32>
  return %r : tensor<12x64xf32>
}

// -----

// Columns wait: eight rows at a time go by, and what is left of the rows. A tile is read, sees them and is written.
// CHECK-LABEL: func.func private @waiting(
//       CHECK: scf.for %[[ROW:.*]] = %{{.*}} to %c96 step %c8
//       CHECK:   scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} iter_args
//       CHECK:     %[[SUM:.*]] = vector.transfer_read %extracted_slice{{.*}}, vector<{{16|32|64}}xf32>
//       CHECK:     %[[EIGHT:.*]] = scf.for {{.*}} to %c8 step %c1 iter_args(%{{.*}} = %[[SUM]])
//       CHECK:     vector.transfer_write %[[EIGHT]]
//       CHECK: scf.for
//       CHECK: vector.transfer_write
//       CHECK: return
func.func private @waiting(%a: tensor<100x2048xf32>, %c: tensor<2048xf32>) -> tensor<2048xf32> attributes {plim.dispatch_function} {
  %r = linalg.reduce ins(%a : tensor<100x2048xf32>) outs(%c : tensor<2048xf32>) dimensions = [0] (%x: f32, %s: f32) {
    %t = arith.addf %s, %x : f32
    linalg.yield %t : f32
  }
  return %r : tensor<2048xf32>
}

// -----

#image = affine_map<(c, y, x, ky, kx) -> (c, y * 2 + ky, x * 2 + kx)>
#filter = affine_map<(c, y, x, ky, kx) -> (c, ky, kx)>
#result = affine_map<(c, y, x, ky, kx) -> (c, y, x)>

// A depthwise convolution of every other pixel, of rows of 14: vectors of what lies side by side, of which every other element is taken, and
// no element behind the last one is read. With masks the vectors are full, and the mask says how much of both halves is read.
// CHECK-LABEL: func.func private @every_other(
//        V256:   %[[SUM:.*]] = scf.for {{.*}} -> (vector<{{[0-9]+}}x8xf32>)
//        V256:     %[[LEFT:.*]] = vector.transfer_read %arg0[{{.*}}], %{{.*}} {in_bounds = [true]} : tensor<4x29x29xf32>, vector<8xf32>
//        V256:     %[[RIGHT:.*]] = vector.transfer_read %arg0[{{.*}}], %{{.*}} {in_bounds = [true]} : tensor<4x29x29xf32>, vector<8xf32>
//        V256:     vector.shuffle %{{.*}}, %[[RIGHT]] [0, 1, 2, 3, 9, 11, 13, 15]
//        V256:   scf.for {{.*}} -> (vector<{{[0-9]+}}x6xf32>)
//        V512:   scf.for {{.*}} -> (vector<{{[0-9]+}}x16xf32>)
//        V512:     vector.transfer_read %arg0[{{.*}}], %{{.*}}, %{{.*}} {in_bounds = [true]} : tensor<4x29x29xf32>, vector<16xf32>
//        V512:     vector.transfer_read %arg0[{{.*}}], %{{.*}}, %{{.*}} {in_bounds = [true]} : tensor<4x29x29xf32>, vector<16xf32>
//        V512:     vector.shuffle %{{.*}} [0, 1, 2, 3, 4, 5, 6, 7, 17, 19, 21, 23, 25, 27, 29, 31]
//        V512:   %[[MASK:.*]] = vector.constant_mask [14] : vector<16xi1>
//        V512:   vector.transfer_write %{{.*}}, %[[MASK]] {in_bounds = [true]} : vector<16xf32>
//   CHECK-NOT:   linalg.generic
//       CHECK:   return
func.func private @every_other(%i: tensor<4x29x29xf32>, %f: tensor<4x3x3xf32>, %r: tensor<4x14x14xf32>) -> tensor<4x14x14xf32>
    attributes {plim.dispatch_function} {
  %zero = arith.constant 0.0 : f32
  %o = linalg.fill ins(%zero : f32) outs(%r : tensor<4x14x14xf32>) -> tensor<4x14x14xf32>
  %s = linalg.generic {indexing_maps = [#image, #filter, #result],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%i, %f : tensor<4x29x29xf32>, tensor<4x3x3xf32>) outs(%o : tensor<4x14x14xf32>) {
  ^bb0(%x: f32, %w: f32, %a: f32):
    %p = arith.mulf %x, %w : f32
    %q = arith.addf %a, %p : f32
    linalg.yield %q : f32
  } -> tensor<4x14x14xf32>
  return %s : tensor<4x14x14xf32>
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// Elements in excess must not trap: these vectors stay as they are.
// CHECK-LABEL: func.func private @quotients(
//        V512: scf.for {{.*}} -> (vector<{{[0-9]+}}x11xi32>)
func.func private @quotients(%a: tensor<13x64xi32>, %b: tensor<64x11xi32>, %c: tensor<13x11xi32>) -> tensor<13x11xi32>
    attributes {plim.dispatch_function} {
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<13x64xi32>, tensor<64x11xi32>) outs(%c : tensor<13x11xi32>) {
  ^bb0(%x: i32, %y: i32, %s: i32):
    %p = arith.divui %x, %y : i32
    %q = arith.addi %s, %p : i32
    linalg.yield %q : i32
  } -> tensor<13x11xi32>
  return %r : tensor<13x11xi32>
}
