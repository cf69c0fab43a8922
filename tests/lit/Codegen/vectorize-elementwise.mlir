// RUN: plimsoll-opt %s -plim-attach-target=tag=x86-64-v4 -plim-vectorize-elementwise -canonicalize -cse -split-input-file | FileCheck %s --check-prefixes=CHECK,MASK
// RUN: plimsoll-opt %s -plim-attach-target=tag=x86-64-v3 -plim-vectorize-elementwise -canonicalize -cse -split-input-file | FileCheck %s --check-prefixes=CHECK,PLAIN

// Loops that all operands have one after the other are one. Several vectors at a time, and the rest: behind a mask, or a vector and an
// element at a time, which LLVM leaves as it is. A rest says how many iterations it has at most.
// CHECK-LABEL: func.func private @dense
//       CHECK:   memref.collapse_shape %{{.*}} {{\[}}[0, 1]] : memref<?x24xf32> into memref<?xf32>
//        MASK:   scf.for %{{.*}} step %c64
//        MASK:     vector.transfer_read {{.*}} : memref<?xf32>, vector<64xf32>
//        MASK:     arith.addf {{.*}} : vector<64xf32>
//        MASK:     vector.transfer_write
//        MASK:   scf.for %{{.*}} step %c16
//        MASK:     %[[MASK:.*]] = vector.create_mask
//        MASK:     vector.transfer_write {{.*}}, %[[MASK]]
//        MASK:   } {plim.most_iterations = 4 : i64}
//       PLAIN:   scf.for %{{.*}} step %c32
//       PLAIN:   scf.for %{{.*}} step %c8
//   PLAIN-NOT:   create_mask
//       PLAIN:   } {plim.most_iterations = 3 : i64}
//       PLAIN:   scf.for %{{.*}} step %c1
//       PLAIN:     memref.store
//       PLAIN:   } {llvm.loop_annotation = #[[REST:.*]], plim.most_iterations = 7 : i64}
//   CHECK-NOT: linalg.generic
#whole = affine_map<(i, j) -> (i, j)>
func.func private @dense(%x: memref<?x24xf32>, %y: memref<?x24xf32>) attributes {plim.dispatch_function} {
  linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<?x24xf32>) outs(%y : memref<?x24xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  }
  return
}

// -----

