// RUN: plimsoll-opt %s -plim-normalize -split-input-file | FileCheck %s

// What masks no operation stays.
// CHECK-LABEL: func.func @empty(
//  CHECK-SAME: %[[M:[^:]*]]: vector<4xi1>, %[[X:[^:]*]]: vector<4xf32>
//       CHECK: vector.mask %[[M]] { vector.yield } : vector<4xi1>
//       CHECK: vector.mask %[[M]] { vector.yield %[[X]] : vector<4xf32> }
func.func @empty(%m: vector<4xi1>, %x: vector<4xf32>) -> vector<4xf32> {
  vector.mask %m { } : vector<4xi1>
  %r = vector.mask %m { vector.yield %x : vector<4xf32> } : vector<4xi1> -> vector<4xf32>
  return %r : vector<4xf32>
}

// -----

// Other lanes have what the combiner ignores.
// CHECK-LABEL: func.func @reductions(
//  CHECK-SAME: %[[M:[^:]*]]: vector<4xi1>, %[[X:[^:]*]]: vector<4xf32>
//       CHECK: %[[ZERO:.*]] = arith.constant dense<-0.000000e+00>
//       CHECK: %[[A:.*]] = arith.select %[[M]], %[[X]], %[[ZERO]]
//       CHECK: vector.reduction <add>, %[[A]], %{{.*}} : vector<4xf32> into f32
//       CHECK: %[[NONE:.*]] = arith.constant dense<0x7FC00000>
//       CHECK: %[[B:.*]] = arith.select %[[M]], %[[X]], %[[NONE]]
//       CHECK: vector.multi_reduction <maxnumf>, %[[B]], %{{.*}} [0] : vector<4xf32> to f32
//   CHECK-NOT: vector.mask
func.func @reductions(%m: vector<4xi1>, %x: vector<4xf32>, %z: f32) -> (f32, f32) {
  %r = vector.mask %m { vector.reduction <add>, %x, %z : vector<4xf32> into f32 } : vector<4xi1> -> f32
  %s = vector.mask %m { vector.multi_reduction <maxnumf>, %x, %z [0] : vector<4xf32> to f32 } : vector<4xi1> -> f32
  return %r, %s : f32, f32
}

// -----

// What goes to memory takes the mask, beside one that it has.
// CHECK-LABEL: func.func @memory(
//  CHECK-SAME: %[[M:[^:]*]]: vector<4xi1>, %[[N:[^:]*]]: vector<4xi1>, %{{[^:]*}}: vector<4xindex>, %[[P:[^:]*]]: vector<4xf32>
//       CHECK: %[[BOTH:.*]] = arith.andi %[[M]], %[[N]]
//       CHECK: vector.gather {{.*}}, %[[BOTH]], %[[P]]
//       CHECK: %[[READ:.*]] = vector.transfer_read {{.*}}, %[[M]] :
//       CHECK: arith.select %[[M]], %[[READ]], %[[P]]
//       CHECK: vector.transfer_write {{.*}}, %[[M]] :
//       CHECK: %[[BOTH:.*]] = arith.andi %[[M]], %[[N]]
//       CHECK: vector.transfer_write {{.*}}, %[[BOTH]] :
//   CHECK-NOT: vector.mask
func.func @memory(%m: vector<4xi1>, %n: vector<4xi1>, %i: vector<4xindex>, %p: vector<4xf32>, %a: memref<?xf32>, %pad: f32)
    -> (vector<4xf32>, vector<4xf32>) {
  %c0 = arith.constant 0 : index
  %g = vector.mask %m {
    vector.gather %a[%c0][%i], %n, %p : memref<?xf32>, vector<4xindex>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  } : vector<4xi1> -> vector<4xf32>
  %r = vector.mask %m, %p { vector.transfer_read %a[%c0], %pad : memref<?xf32>, vector<4xf32> } : vector<4xi1> -> vector<4xf32>
  vector.mask %m { vector.transfer_write %p, %a[%c0] : vector<4xf32>, memref<?xf32> } : vector<4xi1>
  vector.mask %m { vector.transfer_write %p, %a[%c0], %n : vector<4xf32>, memref<?xf32> } : vector<4xi1>
  return %g, %r : vector<4xf32>, vector<4xf32>
}

// -----

