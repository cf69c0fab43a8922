// RUN: plimsoll-opt %s -plim-attach-target=tag=x86-64-v3 -plim-outline-buffer-ops -split-input-file | FileCheck %s

// With the fill in front of it, on tensors; where the call says that buffers are apart.
// CHECK-LABEL: func.func private @product_matmul(
//  CHECK-SAME:   %[[A:.*]]: tensor<?x64xf32>, %[[B:.*]]: tensor<64x?xf32>, %[[C:.*]]: tensor<?x?xf32>) -> tensor<?x?xf32>
//  CHECK-SAME:   plim.dispatch_function, plim.parallel_loops = array<i64: 0, 1>
//       CHECK:   %[[FILL:.*]] = linalg.fill {{.*}} outs(%[[C]]
//       CHECK:   linalg.generic {{.*}} ins(%[[A]], %[[B]] : {{.*}}) outs(%[[FILL]]
// CHECK-LABEL: func.func @product(
//       CHECK:   %[[APART:.*]] = plim.are_apart : i1
//       CHECK:   scf.if %[[APART]] {
//  CHECK-NEXT:     plim.dispatch @product_matmul ins(%{{.*}}, %{{.*}} : memref<?x64xf32>, memref<64x?xf32>)
//  CHECK-SAME:       outs(%{{.*}} : memref<?x?xf32>) {plim.device = "host"}
//  CHECK-NEXT:   } else {
//  CHECK-NEXT:     linalg.fill
//  CHECK-NEXT:     linalg.matmul
//  CHECK-NEXT:   }
func.func @product(%a: memref<?x64xf32>, %b: memref<64x?xf32>, %c: memref<?x?xf32>) attributes {plim.kernel} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<?x?xf32>)
  linalg.matmul ins(%a, %b : memref<?x64xf32>, memref<64x?xf32>) outs(%c : memref<?x?xf32>)
  return
}

// -----

// One argument, and memory that the kernel takes, are apart. What is read in place is the old element of the result.
// CHECK-LABEL: func.func private @in_place_generic(
//       CHECK:   linalg.generic {{.*}} outs(%{{.*}} : tensor<?xf32>) {
//  CHECK-NEXT:   ^bb0(%[[OLD:.*]]: f32):
//  CHECK-NEXT:     arith.addf %[[OLD]], %[[OLD]]
// CHECK-LABEL: func.func private @in_place_copy(
// CHECK-LABEL: func.func @in_place(
//   CHECK-NOT:   scf.if
//       CHECK:   plim.dispatch @in_place_generic outs(%{{.*}} : memref<?xf32>)
//       CHECK:   plim.dispatch @in_place_copy ins(%{{.*}} : memref<?xf32>) outs(%{{.*}} : memref<?xf32>)
func.func @in_place(%x: memref<?xf32>, %n: index) attributes {plim.kernel} {
  %m = memref.alloc(%n) : memref<?xf32>
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<?xf32>) outs(%x : memref<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  linalg.copy ins(%x : memref<?xf32>) outs(%m : memref<?xf32>)
  memref.dealloc %m : memref<?xf32>
  return
}

// -----

// These stay: what is read elsewhere than written; views; buffers that a loop swaps; little work; in a parallel loop; in other functions;
// bodies that take a buffer, or a vector, from outside.
//   CHECK-NOT: plim.dispatch
func.func @elsewhere(%x: memref<?x?xf32>) attributes {plim.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<?x?xf32>) outs(%x : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}

func.func @view(%x: memref<100x100xf32>, %f: f32, %y: memref<50x100xf32>) attributes {plim.kernel} {
  %v = memref.subview %x[50, 0] [50, 100] [1, 1] : memref<100x100xf32> to memref<50x100xf32, strided<[100, 1], offset: 5000>>
  linalg.copy ins(%v : memref<50x100xf32, strided<[100, 1], offset: 5000>>) outs(%y : memref<50x100xf32>)
  return
}

func.func @swapped(%x: memref<10000xf32>, %y: memref<10000xf32>) attributes {plim.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.for %t = %c0 to %c9 step %c1 iter_args(%a = %x, %b = %y) -> (memref<10000xf32>, memref<10000xf32>) {
    linalg.copy ins(%a : memref<10000xf32>) outs(%b : memref<10000xf32>)
    scf.yield %b, %a : memref<10000xf32>, memref<10000xf32>
  }
  return
}

func.func @little(%a: memref<8x8xf32>, %c: memref<8x8xf32>) attributes {plim.kernel} {
  linalg.matmul ins(%a, %a : memref<8x8xf32>, memref<8x8xf32>) outs(%c : memref<8x8xf32>)
  return
}

func.func @shared(%x: memref<100x100x100xf32>) attributes {plim.kernel} {
  scf.forall (%i) in (100) {
    %m = memref.alloc() : memref<100x100xf32>
    linalg.copy ins(%m : memref<100x100xf32>) outs(%m : memref<100x100xf32>)
    memref.dealloc %m : memref<100x100xf32>
  }
  return
}

func.func @extent_of_another(%x: memref<?xindex>, %m: memref<?xf32>) attributes {plim.kernel} {
  %c0 = arith.constant 0 : index
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%x : memref<?xindex>) {
  ^bb0(%a: index):
    %n = memref.dim %m, %c0 : memref<?xf32>
    %s = arith.addi %a, %n : index
    linalg.yield %s : index
  }
  return
}

func.func @lane_of_a_vector(%x: memref<?xf32>, %m: memref<4xf32>) attributes {plim.kernel} {
  %c0 = arith.constant 0 : index
  %v = vector.load %m[%c0] : memref<4xf32>, vector<4xf32>
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%x : memref<?xf32>) {
  ^bb0(%a: f32):
    %lane = vector.extract %v[2] : f32 from vector<4xf32>
    %s = arith.addf %a, %lane : f32
    linalg.yield %s : f32
  }
  return
}

func.func @host(%a: memref<80x80xf32>, %c: memref<80x80xf32>) {
  linalg.matmul ins(%a, %a : memref<80x80xf32>, memref<80x80xf32>) outs(%c : memref<80x80xf32>)
  return
}
