// RUN: plimsoll-opt %s -plim-attach-target=tag=x86-64-v4 -plim-choose-panels | FileCheck %s
// RUN: plimsoll-opt %s -plim-attach-target=tag=sapphirerapids -plim-choose-panels | FileCheck %s --check-prefix=TILES
// RUN: plimsoll-opt %s -plim-attach-target=tag=sapphirerapids -plim-choose-panels=strict | FileCheck %s --check-prefix=STRICT

// Blocks of a reduction are about equal, and have as many bytes for larger elements.
// CHECK-LABEL: func.func private @deep({{.*}} plim.strategy = [#plim.panels<panel = copied, rows = in_place, depth = [500], columns = 32, lines = 1, because = "it is deep">]
func.func private @deep(%a: tensor<96x2000xf32>, %b: tensor<2000x64xf32>, %c: tensor<96x64xf32>) -> tensor<96x64xf32>
    attributes {plim.dispatch_function} {
  %r = linalg.matmul ins(%a, %b : tensor<96x2000xf32>, tensor<2000x64xf32>) outs(%c : tensor<96x64xf32>) -> tensor<96x64xf32>
  return %r : tensor<96x64xf32>
}
// CHECK-LABEL: func.func private @deep_f64({{.*}}[#plim.panels<panel = copied, rows = copied, depth = [251], columns = 16, lines = 1, because = "it is deep">]
func.func private @deep_f64(%a: tensor<96x2003xf64>, %b: tensor<2003x640xf64>, %c: tensor<96x640xf64>) -> tensor<96x640xf64>
    attributes {plim.dispatch_function} {
  %r = linalg.matmul ins(%a, %b : tensor<96x2003xf64>, tensor<2003x640xf64>) outs(%c : tensor<96x640xf64>) -> tensor<96x640xf64>
  return %r : tensor<96x640xf64>
}
// Rows that lie on few pages, and not on one set of the cache, stay there.
// CHECK-LABEL: func.func private @few_pages({{.*}}panel = in_place, {{.*}} because = "the nearest cache keeps its rows">]
// CHECK-LABEL: func.func private @one_set({{.*}}panel = copied, {{.*}} because = "its rows lie 512 bytes apart, on one set">]
// CHECK-LABEL: func.func private @many_pages({{.*}}panel = copied, {{.*}} because = "its rows lie 4004 bytes apart">]
func.func private @few_pages(%a: tensor<96x137xf32>, %b: tensor<137x131xf32>, %c: tensor<96x131xf32>) -> tensor<96x131xf32>
    attributes {plim.dispatch_function} {
  %r = linalg.matmul ins(%a, %b : tensor<96x137xf32>, tensor<137x131xf32>) outs(%c : tensor<96x131xf32>) -> tensor<96x131xf32>
  return %r : tensor<96x131xf32>
}
func.func private @one_set(%a: tensor<96x137xf32>, %b: tensor<137x128xf32>, %c: tensor<96x128xf32>) -> tensor<96x128xf32>
    attributes {plim.dispatch_function} {
  %r = linalg.matmul ins(%a, %b : tensor<96x137xf32>, tensor<137x128xf32>) outs(%c : tensor<96x128xf32>) -> tensor<96x128xf32>
  return %r : tensor<96x128xf32>
}
func.func private @many_pages(%a: tensor<96x137xf32>, %b: tensor<137x1001xf32>, %c: tensor<96x1001xf32>) -> tensor<96x1001xf32>
    attributes {plim.dispatch_function} {
  %r = linalg.matmul ins(%a, %b : tensor<96x137xf32>, tensor<137x1001xf32>) outs(%c : tensor<96x1001xf32>) -> tensor<96x1001xf32>
  return %r : tensor<96x1001xf32>
}
// CHECK-LABEL: func.func private @few_rows({{.*}} plim.strategy = [#plim.panels<panel = in_place, rows = in_place, depth = [333], columns = 32, lines = 1, because = "17 rows are not worth a copy">]
func.func private @few_rows(%a: tensor<17x333xf32>, %b: tensor<333x1000xf32>, %c: tensor<17x1000xf32>) -> tensor<17x1000xf32>
    attributes {plim.dispatch_function} {
  %r = linalg.matmul ins(%a, %b : tensor<17x333xf32>, tensor<333x1000xf32>) outs(%c : tensor<17x1000xf32>) -> tensor<17x1000xf32>
  return %r : tensor<17x1000xf32>
}
// CHECK-LABEL: func.func private @sweep({{.*}}depth = [8], columns = 0, lines = 1, because = "its rows drive each other from the second-level cache, 8 rows">]
func.func private @sweep(%a: tensor<8x1024xf32>, %b: tensor<1024x4096xf32>, %c: tensor<8x4096xf32>) -> tensor<8x4096xf32>
    attributes {plim.dispatch_function} {
  %r = linalg.matmul ins(%a, %b : tensor<8x1024xf32>, tensor<1024x4096xf32>) outs(%c : tensor<8x4096xf32>) -> tensor<8x4096xf32>
  return %r : tensor<8x4096xf32>
}
// A single row reads all of the other operand once, and a sum of few terms is left as it is.
// CHECK-LABEL: func.func private @neither(
//   CHECK-NOT: plim.panels
func.func private @neither(%a: tensor<1x600xf32>, %b: tensor<600x64xf32>, %c: tensor<1x64xf32>, %d: tensor<6x4xf32>,
                           %e: tensor<4x5xf32>, %f: tensor<6x5xf32>) -> (tensor<1x64xf32>, tensor<6x5xf32>)
    attributes {plim.dispatch_function} {
  %r = linalg.matmul ins(%a, %b : tensor<1x600xf32>, tensor<600x64xf32>) outs(%c : tensor<1x64xf32>) -> tensor<1x64xf32>
  %s = linalg.matmul ins(%d, %e : tensor<6x4xf32>, tensor<4x5xf32>) outs(%f : tensor<6x5xf32>) -> tensor<6x5xf32>
  return %r, %s : tensor<1x64xf32>, tensor<6x5xf32>
}
// Few rows widen what they read in order in registers, and share a copy where it lies across.
// CHECK-LABEL: func.func private @few_narrow({{.*}}panel = in_place, rows = in_place, {{.*}} because = "8 rows are not worth a copy">]
// CHECK-LABEL: func.func private @few_narrow_across({{.*}}panel = widened, {{.*}} because = "widened once for 8 rows">]
// CHECK-LABEL: func.func private @few_bytes({{.*}}panel = groups, {{.*}}
func.func private @few_narrow(%a: tensor<8x96xf16>, %b: tensor<96x64xf16>, %c: tensor<8x64xf32>) -> tensor<8x64xf32>
    attributes {plim.dispatch_function} {
  %r = linalg.matmul ins(%a, %b : tensor<8x96xf16>, tensor<96x64xf16>) outs(%c : tensor<8x64xf32>) -> tensor<8x64xf32>
  return %r : tensor<8x64xf32>
}
func.func private @few_narrow_across(%a: tensor<8x96xf16>, %b: tensor<64x96xf16>, %c: tensor<8x64xf32>) -> tensor<8x64xf32>
    attributes {plim.dispatch_function} {
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<8x96xf16>, tensor<64x96xf16>) outs(%c : tensor<8x64xf32>) -> tensor<8x64xf32>
  return %r : tensor<8x64xf32>
}
func.func private @few_bytes(%a: tensor<8x96xi8>, %b: tensor<96x64xi8>, %c: tensor<8x64xi32>) -> tensor<8x64xi32>
    attributes {plim.dispatch_function} {
  %r = linalg.matmul ins(%a, %b : tensor<8x96xi8>, tensor<96x64xi8>) outs(%c : tensor<8x64xi32>) -> tensor<8x64xi32>
  return %r : tensor<8x64xi32>
}
// With tile registers bf16 is left to those, in strict code widened.
//  CHECK-LABEL: func.func private @narrow({{.*}}panel = widened, rows = widened, {{.*}} because = "widened once for 96 rows"
//  TILES-LABEL: func.func private @narrow({{.*}}panel = tiles, rows = tiles, {{.*}} because = "the host has tile registers for it"
// STRICT-LABEL: func.func private @narrow({{.*}}panel = widened, rows = widened,
func.func private @narrow(%a: tensor<96x512xbf16>, %b: tensor<512x64xbf16>, %c: tensor<96x64xf32>) -> tensor<96x64xf32>
    attributes {plim.dispatch_function} {
  %r = linalg.matmul ins(%a, %b : tensor<96x512xbf16>, tensor<512x64xbf16>) outs(%c : tensor<96x64xf32>) -> tensor<96x64xf32>
  return %r : tensor<96x64xf32>
}
// Blocks for tile registers are of whole tiles; 500 would be equal.
// TILES-LABEL: func.func private @whole_tiles({{.*}}panel = tiles, rows = tiles, depth = [512],
func.func private @whole_tiles(%a: tensor<96x2000xbf16>, %b: tensor<2000x64xbf16>, %c: tensor<96x64xf32>) -> tensor<96x64xf32>
    attributes {plim.dispatch_function} {
  %r = linalg.matmul ins(%a, %b : tensor<96x2000xbf16>, tensor<2000x64xbf16>) outs(%c : tensor<96x64xf32>) -> tensor<96x64xf32>
  return %r : tensor<96x64xf32>
}
