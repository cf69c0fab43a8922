// RUN: plimsoll-opt %s -plim-attach-target=tag=x86-64-v3 -plim-outline-parallel-loops -split-input-file | FileCheck %s
// RUN: plimsoll-opt %s -plim-attach-target=tag=x86-64-v3 -plim-outline-parallel-loops=strict=true -split-input-file \
// RUN:   | FileCheck %s --check-prefix=STRICT

// What is read is an input, what may be written an output; constants and views are made inside.
// CHECK-LABEL: func.func private @scale_loop(
//  CHECK-SAME: %[[N:.*]]: index, %[[X:.*]]: memref<?xf32> {plim.access = #plim.access<readonly>}, %[[F:.*]]: f32, %[[Y:.*]]: memref<64x64xf32> {plim.access = #plim.access<readwrite>})
//  CHECK-SAME: plim.dispatch_function, plim.limits = {max_stack_alloca_bytes = 64 : i64}, plim.may_alias
//   CHECK-DAG:   arith.constant 0 : index
//   CHECK-DAG:   %[[FLAT:.*]] = memref.collapse_shape %[[Y]]
//       CHECK:   scf.parallel (%[[I:.*]]) = (%{{.*}}) to (%[[N]])
//       CHECK:     memref.load %[[X]][%[[I]]]
//       CHECK:     memref.store %{{.*}}, %[[FLAT]][%[[I]]]
//       CHECK:   return
// CHECK-LABEL: func.func @scale(
//   CHECK-NOT:   scf.parallel
//       CHECK:   plim.dispatch @scale_loop ins(%{{.*}}, %{{.*}}, %{{.*}} : index, memref<?xf32>, f32) outs(%{{.*}} : memref<64x64xf32>)
//  CHECK-SAME:     {accesses = [#plim.access<readonly>, #plim.access<readwrite>], plim.device = "host"}
func.func @scale(%n: index, %f: f32, %x: memref<?xf32>, %y: memref<64x64xf32>)
    attributes {plim.kernel, plim.limits = {max_stack_alloca_bytes = 64 : i64}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %flat = memref.collapse_shape %y [[0, 1]] : memref<64x64xf32> into memref<4096xf32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %u = memref.load %x[%i] : memref<?xf32>
    %v = arith.mulf %f, %u : f32
    memref.store %v, %flat[%i] : memref<4096xf32>
    scf.reduce
  }
  return
}

// -----

// Loops that say the same in other words; the outermost of several, in a loop as well.
// CHECK-LABEL: func.func private @forall_loop(
//       CHECK:   scf.parallel
// CHECK-LABEL: func.func @forall(
//       CHECK:   plim.dispatch @forall_loop
func.func @forall(%x: memref<?x?xf32>) attributes {plim.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = arith.constant 1.0 : f32
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  scf.forall (%i) in (%n) {
    scf.forall (%j) in (%m) {
      memref.store %f, %x[%i, %j] : memref<?x?xf32>
    }
  }
  return
}

// CHECK-LABEL: func.func private @affine_loop(
//       CHECK:   scf.parallel
// CHECK-LABEL: func.func @affine(
//       CHECK:   scf.for
//       CHECK:     plim.dispatch @affine_loop
func.func @affine(%x: memref<?xf32>, %n: index) attributes {plim.kernel} {
  %f = arith.constant 1.0 : f32
  affine.for %t = 0 to 10 {
    affine.parallel (%i) = (0) to (%n) {
      affine.store %f, %x[%i] : memref<?xf32>
    }
  }
  return
}

// -----

// Iterations are counted with signs.
// CHECK-LABEL: func.func @negative(
//       CHECK:   plim.dispatch @negative_loop
func.func @negative(%x: memref<2000000xf32>) attributes {plim.kernel} {
  %first = arith.constant -1000000 : index
  %end = arith.constant 1000000 : index
  %c1 = arith.constant 1 : index
  %f = arith.constant 1.0 : f32
  scf.parallel (%i) = (%first) to (%end) step (%c1) {
    %j = arith.addi %i, %end : index
    memref.store %f, %x[%j] : memref<2000000xf32>
    scf.reduce
  }
  return
}

// -----

