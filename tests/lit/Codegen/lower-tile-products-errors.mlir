// RUN: plimsoll-opt %s -plim-lower-tile-products -verify-diagnostics

func.func @apart(%a: memref<32x32xbf16>, %b: memref<16x32xi32>, %s: memref<32x32xf32, strided<[64, 2]>>) {
  // expected-error @below {{'plim.tile_product' op needs memory whose rows have their elements side by side}}
  plim.tile_product ins(%a, %b : memref<32x32xbf16>, memref<16x32xi32>) outs(%s : memref<32x32xf32, strided<[64, 2]>>)
  return
}
