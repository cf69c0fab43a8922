// RUN: plimsoll-opt %s -plim-prefetch-panels -canonicalize -split-input-file | FileCheck %s
// RUN: plimsoll-opt %s -plim-vectorize-elementwise -plim-prefetch-panels -canonicalize -split-input-file | FileCheck %s --check-prefix=VECTORS

// Panels of 32 columns that are read where they lie: each tile of rows fetches one of the two lines of the next panel's row.
// CHECK-DAG: #[[$LINE:.*]] = affine_map<()[s0] -> ((s0 floordiv 9) * 16 - ((s0 floordiv 9) floordiv 2) * 32)>
// CHECK-LABEL: func.func private @in_place(
//       CHECK: %[[B:.*]] = memref.reinterpret_cast %arg1
//       CHECK: scf.for %[[N:.*]] = %c0 to %c992 step %c32
//       CHECK:   scf.for %[[M:.*]] = %c0 to %c18 step %c9
//       CHECK:     scf.for %[[K:.*]] = %c0 to %c333
//       CHECK:       %[[NEXT:.*]] = arith.addi %[[N]], %c32
//       CHECK:       %[[LINE:.*]] = affine.apply #[[$LINE]]()[%[[M]]]
//       CHECK:       %[[AT:.*]] = arith.addi %[[NEXT]], %[[LINE]]
//       CHECK:       memref.prefetch %[[B]][%[[K]], %[[AT]]], read, locality<2>, data
//       CHECK:       vector.transfer_read %[[B]][%[[K]], %[[N]]]
func.func private @in_place(%a: memref<f32>, %b: memref<f32>, %c: memref<f32>) attributes {plim.dispatch_function} {
  %0 = ub.poison : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %c18 = arith.constant 18 : index
  %c32 = arith.constant 32 : index
  %c333 = arith.constant 333 : index
  %c992 = arith.constant 992 : index
  %zero = arith.constant dense<0.0> : vector<9x32xf32>
  %am = memref.reinterpret_cast %a to offset: [0], sizes: [18, 333], strides: [333, 1] : memref<f32> to memref<18x333xf32>
  %bm = memref.reinterpret_cast %b to offset: [0], sizes: [333, 1000], strides: [1000, 1] : memref<f32> to memref<333x1000xf32>
  %cm = memref.reinterpret_cast %c to offset: [0], sizes: [18, 1000], strides: [1000, 1] : memref<f32> to memref<18x1000xf32>
  scf.for %n = %c0 to %c992 step %c32 {
    scf.for %m = %c0 to %c18 step %c9 {
      %sum = scf.for %k = %c0 to %c333 step %c1 iter_args(%acc = %zero) -> (vector<9x32xf32>) {
        %x = vector.transfer_read %am[%m, %k], %0 {in_bounds = [true, true], permutation_map = affine_map<(d0, d1) -> (d0, 0)>} : memref<18x333xf32>, vector<9x32xf32>
        %y = vector.transfer_read %bm[%k, %n], %0 {in_bounds = [true, true], permutation_map = affine_map<(d0, d1) -> (0, d1)>} : memref<333x1000xf32>, vector<9x32xf32>
        %p = arith.mulf %x, %y : vector<9x32xf32>
        %s = arith.addf %acc, %p : vector<9x32xf32>
        scf.yield %s : vector<9x32xf32>
      }
      vector.transfer_write %sum, %cm[%m, %n] {in_bounds = [true, true]} : vector<9x32xf32>, memref<18x1000xf32>
    }
  }
  return
}

// -----

// What the second-level cache keeps anyway is not fetched.
// CHECK-LABEL: func.func private @small(
//   CHECK-NOT: memref.prefetch
func.func private @small(%b: memref<f32>, %c: memref<f32>) attributes {plim.dispatch_function} {
  %0 = ub.poison : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : vector<4x32xf32>
  %bm = memref.reinterpret_cast %b to offset: [0], sizes: [64, 64], strides: [64, 1] : memref<f32> to memref<64x64xf32>
  %cm = memref.reinterpret_cast %c to offset: [0], sizes: [4, 64], strides: [64, 1] : memref<f32> to memref<4x64xf32>
  scf.for %n = %c0 to %c64 step %c32 {
    scf.for %m = %c0 to %c1 step %c1 {
      %sum = scf.for %k = %c0 to %c64 step %c1 iter_args(%acc = %zero) -> (vector<4x32xf32>) {
        %y = vector.transfer_read %bm[%k, %n], %0 {in_bounds = [true, true], permutation_map = affine_map<(d0, d1) -> (0, d1)>} : memref<64x64xf32>, vector<4x32xf32>
        %s = arith.addf %acc, %y : vector<4x32xf32>
        scf.yield %s : vector<4x32xf32>
      }
      vector.transfer_write %sum, %cm[%m, %n] {in_bounds = [true, true]} : vector<4x32xf32>, memref<4x64xf32>
    }
  }
  return
}

// -----

