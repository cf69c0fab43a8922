// RUN: plimsoll-opt %s -plim-lower-tile-products -canonicalize | FileCheck %s
// Strict code keeps the floats of the source, and integers in tiles.
// RUN: plimsoll-opt %S/Inputs/tile-types.mlir -plim-choose-panels=strict -plim-pack-panels | FileCheck %s --check-prefix=STRICT
//   STRICT-LABEL: func.func private @floats(
//     STRICT-NOT: plim.tile_product
//   STRICT-LABEL: func.func private @integers(
//         STRICT: plim.tile_product

// Four tiles of the sum stay in registers for all of the reduction.
// CHECK-LABEL: func.func @whole(
//  CHECK-SAME: %[[A:.*]]: memref<64x512xbf16>, %[[B:.*]]: memref<256x32xi32>, %[[S:.*]]: memref<64x32xf32>)
//       CHECK: scf.for %[[M:.*]] = %c0 to %c64 step %c32
//       CHECK:   %[[S0:.*]] = amx.tile_load %[[S]][%[[M]], %c0] : memref<64x32xf32> into !amx.tile<16x16xf32>
//       CHECK:   %[[S1:.*]] = amx.tile_load %[[S]][%[[M]], %c16]
//       CHECK:   %[[T:.*]]:4 = scf.for %[[G:.*]] = %c0 to %c256 step %c16 iter_args(%[[C0:.*]] = %[[S0]], {{.*}} = %[[S1]],
//       CHECK:     %[[K:.*]] = arith.muli %[[G]], %c2
//       CHECK:     %[[A0:.*]] = amx.tile_load %[[A]][%[[M]], %[[K]]] : memref<64x512xbf16> into !amx.tile<16x32xbf16>
//       CHECK:     amx.tile_load %[[A]]
//   CHECK-NOT:     amx.tile_load %[[A]]
//       CHECK:     %[[B0:.*]] = amx.tile_load %[[B]][%[[G]], %c0] : memref<256x32xi32> into !amx.tile<16x32xbf16>
//       CHECK:     amx.tile_load %[[B]][%[[G]], %c16]
//       CHECK:     amx.tile_mulf %[[A0]], %[[B0]], %[[C0]]
// CHECK-COUNT-3:     amx.tile_mulf
// CHECK-COUNT-4:   amx.tile_store %[[S]]
//   CHECK-NOT: memref.copy
//       CHECK: return
func.func @whole(%a: memref<64x512xbf16>, %b: memref<256x32xi32>, %s: memref<64x32xf32>) {
  plim.tile_product ins(%a, %b : memref<64x512xbf16>, memref<256x32xi32>) outs(%s : memref<64x32xf32>)
  return
}

// What does not fill tiles goes through memory that they fill; nothing is read of a sum from zero.
// CHECK-LABEL: func.func @part(
//  CHECK-SAME: %[[A:.*]]: memref<16x64xi8>, %[[B:.*]]: memref<16x16xi32>, %[[S:.*]]: memref<9x7xi32>, %[[R:.*]]: memref<16x16xi32>)
//   CHECK-NOT: memref.copy
//       CHECK: amx.tile_zero : !amx.tile<16x16xi32>
//       CHECK: amx.tile_muli %{{.*}} zext, %{{.*}}, %{{.*}} : !amx.tile<16x64xi8>
//       CHECK: amx.tile_store %[[R]]
//       CHECK: memref.copy %{{.*}}, %{{.*}} : memref<{{.*}}> to memref<{{.*}}>
//       CHECK: return
func.func @part(%a: memref<16x64xi8>, %b: memref<16x16xi32>, %s: memref<9x7xi32>, %r: memref<16x16xi32>) {
  plim.tile_product ins(%a, %b : memref<16x64xi8>, memref<16x16xi32>) outs(%s, %r : memref<9x7xi32>, memref<16x16xi32>)
      {unsignedA, fromZero}
  return
}

// A sum that is read is there before, and rows that nobody knows are gone through in both ways.
// CHECK-LABEL: func.func @unknown(
//       CHECK: scf.for %{{.*}} step %c32
//       CHECK: scf.for %[[M:.*]] = %{{.*}} to %{{.*}} step %c16
//       CHECK:   arith.minui %{{.*}}, %c16
//       CHECK:   memref.copy
//       CHECK:   amx.tile_load
//       CHECK:   memref.copy
func.func @unknown(%a: memref<?x?xbf16>, %b: memref<?x32xi32>, %s: memref<?x32xf32>, %r: memref<16x32xf32>) {
  plim.tile_product ins(%a, %b : memref<?x?xbf16>, memref<?x32xi32>) outs(%s, %r : memref<?x32xf32>, memref<16x32xf32>)
  return
}

// A single column, whose stride upstream takes from a dimension that is gone.
// CHECK-LABEL: func.func @column
//       CHECK:   memref.subview %{{.*}} : memref<24x1xi32, strided<[195, 65]>>
func.func @column(%a: memref<32x64xi8>, %b: memref<16x16xi32>, %s: memref<24x1xi32, strided<[195, 65]>>, %part: memref<16x16xi32>) {
  plim.tile_product ins(%a, %b : memref<32x64xi8>, memref<16x16xi32>) outs(%s, %part : memref<24x1xi32, strided<[195, 65]>>, memref<16x16xi32>) {fromZero}
  return
}
