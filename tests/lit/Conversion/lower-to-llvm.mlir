// RUN: plimsoll-opt %s -plim-lower-to-llvm -reconcile-unrealized-casts -canonicalize | FileCheck %s

// Booleans in memory are bytes.
// CHECK-LABEL: llvm.func @booleans(
//   CHECK-NOT: -> i1
//       CHECK: %[[BYTE:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i8
//       CHECK: %[[BIT:.*]] = llvm.trunc %[[BYTE]] : i8 to i1
//       CHECK: %[[WIDE:.*]] = llvm.zext %{{.*}} : i1 to i8
//       CHECK: llvm.store %[[WIDE]], %{{.*}} : i8, !llvm.ptr
func.func @booleans(%a: memref<4xi1>, %i: index, %c: i1) {
  %x = memref.load %a[%i] : memref<4xi1>
  %y = arith.xori %x, %c : i1
  memref.store %y, %a[%i] : memref<4xi1>
  return
}

// CHECK-LABEL: llvm.func @vectors(
//   CHECK-NOT: vector.
//       CHECK: llvm.load %{{.*}} -> vector<4xf32>
//       CHECK: llvm.store %{{.*}} : vector<4xf32>
func.func @vectors(%a: memref<8xf32>, %i: index) {
  %z = arith.constant 0.0 : f32
  %v = vector.transfer_read %a[%i], %z {in_bounds = [true]} : memref<8xf32>, vector<4xf32>
  %w = arith.addf %v, %v : vector<4xf32>
  vector.transfer_write %w, %a[%i] {in_bounds = [true]} : vector<4xf32>, memref<8xf32>
  return
}

// Functions of f64 go to LLVM's intrinsics or the C library, never to what is left unresolved.
// CHECK-LABEL: llvm.func @functions(
//   CHECK-NOT: math.
//       CHECK: {{llvm.intr.exp|llvm.call @exp}}(%{{.*}}) : (f64) -> f64
//       CHECK: llvm.call @erf(%{{.*}})
func.func @functions(%x: f64) -> f64 {
  %a = math.exp %x : f64
  %b = math.erf %a : f64
  return %b : f64
}

// CHECK-LABEL: llvm.func @narrow(
//   CHECK-NOT: arith.
//       CHECK: llvm.return
func.func @narrow(%x: f32, %y: bf16) -> (bf16, f32) {
  %a = arith.truncf %x : f32 to bf16
  %b = arith.extf %y : bf16 to f32
  return %a, %b : bf16, f32
}

// CHECK-LABEL: llvm.func @complexes(
//   CHECK-NOT: complex.
//       CHECK: llvm.fadd
func.func @complexes(%x: complex<f32>) -> complex<f32> {
  %a = complex.add %x, %x : complex<f32>
  return %a : complex<f32>
}

// CHECK-LABEL: llvm.func @branches(
//       CHECK: llvm.cond_br
func.func @branches(%c: i1, %x: index, %y: index) -> index {
  cf.cond_br %c, ^a, ^b
^a:
  %s = index.add %x, %y
  return %s : index
^b:
  %d = arith.ceildivsi %x, %y : index
  return %d : index
}

// Dense copies are one memcpy.
// CHECK-LABEL: llvm.func @copies(
//       CHECK: llvm.intr.memcpy
//   CHECK-NOT: memrefCopy
//       CHECK: llvm.return
func.func @copies(%a: memref<?x4xf32>, %b: memref<?x4xf32>) {
  memref.copy %a, %b : memref<?x4xf32> to memref<?x4xf32>
  return
}

// A power of two of bf16 and one more: the last is loaded alone.
// CHECK-LABEL: llvm.func @nine(
//       CHECK: %[[EIGHT:.*]] = llvm.load {{.*}} : !llvm.ptr -> vector<8xbf16>
//       CHECK: %[[LAST:.*]] = llvm.load {{.*}} : !llvm.ptr -> bf16
//       CHECK: %[[SPREAD:.*]] = llvm.shufflevector %[[EIGHT]]
//       CHECK: %[[WHOLE:.*]] = llvm.insertelement %[[LAST]], %[[SPREAD]]
//       CHECK: llvm.return %[[WHOLE]]
func.func @nine(%a: memref<9xbf16>) -> vector<9xbf16> {
  %c0 = arith.constant 0 : index
  %r = vector.load %a[%c0] : memref<9xbf16>, vector<9xbf16>
  return %r : vector<9xbf16>
}

