// RUN: plimsoll-opt %s -plim-form-dispatches | FileCheck %s

// Where it begins and ends that rows of a product are computed where they are used (attention, in form-dispatches.mlir).

// Sums of 256 are short.
//   CHECK-LABEL: func.func @depth(
// CHECK-COUNT-1: plim.dispatch @
//     CHECK-NOT: plim.dispatch @
//         CHECK: return
func.func @depth(%q: tensor<64x256xf32>, %k: tensor<256x128xf32>, %v: tensor<128x32xf32>, %e: tensor<64x128xf32>, %o: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %s = linalg.matmul ins(%q, %k : tensor<64x256xf32>, tensor<256x128xf32>) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %x = linalg.exp ins(%s : tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %r = linalg.matmul ins(%x, %v : tensor<64x128xf32>, tensor<128x32xf32>) outs(%o : tensor<64x32xf32>) -> tensor<64x32xf32>
  return %r : tensor<64x32xf32>
}

// One more is too much.
//   CHECK-LABEL: func.func @deep(
// CHECK-COUNT-2: plim.dispatch @
//     CHECK-NOT: plim.dispatch @
//         CHECK: return
func.func @deep(%q: tensor<64x257xf32>, %k: tensor<257x128xf32>, %v: tensor<128x32xf32>, %e: tensor<64x128xf32>, %o: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %s = linalg.matmul ins(%q, %k : tensor<64x257xf32>, tensor<257x128xf32>) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %x = linalg.exp ins(%s : tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %r = linalg.matmul ins(%x, %v : tensor<64x128xf32>, tensor<128x32xf32>) outs(%o : tensor<64x32xf32>) -> tensor<64x32xf32>
  return %r : tensor<64x32xf32>
}

// So is what is not known.
//   CHECK-LABEL: func.func @unknown(
// CHECK-COUNT-2: plim.dispatch @
//     CHECK-NOT: plim.dispatch @
//         CHECK: return
func.func @unknown(%q: tensor<64x?xf32>, %k: tensor<?x128xf32>, %v: tensor<128x32xf32>, %e: tensor<64x128xf32>, %o: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %s = linalg.matmul ins(%q, %k : tensor<64x?xf32>, tensor<?x128xf32>) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %x = linalg.exp ins(%s : tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %r = linalg.matmul ins(%x, %v : tensor<64x128xf32>, tensor<128x32xf32>) outs(%o : tensor<64x32xf32>) -> tensor<64x32xf32>
  return %r : tensor<64x32xf32>
}

// All columns of its rows are taken by one workgroup: at most 256.
//   CHECK-LABEL: func.func @columns(
// CHECK-COUNT-1: plim.dispatch @
//     CHECK-NOT: plim.dispatch @
//         CHECK: return
func.func @columns(%q: tensor<64x64xf32>, %k: tensor<64x512xf32>, %v: tensor<512x256xf32>, %e: tensor<64x512xf32>, %o: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %s = linalg.matmul ins(%q, %k : tensor<64x64xf32>, tensor<64x512xf32>) outs(%e : tensor<64x512xf32>) -> tensor<64x512xf32>
  %x = linalg.exp ins(%s : tensor<64x512xf32>) outs(%e : tensor<64x512xf32>) -> tensor<64x512xf32>
  %r = linalg.matmul ins(%x, %v : tensor<64x512xf32>, tensor<512x256xf32>) outs(%o : tensor<64x256xf32>) -> tensor<64x256xf32>
  return %r : tensor<64x256xf32>
}

// Not 257.
//   CHECK-LABEL: func.func @wide(
// CHECK-COUNT-2: plim.dispatch @
//     CHECK-NOT: plim.dispatch @
//         CHECK: return
func.func @wide(%q: tensor<64x64xf32>, %k: tensor<64x514xf32>, %v: tensor<514x257xf32>, %e: tensor<64x514xf32>, %o: tensor<64x257xf32>) -> tensor<64x257xf32> {
  %s = linalg.matmul ins(%q, %k : tensor<64x64xf32>, tensor<64x514xf32>) outs(%e : tensor<64x514xf32>) -> tensor<64x514xf32>
  %x = linalg.exp ins(%s : tensor<64x514xf32>) outs(%e : tensor<64x514xf32>) -> tensor<64x514xf32>
  %r = linalg.matmul ins(%x, %v : tensor<64x514xf32>, tensor<514x257xf32>) outs(%o : tensor<64x257xf32>) -> tensor<64x257xf32>
  return %r : tensor<64x257xf32>
}

// The rows are at least twice as long as what is made of them.
//   CHECK-LABEL: func.func @half(
// CHECK-COUNT-1: plim.dispatch @
//     CHECK-NOT: plim.dispatch @
//         CHECK: return
func.func @half(%q: tensor<64x64xf32>, %k: tensor<64x128xf32>, %v: tensor<128x64xf32>, %e: tensor<64x128xf32>, %o: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %s = linalg.matmul ins(%q, %k : tensor<64x64xf32>, tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %x = linalg.exp ins(%s : tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %r = linalg.matmul ins(%x, %v : tensor<64x128xf32>, tensor<128x64xf32>) outs(%o : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// Not shorter.
//   CHECK-LABEL: func.func @long(
// CHECK-COUNT-2: plim.dispatch @
//     CHECK-NOT: plim.dispatch @
//         CHECK: return
func.func @long(%q: tensor<64x64xf32>, %k: tensor<64x127xf32>, %v: tensor<127x64xf32>, %e: tensor<64x127xf32>, %o: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %s = linalg.matmul ins(%q, %k : tensor<64x64xf32>, tensor<64x127xf32>) outs(%e : tensor<64x127xf32>) -> tensor<64x127xf32>
  %x = linalg.exp ins(%s : tensor<64x127xf32>) outs(%e : tensor<64x127xf32>) -> tensor<64x127xf32>
  %r = linalg.matmul ins(%x, %v : tensor<64x127xf32>, tensor<127x64xf32>) outs(%o : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// There are rows for several workgroups: 48.
//   CHECK-LABEL: func.func @rows(
// CHECK-COUNT-1: plim.dispatch @
//     CHECK-NOT: plim.dispatch @
//         CHECK: return
func.func @rows(%q: tensor<48x64xf32>, %k: tensor<64x128xf32>, %v: tensor<128x32xf32>, %e: tensor<48x128xf32>, %o: tensor<48x32xf32>) -> tensor<48x32xf32> {
  %s = linalg.matmul ins(%q, %k : tensor<48x64xf32>, tensor<64x128xf32>) outs(%e : tensor<48x128xf32>) -> tensor<48x128xf32>
  %x = linalg.exp ins(%s : tensor<48x128xf32>) outs(%e : tensor<48x128xf32>) -> tensor<48x128xf32>
  %r = linalg.matmul ins(%x, %v : tensor<48x128xf32>, tensor<128x32xf32>) outs(%o : tensor<48x32xf32>) -> tensor<48x32xf32>
  return %r : tensor<48x32xf32>
}

// Not 47.
//   CHECK-LABEL: func.func @few(
// CHECK-COUNT-2: plim.dispatch @
//     CHECK-NOT: plim.dispatch @
//         CHECK: return
func.func @few(%q: tensor<47x64xf32>, %k: tensor<64x128xf32>, %v: tensor<128x32xf32>, %e: tensor<47x128xf32>, %o: tensor<47x32xf32>) -> tensor<47x32xf32> {
  %s = linalg.matmul ins(%q, %k : tensor<47x64xf32>, tensor<64x128xf32>) outs(%e : tensor<47x128xf32>) -> tensor<47x128xf32>
  %x = linalg.exp ins(%s : tensor<47x128xf32>) outs(%e : tensor<47x128xf32>) -> tensor<47x128xf32>
  %r = linalg.matmul ins(%x, %v : tensor<47x128xf32>, tensor<128x32xf32>) outs(%o : tensor<47x32xf32>) -> tensor<47x32xf32>
  return %r : tensor<47x32xf32>
}

// Everything behind the rows counts, on every way.
//   CHECK-LABEL: func.func @ways(
// CHECK-COUNT-2: plim.dispatch @
//     CHECK-NOT: plim.dispatch @
//         CHECK: return
func.func @ways(%q: tensor<64x64xf32>, %k: tensor<64x128xf32>, %p: tensor<64x512xf32>, %l: tensor<512x128xf32>, %v: tensor<128x32xf32>,
                %e: tensor<64x128xf32>, %o: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %s = linalg.matmul ins(%q, %k : tensor<64x64xf32>, tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %t = linalg.matmul ins(%p, %l : tensor<64x512xf32>, tensor<512x128xf32>) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %n = linalg.negf ins(%t : tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %x = linalg.add ins(%s, %n : tensor<64x128xf32>, tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %r = linalg.matmul ins(%x, %v : tensor<64x128xf32>, tensor<128x32xf32>) outs(%o : tensor<64x32xf32>) -> tensor<64x32xf32>
  return %r : tensor<64x32xf32>
}

// What comes from outside has its sums behind it.
//   CHECK-LABEL: func.func @plain(
// CHECK-COUNT-1: plim.dispatch @
//     CHECK-NOT: plim.dispatch @
//         CHECK: return
func.func @plain(%q: tensor<64x128xf32>, %v: tensor<128x32xf32>, %e: tensor<64x128xf32>, %o: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %x = linalg.exp ins(%q : tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %r = linalg.matmul ins(%x, %v : tensor<64x128xf32>, tensor<128x32xf32>) outs(%o : tensor<64x32xf32>) -> tensor<64x32xf32>
  return %r : tensor<64x32xf32>
}

// So has what another block computes.
//   CHECK-LABEL: func.func @block(
//         CHECK: plim.dispatch @
//         CHECK: scf.if
// CHECK-COUNT-1: plim.dispatch @
//     CHECK-NOT: plim.dispatch @
//         CHECK: return
func.func @block(%b: i1, %q: tensor<64x512xf32>, %k: tensor<512x128xf32>, %v: tensor<128x32xf32>, %e: tensor<64x128xf32>, %o: tensor<64x32xf32>)
    -> tensor<64x32xf32> {
  %s = linalg.matmul ins(%q, %k : tensor<64x512xf32>, tensor<512x128xf32>) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %c = scf.if %b -> tensor<64x32xf32> {
    %x = linalg.exp ins(%s : tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
    %r = linalg.matmul ins(%x, %v : tensor<64x128xf32>, tensor<128x32xf32>) outs(%o : tensor<64x32xf32>) -> tensor<64x32xf32>
    scf.yield %r : tensor<64x32xf32>
  } else {
    scf.yield %o : tensor<64x32xf32>
  }
  return %c : tensor<64x32xf32>
}

// The other operand is needed for all rows.
//   CHECK-LABEL: func.func @other(
// CHECK-COUNT-2: plim.dispatch @
//     CHECK-NOT: plim.dispatch @
//         CHECK: return
func.func @other(%q: tensor<128x64xf32>, %v: tensor<64x128xf32>, %o: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %x = linalg.exp ins(%q : tensor<128x64xf32>) outs(%q : tensor<128x64xf32>) -> tensor<128x64xf32>
  %r = linalg.matmul ins(%v, %x : tensor<64x128xf32>, tensor<128x64xf32>) outs(%o : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// Windows overlap.
//   CHECK-LABEL: func.func @windows(
// CHECK-COUNT-2: plim.dispatch @
//     CHECK-NOT: plim.dispatch @
//         CHECK: return
func.func @windows(%q: tensor<64x130xf32>, %v: tensor<3x3xf32>, %o: tensor<62x128xf32>) -> tensor<62x128xf32> {
  %x = linalg.exp ins(%q : tensor<64x130xf32>) outs(%q : tensor<64x130xf32>) -> tensor<64x130xf32>
  %r = linalg.conv_2d ins(%x, %v : tensor<64x130xf32>, tensor<3x3xf32>) outs(%o : tensor<62x128xf32>) -> tensor<62x128xf32>
  return %r : tensor<62x128xf32>
}

#q = affine_map<(i, j, k, l) -> (i, k, l)>
#k = affine_map<(i, j, k, l) -> (k, l, j)>
#s = affine_map<(i, j, k, l) -> (i, j)>

// Of two reductions, the product.
//   CHECK-LABEL: func.func @loops(
// CHECK-COUNT-1: plim.dispatch @
//     CHECK-NOT: plim.dispatch @
//         CHECK: return
func.func @loops(%q: tensor<64x16x16xf32>, %k: tensor<16x16x128xf32>, %v: tensor<128x32xf32>, %e: tensor<64x128xf32>, %o: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%q, %k : tensor<64x16x16xf32>, tensor<16x16x128xf32>) outs(%e : tensor<64x128xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %z, %p : f32
    linalg.yield %t : f32
  } -> tensor<64x128xf32>
  %r = linalg.matmul ins(%s, %v : tensor<64x128xf32>, tensor<128x32xf32>) outs(%o : tensor<64x32xf32>) -> tensor<64x32xf32>
  return %r : tensor<64x32xf32>
}

// Which is too much.
//   CHECK-LABEL: func.func @deep_loops(
// CHECK-COUNT-2: plim.dispatch @
//     CHECK-NOT: plim.dispatch @
//         CHECK: return
func.func @deep_loops(%q: tensor<64x16x17xf32>, %k: tensor<16x17x128xf32>, %v: tensor<128x32xf32>, %e: tensor<64x128xf32>, %o: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%q, %k : tensor<64x16x17xf32>, tensor<16x17x128xf32>) outs(%e : tensor<64x128xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %z, %p : f32
    linalg.yield %t : f32
  } -> tensor<64x128xf32>
  %r = linalg.matmul ins(%s, %v : tensor<64x128xf32>, tensor<128x32xf32>) outs(%o : tensor<64x32xf32>) -> tensor<64x32xf32>
  return %r : tensor<64x32xf32>
}
