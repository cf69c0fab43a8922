// RUN: plimsoll-opt %s -plim-check-arithmetic -split-input-file | FileCheck %s

// A division in a body goes on with a divisor of one where it cannot divide; the smallest number by -1 is the
// same divided by one.
// CHECK-LABEL: func.func @divides(
//       CHECK: linalg.generic
//       CHECK: ^bb0(%[[A:.*]]: i32, %[[B:.*]]: i32, %{{.*}}: i32):
//       CHECK: %[[NONZERO:.*]] = arith.cmpi ne, %[[B]], %{{.*}}
//       CHECK: %[[OK:.*]] = plim.check %[[NONZERO]], "{{.*}}integer division by zero"
//       CHECK: %[[DIVISOR:.*]] = arith.select %[[OK]], %[[B]], %{{.*}}
//       CHECK: %[[WRAPS:.*]] = arith.andi
//       CHECK: %[[SAFE:.*]] = arith.select %[[WRAPS]], %{{.*}}, %[[DIVISOR]]
//       CHECK: arith.divsi %[[A]], %[[SAFE]]
#id = affine_map<(i) -> (i)>
func.func @divides(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<4xi32>, tensor<4xi32>) outs(%x : tensor<4xi32>) {
    ^bb0(%a: i32, %b: i32, %o: i32):
      %q = arith.divsi %a, %b : i32
      linalg.yield %q : i32
  } -> tensor<4xi32>
  return %r : tensor<4xi32>
}

// Host code stops before it divides; a divisor that is known to be good is left alone.
// CHECK-LABEL: func.func @divides_scalars(
//       CHECK: cf.assert %{{.*}}, "{{.*}}integer division by zero"
//  CHECK-NEXT: arith.divui
//       CHECK: %[[SEVEN:.*]] = arith.constant 7
//   CHECK-NOT: cf.assert
//       CHECK: arith.remsi %{{.*}}, %[[SEVEN]]
func.func @divides_scalars(%x: tensor<4xi32>, %a: index, %b: index) -> (index, index) {
  %q = arith.divui %a, %b : index
  %seven = arith.constant 7 : index
  %r = arith.remsi %a, %seven : index
  return %q, %r : index, index
}

// -----

// In a kernel the assertion says that it is not the author's: the raw pointer stays.
// CHECK-LABEL: func.func @kernel(
//       CHECK: cf.assert %{{.*}}, "{{.*}}integer division by zero" {plim.implied}
//       CHECK: arith.divsi
func.func @kernel(%a: i32, %b: i32) -> i32 attributes {plim.kernel} {
  %q = arith.divsi %a, %b exact : i32
  return %q : i32
}

// -----

// Ops of the index dialect have twins.
// CHECK-LABEL: func.func @index(
//   CHECK-NOT: index.
//       CHECK: cf.assert %{{.*}}, "{{.*}}integer division by zero"
//       CHECK: arith.ceildivui
//       CHECK: cf.assert %{{.*}}, "{{.*}}integer division by zero"
//       CHECK: arith.remui
//       CHECK: arith.shli
func.func @index(%a: index, %b: index) -> (index, index, index) {
  %q = index.ceildivu %a, %b
  %r = index.remu %a, %b
  %s = index.shl %a, %b
  return %q, %r, %s : index, index, index
}

// -----

// Vectors divide where all lanes can.
// CHECK-LABEL: func.func @lanes(
//       CHECK: %[[ALL:.*]] = vector.reduction <and>, %{{.*}} : vector<8xi1> into i1
//       CHECK: cf.assert %[[ALL]]
//       CHECK: arith.divui
func.func @lanes(%a: vector<2x4xi8>, %b: vector<2x4xi8>) -> vector<2x4xi8> {
  %q = arith.divui %a, %b : vector<2x4xi8>
  return %q : vector<2x4xi8>
}

// -----