// Behind a mask there are more, none of which is read.
// CHECK-LABEL: llvm.func @masked(
//       CHECK: %[[NONE:.*]] = llvm.mlir.constant(dense<false> : vector<32xi1>)
//       CHECK: %[[MASK:.*]] = llvm.shufflevector %{{.*}}, %[[NONE]] [0, {{.*}}, 16, 49, {{.*}}, 63]
//       CHECK: %[[WIDE:.*]] = llvm.intr.masked.load %{{.*}}, %[[MASK]], {{.*}} -> vector<32xbf16>
//       CHECK: llvm.shufflevector %[[WIDE]], {{.*}} : vector<32xbf16>
func.func @masked(%a: memref<?xbf16>, %m: vector<17xi1>, %p: vector<17xbf16>) -> vector<17xbf16> {
  %c0 = arith.constant 0 : index
  %r = vector.maskedload %a[%c0], %m, %p : memref<?xbf16>, vector<17xi1>, vector<17xbf16> into vector<17xbf16>
  return %r : vector<17xbf16>
}

// Minima and maxima are LLVM's own, which it vectorises.
// CHECK-LABEL: llvm.func @extremes(
//       CHECK: llvm.intr.maxnum
//       CHECK: llvm.intr.minnum
//       CHECK: llvm.intr.maximum
//       CHECK: llvm.intr.minimum
//   CHECK-NOT: llvm.select
//       CHECK: llvm.return
func.func @extremes(%x: f32, %y: f32) -> f32 {
  %a = arith.maxnumf %x, %y : f32
  %b = arith.minnumf %a, %y : f32
  %c = arith.maximumf %b, %y : f32
  %d = arith.minimumf %c, %x : f32
  return %d : f32
}

// CHECK-LABEL: llvm.func @twenty_five(
//       CHECK: llvm.load {{.*}} : !llvm.ptr -> vector<24xbf16>
//       CHECK: llvm.load {{.*}} : !llvm.ptr -> bf16
//       CHECK: llvm.intr.masked.load {{.*}} -> vector<64xbf16>
//       CHECK: llvm.return
func.func @twenty_five(%a: memref<41xbf16>, %m: vector<41xi1>, %p: vector<41xbf16>) -> (vector<25xbf16>, vector<41xbf16>) {
  %c0 = arith.constant 0 : index
  %r = vector.load %a[%c0] : memref<41xbf16>, vector<25xbf16>
  %s = vector.maskedload %a[%c0], %m, %p : memref<41xbf16>, vector<41xi1>, vector<41xbf16> into vector<41xbf16>
  return %r, %s : vector<25xbf16>, vector<41xbf16>
}

// Vectors of booleans too, behind masks.
// CHECK-LABEL: llvm.func @masked_booleans(
//       CHECK:   llvm.intr.masked.load {{.*}} -> vector<8xi8>
//       CHECK:   llvm.intr.masked.store {{.*}} : vector<8xi8>, vector<8xi1> into !llvm.ptr
func.func @masked_booleans(%a: memref<8xi1>, %b: memref<8xi1>, %m: vector<8xi1>) {
  %c0 = arith.constant 0 : index
  %none = arith.constant dense<false> : vector<8xi1>
  %x = vector.maskedload %a[%c0], %m, %none : memref<8xi1>, vector<8xi1>, vector<8xi1> into vector<8xi1>
  vector.maskedstore %b[%c0], %m, %x : memref<8xi1>, vector<8xi1>, vector<8xi1>
  return
}

// What is stored past the caches is there for everybody before a function ends.
// CHECK-LABEL: llvm.func @nontemporal(
//       CHECK:   llvm.store {{.*}} {nontemporal}
//       CHECK:   llvm.fence seq_cst
//  CHECK-NEXT:   llvm.return
// CHECK-LABEL: llvm.func @temporal(
//   CHECK-NOT:   llvm.fence
func.func @nontemporal(%a: memref<8xf32>, %x: f32, %i: index) {
  memref.store %x, %a[%i] {nontemporal = true} : memref<8xf32>
  return
}
func.func @temporal(%a: memref<8xf32>, %x: f32, %i: index) {
  memref.store %x, %a[%i] : memref<8xf32>
  return
}

// What is said of a loop is said where LLVM's translation looks for it.
// CHECK-LABEL: llvm.func @rest(
//       CHECK:   llvm.br {{.*}} {loop_annotation = #{{.*}}}
func.func @rest(%a: memref<8xf32>, %x: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  cf.br ^head(%c0 : index)
^head(%i: index):
  %more = arith.cmpi slt, %i, %n : index
  cf.cond_br %more, ^body, ^end
^body:
  memref.store %x, %a[%i] : memref<8xf32>
  %next = arith.addi %i, %c1 : index
  cf.br ^head(%next : index) {llvm.loop_annotation = #llvm.loop_annotation<isVectorized = true>}
^end:
  return
}