// At most 64 parts of a sum, the same for any number of threads; `strict` goes on in the order of the source.
// CHECK-LABEL: func.func private @sum_loop(
//  CHECK-SAME: %[[PARTS:.*]]: index, %[[LENGTH:.*]]: index, %[[TRIPS:.*]]: index, %{{.*}}: memref<?xf32> {{.*}}, %[[STORE:.*]]: memref<64xf32>
//       CHECK: scf.parallel (%[[PART:.*]]) = (%{{.*}}) to (%[[PARTS]])
//       CHECK:   %[[FIRST:.*]] = arith.muli %[[PART]], %[[LENGTH]]
//       CHECK:   %[[REST:.*]] = arith.subi %[[TRIPS]], %[[FIRST]]
//       CHECK:   %[[COUNT:.*]] = arith.minsi %[[LENGTH]], %[[REST]]
//       CHECK:   %[[NONE:.*]] = arith.constant -0.000000e+00 : f32
//       CHECK:   %[[SUM:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[NONE]])
//       CHECK:     arith.addf {{.*}} fastmath<reassoc> : f32
//       CHECK:   memref.store %[[SUM]], %[[STORE]][%[[PART]]]
//       CHECK: plim.tasks
// CHECK-LABEL: func.func @sum(
//       CHECK: %[[BUFFER:.*]] = memref.alloc() : memref<64xf32>
//       CHECK: plim.dispatch @sum_loop {{.*}} outs(%[[BUFFER]] : memref<64xf32>)
//       CHECK: scf.for {{.*}} iter_args(%[[SO_FAR:.*]] = %{{.*}}) -> (f32)
//       CHECK:   %[[OF_PART:.*]] = memref.load %[[BUFFER]]
//       CHECK:   arith.addf %[[SO_FAR]], %[[OF_PART]] : f32
//       CHECK: memref.dealloc %[[BUFFER]]
// STRICT-LABEL: func.func @sum(
//  STRICT-NOT: plim.dispatch
//       STRICT: scf.for {{.*}} iter_args
//       STRICT: arith.addf %{{.*}}, %{{.*}} : f32
func.func @sum(%x: memref<?xf32>, %n: index) -> f32 attributes {plim.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%zero) -> f32 {
    %u = memref.load %x[%i] : memref<?xf32>
    scf.reduce(%u : f32) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      scf.reduce.return %s : f32
    }
  }
  return %r : f32
}

// -----

// These stay: what is reduced by more than one operation, in any order unless that of the loop is asked for; little work; memory whose size
// only an iteration knows; a buffer with strides that the caller passes; a function that is no kernel.
//   CHECK-NOT: plim.dispatch
//       CHECK: scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (f32)
//       CHECK: arith.addf %{{.*}}, %{{.*}} fastmath<reassoc> : f32
//   CHECK-NOT: plim.dispatch
// STRICT-LABEL: func.func @norm(
//       STRICT: arith.addf %{{.*}}, %{{.*}} : f32
func.func @norm(%x: memref<?xf32>, %n: index) -> f32 attributes {plim.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%zero) -> f32 {
    %u = memref.load %x[%i] : memref<?xf32>
    scf.reduce(%u : f32) {
    ^bb0(%a: f32, %b: f32):
      %h = arith.mulf %b, %b : f32
      %s = arith.addf %a, %h : f32
      scf.reduce.return %s : f32
    }
  }
  return %r : f32
}

func.func @little(%x: memref<1000xf32>) attributes {plim.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1000 = arith.constant 1000 : index
  %f = arith.constant 1.0 : f32
  scf.parallel (%i) = (%c0) to (%c1000) step (%c1) {
    memref.store %f, %x[%i] : memref<1000xf32>
    scf.reduce
  }
  return
}

func.func @allocates(%x: memref<?xf32>, %n: index) attributes {plim.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = arith.constant 1.0 : f32
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %m = memref.alloc(%i) : memref<?xf32>
    memref.store %f, %m[%c0] : memref<?xf32>
    %g = memref.load %m[%c0] : memref<?xf32>
    memref.store %g, %x[%i] : memref<?xf32>
    memref.dealloc %m : memref<?xf32>
    scf.reduce
  }
  return
}

func.func @strided(%x: memref<?xf32, strided<[?]>>, %n: index) attributes {plim.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = arith.constant 1.0 : f32
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    memref.store %f, %x[%i] : memref<?xf32, strided<[?]>>
    scf.reduce
  }
  return
}