// CHECK-LABEL: func.func @power(
//  CHECK-SAME: %[[A:.*]]: i32, %[[B:.*]]: i32)
//       CHECK: cf.assert %[[GOOD:.*]], "{{.*}}zero to a negative power"
//       CHECK: %[[BASE:.*]] = arith.select %[[GOOD]], %[[A]], %{{.*}}
//       CHECK: math.ipowi %[[BASE]], %[[B]]
//   CHECK-NOT: cf.assert
//       CHECK: math.ipowi
func.func @power(%a: i32, %b: i32) -> (i32, i32) {
  %q = math.ipowi %a, %b : i32
  %c3 = arith.constant 3 : i32
  %r = math.ipowi %a, %c3 : i32
  return %q, %r : i32, i32
}

// -----

// CHECK-LABEL: func.func @positions(
//       CHECK: cf.assert %{{.*}}, "{{.*}}position out of range in dimension 1 of vector<2x4xf32>"
//       CHECK: vector.extract
//       CHECK: cf.assert %{{.*}}, "{{.*}}position out of range in dimension 0 of vector<2x4xf32>"
//       CHECK: vector.insert
func.func @positions(%v: vector<2x4xf32>, %i: index) -> vector<2x4xf32> {
  %x = vector.extract %v[1, %i] : f32 from vector<2x4xf32>
  %w = vector.insert %x, %v[%i, 3] : f32 into vector<2x4xf32>
  return %w : vector<2x4xf32>
}

// -----

// CHECK-LABEL: func.func @dimension(
//       CHECK: cf.assert %{{.*}}, "{{.*}}no such dimension of memref<?x5xf32>"
//       CHECK: memref.dim %{{.*}}, %c0
//       CHECK: arith.select
func.func @dimension(%x: memref<?x5xf32>, %i: index) -> index {
  %d = memref.dim %x, %i : memref<?x5xf32>
  return %d : index
}

// -----

// CHECK-LABEL: func.func @steps(
//       CHECK: %[[GOOD:.*]] = arith.cmpi sgt
//       CHECK: cf.assert %[[GOOD]], "{{.*}}the step of the loop is 0 or less"
//       CHECK: %[[STEP:.*]] = arith.select %[[GOOD]]
//       CHECK: scf.for %{{.*}} step %[[STEP]]
//       CHECK: arith.cmpi ne
//       CHECK: cf.assert %{{.*}}, "{{.*}}the step of the loop is 0"
//       CHECK: scf.for unsigned
//       CHECK: cf.assert %{{.*}}, "{{.*}}the step of the loop is 0 or less"
//       CHECK: scf.parallel
func.func @steps(%n: i32, %s: i32, %m: index, %t: index) {
  %c0 = arith.constant 0 : i32
  %i0 = arith.constant 0 : index
  scf.for %i = %c0 to %n step %s : i32 {
  }
  scf.for unsigned %i = %c0 to %n step %s : i32 {
  }
  scf.parallel (%i) = (%i0) to (%m) step (%t) {
    scf.reduce
  }
  return
}

// -----

// Divisors of affine maps must be positive, the inner one first.
// CHECK-LABEL: func.func @affine(
//  CHECK-SAME: %[[A:.*]]: index, %[[B:.*]]: index, %[[C:.*]]: index)
//       CHECK: %[[FIRST:.*]] = arith.cmpi sgt, %[[C]]
//       CHECK: cf.assert %[[FIRST]], "{{.*}}a divisor of an affine map is 0 or less"
//       CHECK: cf.assert
//       CHECK: affine.apply
func.func @affine(%a: index, %b: index, %c: index) -> index {
  %r = affine.apply affine_map<(d0)[s0, s1] -> (d0 mod (s0 floordiv s1))>(%a)[%b, %c]
  return %r : index
}

// -----

// Promises are dropped, and poison is a number.
// CHECK-LABEL: func.func @promises(
//       CHECK: arith.addi %{{.*}}, %{{.*}} : i32
//       CHECK: arith.shrui %{{.*}}, %{{.*}} : i32
//       CHECK: arith.trunci %{{.*}} : i32 to i8
//   CHECK-NOT: ub.poison
func.func @promises(%a: i32, %b: i32) -> (i32, i8, f32) {
  %s = arith.addi %a, %b overflow<nsw, nuw> : i32
  %c3 = arith.constant 3 : i32
  %t = arith.shrui %s, %c3 exact : i32
  %u = arith.trunci %t overflow<nsw> : i32 to i8
  %p = ub.poison : f32
  return %s, %u, %p : i32, i8, f32
}
