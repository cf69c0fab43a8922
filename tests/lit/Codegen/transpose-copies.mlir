// RUN: plimsoll-opt %s -plim-attach-target=tag=x86-64-v2 -plim-transpose-copies -canonicalize -cse -split-input-file | FileCheck %s --check-prefixes=CHECK,V128
// RUN: plimsoll-opt %s -plim-transpose-copies -canonicalize -cse -split-input-file | FileCheck %s --check-prefixes=CHECK,V256
// RUN: plimsoll-opt %s -plim-attach-target=tag=cortex-m7 -plim-transpose-copies -split-input-file | FileCheck %s --check-prefix=NARROW
// NARROW-NOT: vector.shuffle

#turned = affine_map<(k, n) -> (n, k)>
#plain = affine_map<(k, n) -> (k, n)>

// Whole tiles in registers, what is left of the columns as a loop.
// CHECK-LABEL: func.func private @panel(
//  CHECK-SAME: %[[B:.*]]: tensor<19x512xf32>
//        V256: scf.for %[[K:.*]] = %{{.*}} to %c512 step %c8
//        V256:   scf.for %[[N:.*]] = %{{.*}} to %c16 step %c8
//        V128: scf.for %[[K:.*]] = %{{.*}} to %c512 step %c4
//        V128:   scf.for %[[N:.*]] = %{{.*}} to %c16 step %c4
//       CHECK:     %[[TILE:.*]] = tensor.extract_slice %[[B]][%[[N]], %[[K]]]
//  V256-COUNT-8:   vector.transfer_read %[[TILE]]{{.*}}, vector<8xf32>
//  V256-COUNT-24:  vector.shuffle
//  V256-COUNT-8:   vector.transfer_write {{.*}} : vector<8xf32>, tensor<8x8xf32>
//  V128-COUNT-4:   vector.transfer_read %[[TILE]]{{.*}}, vector<4xf32>
//  V128-COUNT-8:   vector.shuffle
//  V128-COUNT-4:   vector.transfer_write {{.*}} : vector<4xf32>, tensor<4x4xf32>
//       CHECK:   linalg.generic {{.*}} ins(%{{.*}} : tensor<3x{{.}}xf32>)
//   CHECK-NOT: vector.shuffle
//       CHECK: return
func.func private @panel(%b: tensor<19x512xf32>, %e: tensor<512x19xf32>) -> tensor<512x19xf32>
    attributes {plim.dispatch_function} {
  %r = linalg.generic {indexing_maps = [#turned, #plain], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<19x512xf32>) outs(%e : tensor<512x19xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<512x19xf32>
  return %r : tensor<512x19xf32>
}

// -----

// Elements may be widened on the way; dimensions between the two stay loops; extents may be unknown.
// CHECK-LABEL: func.func private @widened(
//       CHECK: scf.for
//       CHECK: scf.for
//       CHECK: scf.for
//        V256: vector.transfer_read {{.*}}, vector<8xf16>
//        V256: arith.extf {{.*}} : vector<8xf16> to vector<8xf32>
//       CHECK: vector.shuffle
//       CHECK: vector.transfer_write
#from = affine_map<(a, b, c) -> (c, b, a)>
#to = affine_map<(a, b, c) -> (a, b, c)>
func.func private @widened(%b: tensor<?x3x?xf16>, %e: tensor<?x3x?xf32>) -> tensor<?x3x?xf32>
    attributes {plim.dispatch_function} {
  %r = linalg.generic {indexing_maps = [#from, #to], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%b : tensor<?x3x?xf16>) outs(%e : tensor<?x3x?xf32>) {
  ^bb0(%x: f16, %o: f32):
    %w = arith.extf %x : f16 to f32
    linalg.yield %w : f32
  } -> tensor<?x3x?xf32>
  return %r : tensor<?x3x?xf32>
}

// -----

// A named one.
// CHECK-LABEL: func.func private @named(
//       CHECK: vector.shuffle
func.func private @named(%b: tensor<64x64xi32>, %e: tensor<64x64xi32>) -> tensor<64x64xi32>
    attributes {plim.dispatch_function} {
  %r = linalg.transpose ins(%b : tensor<64x64xi32>) outs(%e : tensor<64x64xi32>) permutation = [1, 0]
  return %r : tensor<64x64xi32>
}

// -----

// Fewer columns than a tile has, elements without vectors, and copies in order are left as they are.
// CHECK-LABEL: func.func private @others(
//   CHECK-NOT: vector.shuffle
//       CHECK: return
#t = affine_map<(k, n) -> (n, k)>
#p = affine_map<(k, n) -> (k, n)>
func.func private @others(%b: tensor<3x64xf32>, %e: tensor<64x3xf32>, %c: tensor<64x64xf32>, %m: tensor<64x64xindex>,
                          %i: tensor<64x64xindex>) -> (tensor<64x3xf32>, tensor<64x64xindex>, tensor<64x64xf32>) attributes {plim.dispatch_function} {
  %r = linalg.generic {indexing_maps = [#t, #p], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<3x64xf32>) outs(%e : tensor<64x3xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<64x3xf32>
  %s = linalg.generic {indexing_maps = [#t, #p], iterator_types = ["parallel", "parallel"]}
      ins(%m : tensor<64x64xindex>) outs(%i : tensor<64x64xindex>) {
  ^bb0(%x: index, %o: index):
    linalg.yield %x : index
  } -> tensor<64x64xindex>
  %q = linalg.generic {indexing_maps = [#p, #p], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<64x64xf32>
  return %r, %s, %q : tensor<64x3xf32>, tensor<64x64xindex>, tensor<64x64xf32>
}

// -----

// Tiles have the rows that leave least outside of them, and no more than half the registers: 8 of 48 and 64 bytes, 4 of 12.
// CHECK-LABEL: func.func private @bytes(
//       CHECK: scf.for %{{.*}} to %c64 step %c8
//       CHECK:   scf.for %{{.*}} to %c48 step %c8
// CHECK-COUNT-8: vector.transfer_read {{.*}}, vector<8xi8>
// CHECK-COUNT-24: vector.shuffle
// CHECK-COUNT-8: vector.transfer_write {{.*}} : vector<8xi8>
// CHECK-LABEL: func.func private @twelve(
//       CHECK: scf.for %{{.*}} to %c64 step %c4
//       CHECK:   scf.for %{{.*}} to %c12 step %c4
// CHECK-COUNT-4: vector.transfer_read {{.*}}, vector<4xi16>
#t = affine_map<(k, n) -> (n, k)>
#p = affine_map<(k, n) -> (k, n)>
func.func private @bytes(%b: tensor<48x64xi8>, %e: tensor<64x48xi8>) -> tensor<64x48xi8> attributes {plim.dispatch_function} {
  %r = linalg.generic {indexing_maps = [#t, #p], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<48x64xi8>) outs(%e : tensor<64x48xi8>) {
  ^bb0(%x: i8, %o: i8):
    linalg.yield %x : i8
  } -> tensor<64x48xi8>
  return %r : tensor<64x48xi8>
}
func.func private @twelve(%b: tensor<12x64xi16>, %e: tensor<64x12xi16>) -> tensor<64x12xi16> attributes {plim.dispatch_function} {
  %r = linalg.generic {indexing_maps = [#t, #p], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<12x64xi16>) outs(%e : tensor<64x12xi16>) {
  ^bb0(%x: i16, %o: i16):
    linalg.yield %x : i16
  } -> tensor<64x12xi16>
  return %r : tensor<64x12xi16>
}

// -----

// What computes goes in blocks, for which the operand read across is copied; results are written in order.
// CHECK-LABEL: func.func private @symmetric(
//       CHECK: scf.for %{{.*}} to %c256 step %c64
//       CHECK:   scf.for %{{.*}} to %c256 step %c64
//       CHECK:     %[[COPY:.*]] = scf.for
//       CHECK:       vector.shuffle
//       CHECK:     linalg.generic {{.*}} ins(%{{.*}}, %[[COPY]] : tensor<64x64xf32>, tensor<64x64xf32>)
//       CHECK:       arith.addf
#plain = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>
func.func private @symmetric(%a: tensor<256x256xf32>, %e: tensor<256x256xf32>) -> tensor<256x256xf32>
    attributes {plim.dispatch_function} {
  %r = linalg.generic {indexing_maps = [#turned, #plain, #turned], iterator_types = ["parallel", "parallel"]}
      ins(%a, %a : tensor<256x256xf32>, tensor<256x256xf32>) outs(%e : tensor<256x256xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}