func.func @host(%x: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = arith.constant 1.0 : f32
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    memref.store %f, %x[%i] : memref<?xf32>
    scf.reduce
  }
  return
}

// -----

// Memory of an iteration is the dispatch's; what releases it is found later.
// CHECK-LABEL: func.func private @own_loop(
//       CHECK:   scf.parallel
//       CHECK:     memref.alloc()
//   CHECK-NOT:     memref.dealloc
//       CHECK:   return
func.func @own(%x: memref<?xf32>, %n: index) attributes {plim.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = arith.constant 1.0 : f32
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %m = memref.alloc() : memref<4xf32>
    memref.store %f, %m[%c0] : memref<4xf32>
    %g = memref.load %m[%c0] : memref<4xf32>
    memref.store %g, %x[%i] : memref<?xf32>
    memref.dealloc %m : memref<4xf32>
    scf.reduce
  }
  return
}

// -----

// A loop inside: two dispatches, and in one of them buffers are apart.
// CHECK-LABEL: func.func private @rows_loop_apart(
//  CHECK-SAME:   %{{.*}}: memref<1024x1024xf32> {llvm.noalias, plim.access = #plim.access<readonly>}, %{{.*}}: memref<1024xf32> {llvm.noalias, plim.access = #plim.access<readwrite>})
// CHECK-LABEL: func.func private @rows_loop(
//   CHECK-NOT:   llvm.noalias
// CHECK-LABEL: func.func @rows(
//       CHECK:   %[[APART:.*]] = plim.are_apart
//       CHECK:   scf.if %[[APART]] {
//  CHECK-NEXT:     plim.dispatch @rows_loop_apart
//  CHECK-NEXT:   } else {
//  CHECK-NEXT:     plim.dispatch @rows_loop
func.func @rows(%x: memref<1024x1024xf32>, %y: memref<1024xf32>) attributes {plim.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1024 = arith.constant 1024 : index
  scf.parallel (%i) = (%c0) to (%c1024) step (%c1) {
    scf.for %j = %c0 to %c1024 step %c1 {
      %v = memref.load %x[%i, %j] : memref<1024x1024xf32>
      %s = memref.load %y[%i] : memref<1024xf32>
      %t = arith.addf %s, %v : f32
      memref.store %t, %y[%i] : memref<1024xf32>
    }
    scf.reduce
  }
  return
}

// One argument and memory of the kernel are apart in any call; a view of an argument that a loop carries may be anything.
// CHECK-LABEL: func.func private @own_rows_loop(
//  CHECK-SAME:   llvm.noalias
//       CHECK:   return
// CHECK-LABEL: func.func @own_rows(
//   CHECK-NOT:   plim.are_apart
// CHECK-LABEL: func.func private @carried_loop(
//   CHECK-NOT:   llvm.noalias
// CHECK-LABEL: func.func @carried(
//   CHECK-NOT:   plim.are_apart
func.func @own_rows(%x: memref<1024x1024xf32>) attributes {plim.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1024 = arith.constant 1024 : index
  %y = memref.alloc() : memref<1024xf32>
  scf.parallel (%i) = (%c0) to (%c1024) step (%c1) {
    scf.for %j = %c0 to %c1024 step %c1 {
      %v = memref.load %x[%i, %j] : memref<1024x1024xf32>
      memref.store %v, %y[%i] : memref<1024xf32>
      memref.store %v, %x[%j, %i] : memref<1024x1024xf32>
    }
    scf.reduce
  }
  memref.dealloc %y : memref<1024xf32>
  return
}
func.func @carried(%x: memref<1024x1024xf32>, %y: memref<1024x1024xf32>) attributes {plim.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1024 = arith.constant 1024 : index
  %r:2 = scf.for %t = %c0 to %c1024 step %c1 iter_args(%a = %x, %b = %y) -> (memref<1024x1024xf32>, memref<1024x1024xf32>) {
    scf.parallel (%i) = (%c0) to (%c1024) step (%c1) {
      scf.for %j = %c0 to %c1024 step %c1 {
        %v = memref.load %a[%i, %j] : memref<1024x1024xf32>
        memref.store %v, %b[%i, %j] : memref<1024x1024xf32>
      }
      scf.reduce
    }
    scf.yield %b, %a : memref<1024x1024xf32>, memref<1024x1024xf32>
  }
  return
}
