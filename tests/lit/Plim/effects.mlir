// What the accesses of a dispatch tell the rest of the compiler.
// RUN: plimsoll-opt %s -canonicalize -cse | FileCheck %s

func.func private @work(%a: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32>
    attributes {plim.dispatch_function} {
  return %o : tensor<4xf32>
}

// On tensors a dispatch is a value: unused it goes away, repeated it is shared.
// CHECK-LABEL: func.func @unused(
//   CHECK-NOT: plim.dispatch
//       CHECK: return
func.func @unused(%a: tensor<4xf32>, %o: tensor<4xf32>) {
  %r = plim.dispatch @work ins(%a : tensor<4xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @repeated(
//       CHECK: %[[R:.*]] = plim.dispatch
//   CHECK-NOT: plim.dispatch
//       CHECK: return %[[R]], %[[R]]
func.func @repeated(%a: tensor<4xf32>, %o: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %r = plim.dispatch @work ins(%a : tensor<4xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
  %s = plim.dispatch @work ins(%a : tensor<4xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
  return %r, %s : tensor<4xf32>, tensor<4xf32>
}

// On memrefs it writes its outputs.
// CHECK-LABEL: func.func @writes(
// CHECK-COUNT-2: plim.dispatch
//         CHECK: return
func.func @writes(%a: memref<4xf32>, %o: memref<4xf32>) {
  plim.dispatch @work ins(%a : memref<4xf32>) outs(%o : memref<4xf32>)
  plim.dispatch @work ins(%a : memref<4xf32>) outs(%o : memref<4xf32>)
  return
}

// An allocation on tensors is a value without contents: repeated it is shared, unused it goes away.
// On memrefs each is memory of its own.
// CHECK-LABEL: func.func @allocations(
//       CHECK: %[[T:.*]] = plim.alloc() {scope = "global.sram"} : tensor<4xf32>
//   CHECK-NOT: tensor
//       CHECK: %[[A:.*]] = plim.alloc() : memref<4xf32>
//       CHECK: %[[B:.*]] = plim.alloc() : memref<4xf32>
//   CHECK-NOT: plim.alloc
//       CHECK: return %[[T]], %[[T]], %[[A]], %[[B]]
func.func @allocations() -> (tensor<4xf32>, tensor<4xf32>, memref<4xf32>, memref<4xf32>) {
  %t = plim.alloc() {scope = "global.sram"} : tensor<4xf32>
  %u = plim.alloc() {scope = "global.sram"} : tensor<4xf32>
  %unused = plim.alloc() {scope = "local"} : tensor<4xf32>
  %a = plim.alloc() : memref<4xf32>
  %b = plim.alloc() : memref<4xf32>
  %dead = plim.alloc() : memref<4xf32>
  return %t, %u, %a, %b : tensor<4xf32>, tensor<4xf32>, memref<4xf32>, memref<4xf32>
}

// The context is the same wherever it is asked for.
// CHECK-LABEL: func.func @one_context(
//       CHECK: %[[CONTEXT:.*]] = plim.context
//   CHECK-NOT: = plim.context
//       CHECK: return %[[CONTEXT]], %[[CONTEXT]]
func.func @one_context() -> (!plim.context, !plim.context) {
  %context = plim.context : !plim.context
  %again = plim.context : !plim.context
  return %context, %again : !plim.context, !plim.context
}

// A check of what holds, or whose result nobody needs, is none; equal checks are one; none leaves a
// loop that may not run.
// CHECK-LABEL: func.func @checks(
//  CHECK-SAME: %[[A:.*]]: i1, %{{.*}}: index)
//       CHECK: %[[TRUE:.*]] = arith.constant true
//       CHECK: %[[OK:.*]] = plim.check %[[A]], "a"
//       CHECK: %[[LOOP:.*]] = scf.for
//       CHECK:   plim.check %[[A]], "c"
//       CHECK: return %[[TRUE]], %[[OK]], %[[OK]], %[[LOOP]]
func.func @checks(%a: i1, %n: index) -> (i1, i1, i1, i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %true = arith.constant true
  %holds = plim.check %true, "true"
  %unused = plim.check %a, "unused"
  %one = plim.check %a, "a"
  %two = plim.check %a, "a"
  %loop = scf.for %i = %c0 to %n step %c1 iter_args(%l = %true) -> i1 {
    %inner = plim.check %a, "c"
    %next = arith.xori %l, %inner : i1
    scf.yield %next : i1
  }
  return %holds, %one, %two, %loop : i1, i1, i1, i1
}

plim.external @reads : (memref<4xf32>) -> f32
    {accesses = [#plim.access<readonly>], donations = array<i64: -1>, pure}
plim.external @asks : () -> f32 {accesses = [], donations = array<i64: -1>}

// A pure one is merged unless what it reads was written in between; others never are.
// CHECK-LABEL: func.func @host(
//       CHECK: %[[A:.*]] = plim.call @reads
//       CHECK: memref.store
//       CHECK: %[[B:.*]] = plim.call @reads
//       CHECK: %[[X:.*]] = plim.call @asks
//       CHECK: plim.call @asks
//       CHECK: return %[[A]], %[[A]], %[[B]], %[[X]]
func.func @host(%c: !plim.context, %m: memref<4xf32>, %x: f32) -> (f32, f32, f32, f32) {
  %c0 = arith.constant 0 : index
  %a = plim.call @reads(%c, %m) {accesses = [#plim.access<readonly>], destinations = array<i64>, pure}
      : (!plim.context, memref<4xf32>) -> f32
  %same = plim.call @reads(%c, %m) {accesses = [#plim.access<readonly>], destinations = array<i64>, pure}
      : (!plim.context, memref<4xf32>) -> f32
  memref.store %x, %m[%c0] : memref<4xf32>
  %b = plim.call @reads(%c, %m) {accesses = [#plim.access<readonly>], destinations = array<i64>, pure}
      : (!plim.context, memref<4xf32>) -> f32
  %y = plim.call @asks(%c) {accesses = [], destinations = array<i64>} : (!plim.context) -> f32
  %unused = plim.call @asks(%c) {accesses = [], destinations = array<i64>} : (!plim.context) -> f32
  return %a, %same, %b, %y : f32, f32, f32, f32
}