// A mask along the memory is turned to be one along the vector.
// CHECK-LABEL: func.func @transposed(
//  CHECK-SAME: %[[M:[^:]*]]: vector<2x3xi1>, {{.*}}, %[[P:[^:]*]]: vector<3x4x2xf32>
//       CHECK: %[[ALL:.*]] = vector.broadcast %[[M]] : vector<2x3xi1> to vector<4x2x3xi1>
//       CHECK: %[[LANES:.*]] = vector.transpose %[[ALL]], [2, 0, 1] : vector<4x2x3xi1> to vector<3x4x2xi1>
//       CHECK: arith.select %[[LANES]], %{{.*}}, %[[P]]
func.func @transposed(%m: vector<2x3xi1>, %a: memref<?x?xf32>, %pad: f32, %p: vector<3x4x2xf32>) -> vector<3x4x2xf32> {
  %c0 = arith.constant 0 : index
  %r = vector.mask %m, %p {
    vector.transfer_read %a[%c0, %c0], %pad {permutation_map = affine_map<(i, j) -> (j, 0, i)>, in_bounds = [false, true, false]}
        : memref<?x?xf32>, vector<3x4x2xf32>
  } : vector<2x3xi1> -> vector<3x4x2xf32>
  return %r : vector<3x4x2xf32>
}

// -----

// What is written is turned to the order of the memory, where the mask is.
// CHECK-LABEL: func.func @transposed_write(
//  CHECK-SAME: %[[M:[^:]*]]: vector<2x3xi1>, {{.*}}, %[[X:[^:]*]]: vector<3x2xf32>
//       CHECK: %[[MASK:.*]] = vector.shape_cast %[[M]]
//       CHECK: %[[ROWS:.*]] = vector.transpose %[[X]], [1, 0] : vector<3x2xf32> to vector<2x3xf32>
//       CHECK: %[[VALUE:.*]] = vector.shape_cast %[[ROWS]]
//       CHECK: vector.transfer_write %[[VALUE]], %{{.*}}, %[[MASK]] {in_bounds = [false, true]} : vector<2x3xf32>, memref<?x?xf32>
//   CHECK-NOT: vector.transfer_write
func.func @transposed_write(%m: vector<2x3xi1>, %a: memref<?x?xf32>, %x: vector<3x2xf32>) {
  %c0 = arith.constant 0 : index
  vector.transfer_write %x, %a[%c0, %c0], %m {permutation_map = affine_map<(i, j) -> (j, i)>, in_bounds = [true, false]}
      : vector<3x2xf32>, memref<?x?xf32>
  return
}

// -----

// A vector without dimensions has a mask of one lane.
// CHECK-LABEL: func.func @one(
//  CHECK-SAME: %[[M:[^:]*]]: vector<1xi1>, {{.*}}, %[[P:[^:]*]]: vector<f32>
//       CHECK: %[[LANE:.*]] = vector.extract %[[M]][0]
//       CHECK: arith.select %[[LANE]], %{{.*}}, %[[P]] : vector<f32>
func.func @one(%m: vector<1xi1>, %a: memref<f32>, %pad: f32, %p: vector<f32>) -> vector<f32> {
  %r = vector.mask %m, %p { vector.transfer_read %a[], %pad : memref<f32>, vector<f32> } : vector<1xi1> -> vector<f32>
  return %r : vector<f32>
}

// -----

// Sums of products keep their mask, which others lose.
#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (k, j)>
#out = affine_map<(i, j, k) -> (i, j)>
// CHECK-LABEL: func.func @products(
//  CHECK-SAME: %[[M:[^:]*]]: vector<2x4x3xi1>
//       CHECK: vector.mask %[[M]] { vector.contract {{.*}}kind = #vector.kind<add>
//       CHECK: %[[A:.*]] = arith.select %[[M]], %{{.*}}, %{{.*}} : vector<2x4x3xi1>, vector<2x4x3xf32>
//       CHECK: vector.multi_reduction <maxnumf>, %[[A]], %{{.*}} [2] : vector<2x4x3xf32> to vector<2x4xf32>
//   CHECK-NOT: vector.mask
func.func @products(%m: vector<2x4x3xi1>, %x: vector<2x3xf32>, %y: vector<3x4xf32>, %z: vector<2x4xf32>) -> (vector<2x4xf32>, vector<2x4xf32>) {
  %r = vector.mask %m {
    vector.contract {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
        %x, %y, %z : vector<2x3xf32>, vector<3x4xf32> into vector<2x4xf32>
  } : vector<2x4x3xi1> -> vector<2x4xf32>
  %s = vector.mask %m {
    vector.contract {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<maxnumf>}
        %x, %y, %z : vector<2x3xf32>, vector<3x4xf32> into vector<2x4xf32>
  } : vector<2x4x3xi1> -> vector<2x4xf32>
  return %r, %s : vector<2x4xf32>, vector<2x4xf32>
}