// A row that is repeated keeps rows apart, and the rest of one that is known is taken by halves; what a row has one of is loaded in front.
// CHECK-LABEL: func.func private @rows
//       CHECK:   scf.for
//       CHECK:     memref.load %{{.*}} : memref<?xf64>
//        MASK:     scf.for %{{.*}} step %c32
//        MASK:     vector.transfer_read {{.*}} vector<32xf64>
//        MASK:     vector.transfer_read {{.*}} vector<32xf32>
//        MASK:     vector.transfer_read {{.*}} vector<4xf32>
//        MASK:     vector.transfer_read {{.*}} vector<2xf32>
//        MASK:     memref.load {{.*}} : memref<?x71xf64
//   CHECK-NOT:   create_mask
#whole = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
#column = affine_map<(i, j) -> (i)>
func.func private @rows(%x: memref<?x71xf64, strided<[80, 1], offset: ?>>, %w: memref<71xf32>, %s: memref<?xf64>, %y: memref<?x71xf64>)
    attributes {plim.dispatch_function} {
  linalg.generic {indexing_maps = [#whole, #row, #column, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%x, %w, %s : memref<?x71xf64, strided<[80, 1], offset: ?>>, memref<71xf32>, memref<?xf64>) outs(%y : memref<?x71xf64>) {
  ^bb0(%a: f64, %b: f32, %c: f64, %o: f64):
    %d = arith.extf %b : f32 to f64
    %t = arith.mulf %a, %d : f64
    %u = arith.addf %t, %c : f64
    linalg.yield %u : f64
  }
  return
}

// -----

// A result that the last cache has no room for is written past it, from the first line on.
// CHECK-LABEL: func.func private @large
//  CHECK-SAME:   plim.strategy = [#plim.stores<because = "2147483648 bytes are more than the last cache keeps">]
//       CHECK:   memref.extract_aligned_pointer_as_index
//       CHECK:   %[[LINE:.*]] = arith.minui
//       CHECK:   scf.for %{{.*}} = %c0 to %[[LINE]]
//       CHECK:   scf.for %{{.*}} = %[[LINE]] to
//       CHECK:     vector.store {{.*}} {alignment = 64 : i64, nontemporal = true}
//       CHECK:   scf.for
//   CHECK-NOT:   vector.store
// Not one of halves, of which there are no such stores, and not one that is read.
// CHECK-LABEL: func.func private @halves
//   CHECK-NOT:   nontemporal
// CHECK-LABEL: func.func private @accumulate
//   CHECK-NOT:   nontemporal
// CHECK-LABEL: func.func private @zeros
//   CHECK-NOT:   nontemporal
// CHECK-LABEL: func.func private @update
//   CHECK-NOT:   nontemporal
#id = affine_map<(i) -> (i)>
func.func private @large(%x: memref<536870912xf32>, %y: memref<f32> {plim.access = #plim.access<writeonly>, plim.bytes = 2147483648 : i64})
    attributes {plim.dispatch_function} {
  %v = memref.reinterpret_cast %y to offset: [0], sizes: [536870912], strides: [1] : memref<f32> to memref<536870912xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<536870912xf32>) outs(%v : memref<536870912xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.negf %a : f32
    linalg.yield %t : f32
  }
  return
}

func.func private @halves(%x: memref<536870912xf16>, %y: memref<536870912xf16> {plim.access = #plim.access<writeonly>, plim.bytes = 1073741824 : i64})
    attributes {plim.dispatch_function} {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<536870912xf16>) outs(%y : memref<536870912xf16>) {
  ^bb0(%a: f16, %o: f16):
    %t = arith.negf %a : f16
    linalg.yield %t : f16
  }
  return
}

func.func private @accumulate(%x: memref<536870912xf32>, %y: memref<536870912xf32> {plim.access = #plim.access<writeonly>, plim.bytes = 2147483648 : i64})
    attributes {plim.dispatch_function} {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<536870912xf32>) outs(%y : memref<536870912xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.negf %a : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<536870912xf32>) outs(%y : memref<536870912xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  }
  return
}

func.func private @zeros(%y: memref<536870912xf32> {plim.access = #plim.access<writeonly>, plim.bytes = 2147483648 : i64})
    attributes {plim.dispatch_function} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<536870912xf32>)
  return
}

func.func private @update(%y: memref<536870912xf32> {plim.access = #plim.access<readwrite>, plim.bytes = 2147483648 : i64})
    attributes {plim.dispatch_function} {
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%y : memref<536870912xf32>) {
  ^bb0(%o: f32):
    %t = arith.negf %o : f32
    linalg.yield %t : f32
  }
  return
}

// -----

// Left to plain loops: a division of integers, elements that are looked up, a transposed operand, and rows of a few elements.
// CHECK-LABEL: func.func private @others
// CHECK-COUNT-4: linalg.generic
//   CHECK-NOT: vector.
#id = affine_map<(i, j) -> (i, j)>
#transposed = affine_map<(i, j) -> (j, i)>
func.func private @others(%x: memref<64x64xi32>, %y: memref<64x64xi32>, %f: memref<64x3xf32, strided<[4, 1]>>)
    attributes {plim.dispatch_function} {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<64x64xi32>) outs(%y : memref<64x64xi32>) {
  ^bb0(%a: i32, %o: i32):
    %t = arith.divsi %a, %o : i32
    linalg.yield %t : i32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<64x64xi32>) outs(%y : memref<64x64xi32>) {
  ^bb0(%a: i32, %o: i32):
    %i = arith.index_cast %a : i32 to index
    %t = memref.load %x[%i, %i] : memref<64x64xi32>
    linalg.yield %t : i32
  }
  linalg.generic {indexing_maps = [#transposed, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<64x64xi32>) outs(%y : memref<64x64xi32>) {
  ^bb0(%a: i32, %o: i32):
    %t = arith.addi %a, %a : i32
    linalg.yield %t : i32
  }
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%f : memref<64x3xf32, strided<[4, 1]>>) {
  ^bb0(%o: f32):
    %t = arith.negf %o : f32
    linalg.yield %t : f32
  }
  return
}

// Fills, and copies of short rows that are not dense. Dense copies are calls.
// CHECK-LABEL: func.func private @moves
//   CHECK-NOT:   linalg.
//       CHECK:   %[[Y:.+]] = memref.collapse_shape %arg1
//       CHECK:   vector.transfer_write %{{.+}}, %[[Y]]
//       CHECK:   vector.transfer_read %arg0
//       CHECK:   vector.transfer_write %{{.+}}, %arg1
//       CHECK:   memref.copy
//   CHECK-NOT:   linalg.
func.func private @moves(%x: memref<64x16xf32, strided<[80, 1]>>, %y: memref<64x16xf32>, %z: memref<64x16xf32>)
    attributes {plim.dispatch_function} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<64x16xf32>)
  memref.copy %x, %y : memref<64x16xf32, strided<[80, 1]>> to memref<64x16xf32>
  memref.copy %y, %z : memref<64x16xf32> to memref<64x16xf32>
  return
}

// Of long rows each is copied as a whole.
// CHECK-LABEL: func.func private @rows
//       CHECK:   scf.for %[[I:.+]] = %c0
//       CHECK:     %[[FROM:.+]] = memref.subview %arg0[%[[I]], 0, 0] [1, 16, 32] [1, 1, 1]
//  CHECK-SAME:       to memref<16x32xf32, strided<[32, 1], offset: ?>>
//       CHECK:     %[[TO:.+]] = memref.subview %arg1[%[[I]], 0, 0] [1, 16, 32] [1, 1, 1]
//       CHECK:     memref.copy %[[FROM]], %[[TO]]
//   CHECK-NOT:   linalg.
func.func private @rows(%x: memref<?x16x32xf32, strided<[600, 32, 1]>>, %y: memref<?x16x32xf32>) attributes {plim.dispatch_function} {
  memref.copy %x, %y : memref<?x16x32xf32, strided<[600, 32, 1]>> to memref<?x16x32xf32>
  return
}

// Rows of any length one by one, and single elements.
// CHECK-LABEL: func.func private @unknown
//       CHECK:   scf.for %[[I:.+]] = %c0
//       CHECK:     %[[FROM:.+]] = memref.subview %arg0[%[[I]], 0] [1, %{{.*}}] [1, 1]
//       CHECK:     %[[TO:.+]] = memref.subview %arg1[%[[I]], 0] [1, %{{.*}}] [1, 1]
//       CHECK:     memref.copy %[[FROM]], %[[TO]] : memref<?xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
//       CHECK:   linalg.generic
func.func private @unknown(%x: memref<8x?xf32, strided<[?, 1]>>, %y: memref<8x?xf32>, %a: memref<f32, strided<[], offset: ?>>, %b: memref<f32>)
    attributes {plim.dispatch_function} {
  memref.copy %x, %y : memref<8x?xf32, strided<[?, 1]>> to memref<8x?xf32>
  memref.copy %a, %b : memref<f32, strided<[], offset: ?>> to memref<f32>
  return
}

// Groups of bytes that lie side by side, as they lie, but for flipped bits; what is left of a row in halves, or one by one.
// CHECK-LABEL: func.func private @groups
//       CHECK:   scf.for %[[I:.+]] = %c0 to %c5
//       CHECK:     scf.for %[[J:.+]] = %c0 to %c32 step %c{{8|16}}
//       CHECK:       affine.apply #{{.*}}(%[[J]])
//       CHECK:       vector.transfer_read %arg0[%[[I]], %{{.*}}], %{{.*}} {in_bounds = [true]} : memref<5x156xi8>, vector<{{32|64}}xi8>
//       CHECK:       vector.bitcast %{{.*}} : vector<{{32|64}}xi8> to vector<{{8|16}}xi32>
//       CHECK:       arith.xori %{{.*}}, %{{.*}} : vector<{{8|16}}xi32>
//       CHECK:       vector.transfer_write %{{.*}}, %arg1[%[[I]], %[[J]]] {in_bounds = [true]} : vector<{{8|16}}xi32>, memref<5x39xi32>
//       CHECK:     vector<16xi8> to vector<4xi32>
//       CHECK:     vector<8xi8> to vector<2xi32>
//       CHECK:     vector<4xi8> to vector<1xi32>
//   CHECK-NOT:   linalg.
#first = affine_map<(i, j) -> (i, j * 4)>
#second = affine_map<(i, j) -> (i, j * 4 + 1)>
#third = affine_map<(i, j) -> (i, j * 4 + 2)>
#fourth = affine_map<(i, j) -> (i, j * 4 + 3)>
func.func private @groups(%x: memref<5x156xi8>, %y: memref<5x39xi32>) attributes {plim.dispatch_function} {
  linalg.generic {indexing_maps = [#first, #second, #third, #fourth, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %x, %x, %x : memref<5x156xi8>, memref<5x156xi8>, memref<5x156xi8>, memref<5x156xi8>) outs(%y : memref<5x39xi32>) {
  ^bb0(%a: i8, %b: i8, %c: i8, %d: i8, %o: i32):
    %eight = arith.constant 8 : i32
    %sixteen = arith.constant 16 : i32
    %twentyfour = arith.constant 24 : i32
    %tops = arith.constant 0x80808080 : i32
    %a0 = arith.extui %a : i8 to i32
    %b0 = arith.extui %b : i8 to i32
    %c0 = arith.extui %c : i8 to i32
    %d0 = arith.extui %d : i8 to i32
    %b1 = arith.shli %b0, %eight : i32
    %c1 = arith.shli %c0, %sixteen : i32
    %d1 = arith.shli %d0, %twentyfour : i32
    %ab = arith.ori %a0, %b1 : i32
    %abc = arith.ori %ab, %c1 : i32
    %abcd = arith.ori %abc, %d1 : i32
    %t = arith.xori %abcd, %tops : i32
    linalg.yield %t : i32
  }
  return
}

// Halves that do not lie side by side.
// CHECK-LABEL: func.func private @apart
//   CHECK-NOT:   vector.bitcast
//       CHECK:   arith.extui %{{.*}} : vector<{{.*}}xi16> to vector<{{.*}}xi32>
#low = affine_map<(i, j) -> (i, 0, j)>
#high = affine_map<(i, j) -> (i, 1, j)>
func.func private @apart(%x: memref<5x2x32xi16>, %y: memref<5x32xi32>) attributes {plim.dispatch_function} {
  linalg.generic {indexing_maps = [#low, #high, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %x : memref<5x2x32xi16>, memref<5x2x32xi16>) outs(%y : memref<5x32xi32>) {
  ^bb0(%a: i16, %b: i16, %o: i32):
    %sixteen = arith.constant 16 : i32
    %a0 = arith.extui %a : i16 to i32
    %b0 = arith.extui %b : i16 to i32
    %b1 = arith.shli %b0, %sixteen : i32
    %t = arith.ori %a0, %b1 : i32
    linalg.yield %t : i32
  }
  return
}

// In a kernel's loop: it may read what it has written.
// CHECK-LABEL: func.func private @kernel
//       CHECK:   linalg.generic
//   CHECK-NOT: vector.
func.func private @kernel(%x: memref<64x64xf32>, %y: memref<64x64xf32>) attributes {plim.dispatch_function, plim.may_alias} {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<64x64xf32>) outs(%y : memref<64x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.negf %a : f32
    linalg.yield %t : f32
  }
  return
}

// -----

// Elements that lie a few apart are taken out of vectors of what lies side by side, the last of which ends with the last of them.
// CHECK-LABEL: func.func private @apart
//        MASK:   scf.for %{{.*}} = %c64 to %c96 step %c16
//        MASK:     vector.shuffle %{{.*}} [16, 18, 20, 22, 24, 26, 28, 30, -1, -1, -1, -1, -1, -1, -1, -1]
//        MASK:     %[[LAST:.*]] = arith.addi %{{.*}}, %c15
//        MASK:     %[[B:.*]] = vector.transfer_read %{{.*}}[%[[LAST]]], {{.*}} : memref<199xf32>, vector<16xf32>
//        MASK:     vector.shuffle %{{.*}}, %[[B]] [0, 1, 2, 3, 4, 5, 6, 7, 17, 19, 21, 23, 25, 27, 29, 31]
//   CHECK-NOT:   memref.load
//       CHECK:   return
// CHECK-LABEL: func.func private @further
//       CHECK:   linalg.generic
#double = affine_map<(i) -> (i * 2)>
#five = affine_map<(i) -> (i * 5)>
#id = affine_map<(i) -> (i)>
func.func private @apart(%x: memref<199xf32>, %y: memref<96xf32>) attributes {plim.dispatch_function} {
  linalg.generic {indexing_maps = [#double, #id], iterator_types = ["parallel"]}
      ins(%x : memref<199xf32>) outs(%y : memref<96xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}

func.func private @further(%x: memref<499xf32>, %y: memref<96xf32>) attributes {plim.dispatch_function} {
  linalg.generic {indexing_maps = [#five, #id], iterator_types = ["parallel"]}
      ins(%x : memref<499xf32>) outs(%y : memref<96xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}

// -----

// Rows of three, one after the other in the result: as many at a time as a vector has elements. A vector of what lies across is
// interleaved with those beside it, elements that all rows share are a pattern in front of the loop.
// CHECK-LABEL: func.func private @colours
//   CHECK-DAG:   %[[FLAT:[^ ]*]] = memref.collapse_shape %{{.*}} {{\[}}[0, 1]] : memref<?x3xf32> into memref<?xf32>
//       CHECK:   vector.from_elements {{.*}} : vector<3xf32>
//  CHECK-COUNT-3:   vector.shuffle
//        MASK:   scf.for %{{.*}} step %c16
//        MASK:     vector.transfer_read {{.*}} : memref<3x?xi8>, vector<16xi8>
//        MASK:     vector.shuffle {{.*}} [0, 1, 16, 3, 4, 17, 6, 7, 18, 9, 10, 19, 12, 13, 20, 15] : vector<16xi8>, vector<16xi8>
//        MASK:     vector.transfer_write %{{.*}}, %[[FLAT]][%{{.*}}] {in_bounds = [true]} : vector<16xf32>, memref<?xf32>
//        MASK:   scf.for %{{.*}} step %c16
//        MASK:     vector.transfer_write %{{.*}}, %[[FLAT]][%{{.*}}], %{{.*}} {in_bounds = [true]} : vector<16xf32>, memref<?xf32>
//       PLAIN:   scf.for %{{.*}} step %c8
//       PLAIN:     vector.transfer_write %{{.*}}, %[[FLAT]][%{{.*}}] {in_bounds = [true]} : vector<8xf32>, memref<?xf32>
//       PLAIN:   scf.for %{{.*}} step %c1
// PLAIN-COUNT-3:     memref.load %{{.*}} : memref<3x?xi8>
//       CHECK:   return
func.func private @colours(%x: memref<3x?xi8>, %s: memref<3xf32>, %r: memref<?x3xf32>) attributes {plim.dispatch_function} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : memref<3x?xi8>, memref<3xf32>) outs(%r : memref<?x3xf32>) {
  ^bb0(%a: i8, %b: f32, %o: f32):
    %f = arith.uitofp %a : i8 to f32
    %p = arith.mulf %f, %b : f32
    linalg.yield %p : f32
  }
  return
}

// -----

// Not those that lie apart in the result.
// CHECK-LABEL: func.func private @apart
//   CHECK-NOT:   vector.shuffle
//       CHECK:   return
func.func private @apart(%x: memref<3x64xf32>, %r: memref<64x3xf32, strided<[4, 1]>>) attributes {plim.dispatch_function} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<3x64xf32>) outs(%r : memref<64x3xf32, strided<[4, 1]>>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}
