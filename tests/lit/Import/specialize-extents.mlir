// RUN: plimsoll-opt %s -plim-specialize-extents="function=main extents=8,3" -split-input-file | FileCheck %s

// What is known goes through the body and comes out in the results; what is not called goes.
//   CHECK-NOT: func.func {{.*}}@other
// CHECK-LABEL: func.func @main(
//  CHECK-SAME: %[[A:.*]]: tensor<8x4xf32>, %[[B:.*]]: tensor<3xf32>) -> (tensor<8x4xf32>, tensor<3xf32>) {
//   CHECK-NOT: tensor.cast
//   CHECK-NOT: cf.assert
//       CHECK: tensor.empty() : tensor<8x4xf32>
//       CHECK: linalg.generic {{.*}} ins(%[[A]] : tensor<8x4xf32>)
//       CHECK: cf.assert %{{.*}}, "stays"
#map = affine_map<(i, j) -> (i, j)>
func.func @other(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}
func.func @main(%a: tensor<?x4xf32>, %b: tensor<?xf32>) -> (tensor<?x4xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %n = tensor.dim %a, %c0 : tensor<?x4xf32>
  %m = tensor.dim %b, %c0 : tensor<?xf32>
  %holds = arith.cmpi eq, %n, %c8 : index
  cf.assert %holds, "goes"
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %x : f32
    linalg.yield %y : f32
  } -> tensor<?x4xf32>
  %fails = arith.cmpi eq, %n, %m : index
  cf.assert %fails, "stays"
  return %r, %b : tensor<?x4xf32>, tensor<?xf32>
}

// -----

// A kernel keeps its layout.
// CHECK-LABEL: func.func @main(
//  CHECK-SAME: memref<8x4xf32, strided<[?, 1], offset: ?>>, %{{.*}}: memref<3xf32>) attributes {plim.kernel}
//       CHECK: memref.load %{{.*}}[%{{.*}}, %{{.*}}] : memref<8x4xf32, strided<[?, 1], offset: ?>>
func.func @main(%a: memref<?x4xf32, strided<[?, 1], offset: ?>>, %b: memref<?xf32>) attributes {plim.kernel} {
  %c0 = arith.constant 0 : index
  %v = memref.load %a[%c0, %c0] : memref<?x4xf32, strided<[?, 1], offset: ?>>
  memref.store %v, %b[%c0] : memref<?xf32>
  return
}

// -----

// What a loop carries gets a static type if the body keeps its extents, and keeps the dynamic one if it does not:
// upstream's canonicalisation would give it the one that it begins with.
// CHECK-LABEL: func.func @main(
//       CHECK: scf.for {{.*}} -> (tensor<8xf32>)
//       CHECK: scf.for {{.*}} -> (tensor<?xf32>)
//       CHECK: return {{.*}} : tensor<8xf32>, tensor<?xf32>
#id = affine_map<(i) -> (i)>
func.func @main(%a: tensor<?xf32>, %b: tensor<?xf32>, %k: index) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %kept = scf.for %i = %c0 to %k step %c1 iter_args(%t = %a) -> (tensor<?xf32>) {
    %n = tensor.dim %t, %c0 : tensor<?xf32>
    %e = tensor.empty(%n) : tensor<?xf32>
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%t : tensor<?xf32>) outs(%e : tensor<?xf32>) {
    ^bb0(%x: f32, %o: f32):
      %y = arith.addf %x, %x : f32
      linalg.yield %y : f32
    } -> tensor<?xf32>
    scf.yield %r : tensor<?xf32>
  }
  %grown = scf.for %i = %c0 to %k step %c1 iter_args(%t = %b) -> (tensor<?xf32>) {
    %n = tensor.dim %t, %c0 : tensor<?xf32>
    %m = arith.addi %n, %k : index
    %e = tensor.empty(%m) : tensor<?xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    %s = tensor.insert_slice %t into %f[0] [%n] [1] : tensor<?xf32> into tensor<?xf32>
    scf.yield %s : tensor<?xf32>
  }
  return %kept, %grown : tensor<?xf32>, tensor<?xf32>
}