// A panel that is copied for each call: what the next one is copied from is fetched.
// CHECK-LABEL: func.func private @copied(
//       CHECK: %[[B:.*]] = memref.reinterpret_cast %arg0
//       CHECK: scf.for %[[N:.*]] = %c0 to %c1024 step %c32
//       CHECK:   memref.copy
//       CHECK:   scf.for
//       CHECK:     scf.for %[[K:.*]] = %c0 to %c512
//       CHECK:       %[[NEXT:.*]] = arith.addi %[[N]], %c32
//       CHECK:       memref.prefetch %[[B]][%[[K]], %{{.*}}], read, locality<2>, data
// The same when rows are copied.
// VECTORS-LABEL: func.func private @copied(
//       VECTORS:   %[[B:.*]] = memref.reinterpret_cast %arg0
//       VECTORS:   scf.for %[[ROW:.*]] = %c0 to %c512
//       VECTORS:     memref.copy %{{.*}} : memref<32xf32, strided<[1], offset: ?>> to memref<32xf32, strided<[1], offset: ?>>
//       VECTORS:   memref.prefetch %[[B]]
func.func private @copied(%b: memref<f32>, %c: memref<f32>) attributes {plim.dispatch_function} {
  %0 = ub.poison : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %c48 = arith.constant 48 : index
  %c512 = arith.constant 512 : index
  %c1024 = arith.constant 1024 : index
  %zero = arith.constant dense<0.0> : vector<4x32xf32>
  %bm = memref.reinterpret_cast %b to offset: [0], sizes: [512, 1024], strides: [1024, 1] : memref<f32> to memref<512x1024xf32>
  %cm = memref.reinterpret_cast %c to offset: [0], sizes: [48, 1024], strides: [1024, 1] : memref<f32> to memref<48x1024xf32>
  scf.for %n = %c0 to %c1024 step %c32 {
    %part = memref.subview %bm[0, %n] [512, 32] [1, 1] : memref<512x1024xf32> to memref<512x32xf32, strided<[1024, 1], offset: ?>>
    %panel = plim.alloc() {scope = "global.stack"} : memref<512x32xf32>
    memref.copy %part, %panel : memref<512x32xf32, strided<[1024, 1], offset: ?>> to memref<512x32xf32>
    scf.for %m = %c0 to %c48 step %c4 {
      %sum = scf.for %k = %c0 to %c512 step %c1 iter_args(%acc = %zero) -> (vector<4x32xf32>) {
        %y = vector.transfer_read %panel[%k, %c0], %0 {in_bounds = [true, true], permutation_map = affine_map<(d0, d1) -> (0, d1)>} : memref<512x32xf32>, vector<4x32xf32>
        %s = arith.addf %acc, %y : vector<4x32xf32>
        scf.yield %s : vector<4x32xf32>
      }
      vector.transfer_write %sum, %cm[%m, %n] {in_bounds = [true, true]} : vector<4x32xf32>, memref<48x1024xf32>
    }
    memref.dealloc %panel : memref<512x32xf32>
  }
  return
}

// -----

// Rows of one line are vectors, and copied as such.
// VECTORS-LABEL: func.func private @copied_short(
//       VECTORS:   %[[B:.*]] = memref.reinterpret_cast %arg0
//       VECTORS:     vector.transfer_write
//       VECTORS:   memref.prefetch %[[B]]
func.func private @copied_short(%b: memref<f32>, %c: memref<f32>) attributes {plim.dispatch_function} {
  %0 = ub.poison : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c48 = arith.constant 48 : index
  %c512 = arith.constant 512 : index
  %c1024 = arith.constant 1024 : index
  %zero = arith.constant dense<0.0> : vector<4x16xf32>
  %bm = memref.reinterpret_cast %b to offset: [0], sizes: [512, 1024], strides: [1024, 1] : memref<f32> to memref<512x1024xf32>
  %cm = memref.reinterpret_cast %c to offset: [0], sizes: [48, 1024], strides: [1024, 1] : memref<f32> to memref<48x1024xf32>
  scf.for %n = %c0 to %c1024 step %c16 {
    %part = memref.subview %bm[0, %n] [512, 16] [1, 1] : memref<512x1024xf32> to memref<512x16xf32, strided<[1024, 1], offset: ?>>
    %panel = plim.alloc() {scope = "global.stack"} : memref<512x16xf32>
    memref.copy %part, %panel : memref<512x16xf32, strided<[1024, 1], offset: ?>> to memref<512x16xf32>
    scf.for %m = %c0 to %c48 step %c4 {
      %sum = scf.for %k = %c0 to %c512 step %c1 iter_args(%acc = %zero) -> (vector<4x16xf32>) {
        %y = vector.transfer_read %panel[%k, %c0], %0 {in_bounds = [true, true], permutation_map = affine_map<(d0, d1) -> (0, d1)>} : memref<512x16xf32>, vector<4x16xf32>
        %s = arith.addf %acc, %y : vector<4x16xf32>
        scf.yield %s : vector<4x16xf32>
      }
      vector.transfer_write %sum, %cm[%m, %n] {in_bounds = [true, true]} : vector<4x16xf32>, memref<48x1024xf32>
    }
    memref.dealloc %panel : memref<512x16xf32>
  }
  return
}
