// RUN: plimsoll-opt %s -plim-chunk-sums -canonicalize -cse -split-input-file | FileCheck %s

// A sum of columns over a number of rows that is not known: 256 of them at a time, from the neutral element on.
//   CHECK-DAG: #[[$ROWS:.*]] = affine_map<(d0)[s0] -> (-d0 + s0, 256)>
// CHECK-LABEL: func.func @open(
//  CHECK-SAME:   %[[X:.*]]: tensor<?x64xf32>, %[[INIT:.*]]: tensor<64xf32>)
//   CHECK-DAG: %[[NEUTRAL:.*]] = arith.constant -0.000000e+00 : f32
//   CHECK-DAG: %[[STEP:.*]] = arith.constant 256 : index
//       CHECK: scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step %[[STEP]] iter_args(%[[SUM:.*]] = %[[INIT]])
//       CHECK:   %[[SIZE:.*]] = affine.min #[[$ROWS]](%[[K]])
//       CHECK:   %[[PART:.*]] = tensor.extract_slice %[[X]][%[[K]], 0] [%[[SIZE]], 64] [1, 1]
//       CHECK:   %[[START:.*]] = linalg.fill ins(%[[NEUTRAL]] : f32)
//       CHECK:   %[[P:.*]] = linalg.reduce { arith.addf } ins(%[[PART]] : tensor<?x64xf32>) outs(%[[START]] : tensor<64xf32>)
//       CHECK:   %[[NEXT:.*]] = linalg.generic {{.*}}iterator_types = ["parallel"]} ins(%[[P]] : tensor<64xf32>) outs(%[[SUM]] : tensor<64xf32>)
//       CHECK:     arith.addf
//       CHECK:   scf.yield %[[NEXT]]
func.func @open(%x: tensor<?x64xf32>, %init: tensor<64xf32>) -> tensor<64xf32> attributes {plim.dispatch_function} {
  %r = linalg.reduce { arith.addf } ins(%x : tensor<?x64xf32>) outs(%init : tensor<64xf32>) dimensions = [0]
  return %r : tensor<64xf32>
}

// -----

// Two results have two neutral elements.
// CHECK-LABEL: func.func @both(
//   CHECK-DAG: arith.constant -0.000000e+00 : f32
//   CHECK-DAG: arith.constant 1.000000e+00 : f32
//       CHECK: scf.for {{.*}} -> (tensor<64xf32>, tensor<64xf32>)
//       CHECK:   linalg.generic {{.*}}iterator_types = ["reduction", "parallel"]}
//   CHECK-DAG:   linalg.generic {{.*}}iterator_types = ["parallel"]}
//       CHECK:   scf.yield
func.func @both(%x: tensor<257x64xf32>, %a: tensor<64xf32>, %b: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) attributes {plim.dispatch_function} {
  %r:2 = linalg.generic {indexing_maps = [affine_map<(k, n) -> (k, n)>, affine_map<(k, n) -> (n)>, affine_map<(k, n) -> (n)>],
                         iterator_types = ["reduction", "parallel"]} ins(%x : tensor<257x64xf32>) outs(%a, %b : tensor<64xf32>, tensor<64xf32>) {
  ^bb0(%e: f32, %s: f32, %p: f32):
    %t = arith.addf %s, %e : f32
    %u = arith.mulf %p, %e : f32
    linalg.yield %t, %u : f32, f32
  } -> (tensor<64xf32>, tensor<64xf32>)
  return %r#0, %r#1 : tensor<64xf32>, tensor<64xf32>
}

// -----

// One chunk; rows, which have chunks elsewhere; what is the same in any order; partial sums, which have one.
// CHECK-LABEL: func.func @whole(
//   CHECK-NOT: scf.for
//       CHECK: return
func.func @whole(%x: tensor<256x64xf32>, %y: tensor<64x?xf32>, %z: tensor<?x64xi32>, %w: tensor<?x64xf32>, %f: tensor<64xf32>, %i: tensor<64xi32>)
    -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xi32>, tensor<64xf32>) attributes {plim.dispatch_function} {
  %a = linalg.reduce { arith.addf } ins(%x : tensor<256x64xf32>) outs(%f : tensor<64xf32>) dimensions = [0]
  %b = linalg.reduce { arith.addf } ins(%y : tensor<64x?xf32>) outs(%f : tensor<64xf32>) dimensions = [1]
  %c = linalg.reduce { arith.maximumf } ins(%w : tensor<?x64xf32>) outs(%f : tensor<64xf32>) dimensions = [0]
  %d = linalg.reduce { arith.addi } ins(%z : tensor<?x64xi32>) outs(%i : tensor<64xi32>) dimensions = [0]
  %e = linalg.generic {indexing_maps = [affine_map<(k, n) -> (k, n)>, affine_map<(k, n) -> (n)>], iterator_types = ["reduction", "parallel"]}
      ins(%w : tensor<?x64xf32>) outs(%f : tensor<64xf32>) attrs = {plim.in_order} {
  ^bb0(%p: f32, %s: f32):
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  return %a, %b, %c, %d, %e : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xi32>, tensor<64xf32>
}

// -----

// No columns.
// CHECK-LABEL: func.func @none(
//   CHECK-NOT: scf.for
//       CHECK: return
func.func @none(%x: tensor<?x0xf32>, %init: tensor<0xf32>) -> tensor<0xf32> attributes {plim.dispatch_function} {
  %r = linalg.reduce { arith.addf } ins(%x : tensor<?x0xf32>) outs(%init : tensor<0xf32>) dimensions = [0]
  return %r : tensor<0xf32>
}

// -----

// Few rows that are added to anything but zeros.
// CHECK-LABEL: func.func @few(
//   CHECK-NOT: scf.for
//       CHECK:   %[[START:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<64xf32>)
//       CHECK:   %[[P:.*]] = linalg.reduce { arith.addf } ins(%{{.*}} : tensor<7x64xf32>) outs(%[[START]] : tensor<64xf32>)
//       CHECK:   linalg.generic {{.*}} ins(%[[P]] : tensor<64xf32>) outs(%arg1 : tensor<64xf32>)
func.func @few(%x: tensor<7x64xf32>, %init: tensor<64xf32>) -> tensor<64xf32> attributes {plim.dispatch_function} {
  %r = linalg.reduce { arith.addf } ins(%x : tensor<7x64xf32>) outs(%init : tensor<64xf32>) dimensions = [0]
  return %r : tensor<64xf32>
}
