// RUN: plimsoll-opt %s -plim-group-dispatches -split-input-file | FileCheck %s

// Two that share nothing, and two that read the same, run at once; what reads both comes after.
// CHECK-LABEL: func.func @diamond(
//  CHECK-SAME: %[[X:.*]]: memref<8xf32>)
//   CHECK-DAG: %[[Q:.*]] = memref.alloc() {plim.reason = "q"}
//   CHECK-DAG: %[[K:.*]] = memref.alloc() {plim.reason = "k"}
//   CHECK-NOT: memref.alloc
//       CHECK: plim.schedule {
//  CHECK-NEXT:   plim.dispatch @one ins(%[[X]] : memref<8xf32>) outs(%[[Q]] : memref<8xf32>)
//  CHECK-NEXT:   plim.dispatch @one ins(%[[X]] : memref<8xf32>) outs(%[[K]] : memref<8xf32>)
//  CHECK-NEXT: {{^ *\}$}}
//  CHECK-NEXT: %[[S:.*]] = memref.alloc() {plim.reason = "s"}
//  CHECK-NEXT: plim.dispatch @two ins(%[[Q]], %[[K]] :
//  CHECK-NEXT: memref.dealloc %[[Q]]
//  CHECK-NEXT: memref.dealloc %[[K]]
//  CHECK-NEXT: return %[[S]]
func.func private @one() attributes {plim.dispatch_function}
func.func private @two() attributes {plim.dispatch_function}
func.func @diamond(%x: memref<8xf32>) -> memref<8xf32> {
  %q = memref.alloc() {plim.reason = "q"} : memref<8xf32>
  plim.dispatch @one ins(%x : memref<8xf32>) outs(%q : memref<8xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
  %k = memref.alloc() {plim.reason = "k"} : memref<8xf32>
  plim.dispatch @one ins(%x : memref<8xf32>) outs(%k : memref<8xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
  %s = memref.alloc() {plim.reason = "s"} : memref<8xf32>
  plim.dispatch @two ins(%q, %k : memref<8xf32>, memref<8xf32>) outs(%s : memref<8xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<readonly>, #plim.access<writeonly>]}
  memref.dealloc %q : memref<8xf32>
  memref.dealloc %k : memref<8xf32>
  return %s : memref<8xf32>
}

// -----

// Read after write, write after read, write after write: each keeps its order.
// CHECK-LABEL: func.func @dependent(
//   CHECK-NOT: plim.schedule
//       CHECK: return
func.func private @one() attributes {plim.dispatch_function}
func.func @dependent(%x: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  %c = memref.alloc() : memref<8xf32>
  %d = memref.alloc() : memref<8xf32>
  // a
  plim.dispatch @one ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
  // b, after a was written
  plim.dispatch @one ins(%a : memref<8xf32>) outs(%b : memref<8xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
  // a again, after it was read
  plim.dispatch @one ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
  // a once more
  plim.dispatch @one ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
  memref.dealloc %a : memref<8xf32>
  memref.dealloc %b : memref<8xf32>
  memref.dealloc %c : memref<8xf32>
  memref.dealloc %d : memref<8xf32>
  return
}

// -----

// Without accesses every output is read as well, which is a write all the same.
// CHECK-LABEL: func.func @unknown_access(
//       CHECK: plim.schedule {
//  CHECK-NEXT:   plim.dispatch @one ins(%{{.*}}) outs(%[[A:[a-z0-9_]+]] : memref<8xf32>)
//  CHECK-NEXT:   plim.dispatch @one ins(%{{.*}}) outs(%{{.*}} : memref<8xf32>)
//  CHECK-NEXT: {{^ *\}$}}
//  CHECK-NEXT: plim.dispatch @one ins(%{{.*}}) outs(%[[A]] : memref<8xf32>)
func.func private @one() attributes {plim.dispatch_function}
func.func @unknown_access(%x: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  plim.dispatch @one ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
  plim.dispatch @one ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
  plim.dispatch @one ins(%x : memref<8xf32>) outs(%b : memref<8xf32>)
  memref.dealloc %a : memref<8xf32>
  memref.dealloc %b : memref<8xf32>
  return
}

// -----

// A buffer that is released before the next is made does not hold that one up: where they lie is
// decided later, and not in the same place.
// CHECK-LABEL: func.func @released(
//       CHECK: plim.schedule {
//  CHECK-NEXT:   plim.dispatch @one {{.*}}outs(%[[A:.*]] :
//  CHECK-NEXT:   plim.dispatch @one {{.*}}outs(%[[B:.*]] :
//  CHECK-NEXT: {{^ *\}$}}
//       CHECK: memref.dealloc %[[A]]
//       CHECK: memref.dealloc %[[B]]
func.func private @one() attributes {plim.dispatch_function}
func.func @released(%x: memref<8xf32>) {
  %a = plim.alloc() {scope = "global.workspace"} : memref<8xf32>
  plim.dispatch @one ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
  memref.dealloc %a : memref<8xf32>
  %b = plim.alloc() {scope = "global.workspace"} : memref<8xf32>
  plim.dispatch @one ins(%x : memref<8xf32>) outs(%b : memref<8xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
  memref.dealloc %b : memref<8xf32>
  return
}

// -----

// Views share the memory of their buffer.
// CHECK-LABEL: func.func @views(
//   CHECK-NOT: plim.schedule
//       CHECK: return
func.func private @one() attributes {plim.dispatch_function}
func.func @views(%x: memref<8xf32>, %y: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  %flat = memref.expand_shape %a [[0, 1]] output_shape [2, 4] : memref<8xf32> into memref<2x4xf32>
  %dynamic = memref.cast %flat : memref<2x4xf32> to memref<?x4xf32>
  plim.dispatch @one ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
  plim.dispatch @one ins(%y : memref<8xf32>) outs(%dynamic : memref<?x4xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
  memref.dealloc %a : memref<8xf32>
  return
}

// -----

// Arguments may alias each other and globals: one that is written keeps its order with all of them,
// but not with memory that was allocated here.
// CHECK-LABEL: func.func @arguments(
//  CHECK-SAME: %[[X:.*]]: memref<8xf32>, %[[Y:.*]]: memref<8xf32>)
//       CHECK: plim.dispatch @one ins(%{{.*}} : memref<8xf32>) outs(%[[X]] :
//   CHECK-NOT: plim.schedule
//       CHECK: plim.dispatch @one ins(%[[Y]] :
//       CHECK: plim.schedule {
//  CHECK-NEXT:   plim.dispatch @one ins(%{{.*}}) outs(%[[Y]] :
//  CHECK-NEXT:   plim.dispatch @one ins(%[[A:[a-z0-9_]+]] : memref<8xf32>) outs(%{{.*}} :
//  CHECK-NEXT: {{^ *\}$}}
//  CHECK-NEXT: plim.dispatch @one ins(%[[G:[a-z0-9_]+]] :
//   CHECK-NOT: plim.schedule
//       CHECK: return
memref.global "private" constant @g : memref<8xf32> = dense<1.0>
func.func private @one() attributes {plim.dispatch_function}
func.func @arguments(%x: memref<8xf32>, %y: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  %g = memref.get_global @g : memref<8xf32>
  plim.dispatch @one ins(%a : memref<8xf32>) outs(%x : memref<8xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
  plim.dispatch @one ins(%y : memref<8xf32>) outs(%a : memref<8xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
  plim.dispatch @one ins(%a : memref<8xf32>) outs(%y : memref<8xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
  plim.dispatch @one ins(%a : memref<8xf32>) outs(%b : memref<8xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
  plim.dispatch @one ins(%g : memref<8xf32>) outs(%b : memref<8xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
  memref.dealloc %a : memref<8xf32>
  memref.dealloc %b : memref<8xf32>
  return
}

// -----

// Globals are told apart by their names, unless both are memory of the host.
// CHECK-LABEL: func.func @globals(
//   CHECK-DAG: %[[S:.*]] = memref.get_global @s
//   CHECK-DAG: %[[T:.*]] = memref.get_global @t
//   CHECK-DAG: %[[P:.*]] = memref.get_global @p
//   CHECK-DAG: %[[Q:.*]] = memref.get_global @q
//       CHECK: plim.schedule {
//  CHECK-NEXT:   plim.dispatch @one ins(%{{.*}}) outs(%[[S]] :
//  CHECK-NEXT:   plim.dispatch @one ins(%{{.*}}) outs(%[[T]] :
//  CHECK-NEXT:   plim.dispatch @one ins(%{{.*}}) outs(%[[P]] :
//  CHECK-NEXT: {{^ *\}$}}
//  CHECK-NEXT: plim.schedule {
//  CHECK-NEXT:   plim.dispatch @one ins(%{{.*}}) outs(%{{.*}} :
//  CHECK-NEXT:   plim.dispatch @one ins(%{{.*}}) outs(%[[Q]] :
//  CHECK-NEXT: {{^ *\}$}}
//       CHECK: return
memref.global "private" @s : memref<8xf32> = dense<1.0>
memref.global "private" @t : memref<8xf32> = dense<1.0>
memref.global "private" @p : memref<8xf32>
memref.global "private" @q : memref<8xf32>
func.func private @one() attributes {plim.dispatch_function}
func.func @globals() {
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  %s = memref.get_global @s : memref<8xf32>
  %t = memref.get_global @t : memref<8xf32>
  %again = memref.get_global @s : memref<8xf32>
  %p = memref.get_global @p : memref<8xf32>
  %q = memref.get_global @q : memref<8xf32>
  plim.dispatch @one ins(%a : memref<8xf32>) outs(%s : memref<8xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
  plim.dispatch @one ins(%a : memref<8xf32>) outs(%t : memref<8xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
  plim.dispatch @one ins(%again : memref<8xf32>) outs(%b : memref<8xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
  plim.dispatch @one ins(%a : memref<8xf32>) outs(%p : memref<8xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
  plim.dispatch @one ins(%a : memref<8xf32>) outs(%q : memref<8xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
  memref.dealloc %a : memref<8xf32>
  memref.dealloc %b : memref<8xf32>
  return
}

// -----

// A copy orders by the memory it touches: the one that reads a result stays behind it, the one that
// fills the input of a member goes ahead.
// CHECK-LABEL: func.func @copies(
//  CHECK-SAME: %[[X:[^:]*]]: memref<8xf32>, %[[Y:[^:]*]]: memref<8xf32>)
//   CHECK-NOT: plim.
//       CHECK: memref.copy %[[X]], %[[FILLED:.*]] :
//  CHECK-NEXT: plim.schedule {
//  CHECK-NEXT:   plim.dispatch @one ins(%[[X]] : memref<8xf32>) outs(%[[A:[a-z0-9_]+]] :
//  CHECK-NEXT:   plim.dispatch @one ins(%[[FILLED]] : memref<8xf32>) outs(%{{.*}} :
//  CHECK-NEXT: {{^ *\}$}}
//  CHECK-NEXT: memref.copy %[[A]], %[[Y]]
//  CHECK-NEXT: plim.dispatch @one ins(%[[Y]] :
func.func private @one() attributes {plim.dispatch_function}
func.func @copies(%x: memref<8xf32>, %y: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  %c = memref.alloc() : memref<8xf32>
  %filled = memref.alloc() : memref<8xf32>
  plim.dispatch @one ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
  memref.copy %x, %filled : memref<8xf32> to memref<8xf32>
  memref.copy %a, %y : memref<8xf32> to memref<8xf32>
  plim.dispatch @one ins(%y : memref<8xf32>) outs(%b : memref<8xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
  plim.dispatch @one ins(%filled : memref<8xf32>) outs(%c : memref<8xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
  return
}

// -----

// So do loads and stores; a scalar that depends on a member keeps its user behind.
// CHECK-LABEL: func.func @elements(
//       CHECK: memref.store %{{.*}}, %[[A:.*]][
//       CHECK: plim.dispatch @one ins(%[[A]] :
//       CHECK: memref.load
//       CHECK: plim.dispatch @scaled
//   CHECK-NOT: plim.schedule
//       CHECK: return
func.func private @one() attributes {plim.dispatch_function}
func.func private @scaled() attributes {plim.dispatch_function}
func.func @elements(%v: f32, %i: index) {
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  %c = memref.alloc() : memref<8xf32>
  plim.dispatch @one ins(%b : memref<8xf32>) outs(%a : memref<8xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
  memref.store %v, %a[%i] : memref<8xf32>
  plim.dispatch @one ins(%a : memref<8xf32>) outs(%b : memref<8xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
  %s = memref.load %b[%i] : memref<8xf32>
  plim.dispatch @scaled ins(%s : f32) outs(%c : memref<8xf32>)
      {accesses = [#plim.access<writeonly>]}
  memref.dealloc %a : memref<8xf32>
  memref.dealloc %b : memref<8xf32>
  memref.dealloc %c : memref<8xf32>
  return
}

// -----

// A release between two that are independent comes after both.
// CHECK-LABEL: func.func @release(
//       CHECK: plim.schedule {
//  CHECK-NEXT:   plim.dispatch @one ins(%[[A:[a-z0-9_]+]] : memref<8xf32>) outs(%[[B:[a-z0-9_]+]] :
//  CHECK-NEXT:   plim.dispatch @one ins(%[[X:[a-z0-9_]+]] : memref<8xf32>) outs(%[[C:[a-z0-9_]+]] :
//  CHECK-NEXT: {{^ *\}$}}
//  CHECK-NEXT: memref.dealloc %[[A]]
//  CHECK-NEXT: return %[[B]], %[[C]]
func.func private @one() attributes {plim.dispatch_function}
func.func @release(%x: memref<8xf32>) -> (memref<8xf32>, memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  memref.copy %x, %a : memref<8xf32> to memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  plim.dispatch @one ins(%a : memref<8xf32>) outs(%b : memref<8xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
  memref.dealloc %a : memref<8xf32>
  %c = memref.alloc() : memref<8xf32>
  plim.dispatch @one ins(%x : memref<8xf32>) outs(%c : memref<8xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
  return %b, %c : memref<8xf32>, memref<8xf32>
}

// -----

// A check moves ahead with the dispatch it guards, and with the computation it stands before...
// CHECK-LABEL: func.func @check(
//       CHECK: memref.alloc
//       CHECK: cf.assert
//       CHECK: arith.divui
//       CHECK: memref.alloc
//       CHECK: plim.schedule {
func.func private @one() attributes {plim.dispatch_function}
func.func @check(%x: memref<?xf32>, %n: index, %m: index, %ok: i1) -> (memref<?xf32>, memref<?xf32>) {
  %a = memref.alloc(%n) : memref<?xf32>
  plim.dispatch @one ins(%x : memref<?xf32>) outs(%a : memref<?xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
  cf.assert %ok, "m is zero"
  %half = arith.divui %n, %m : index
  %b = memref.alloc(%half) : memref<?xf32>
  plim.dispatch @one ins(%x : memref<?xf32>) outs(%b : memref<?xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
  return %a, %b : memref<?xf32>, memref<?xf32>
}

// ... but never ahead of a write that the caller could see, and nothing behind it moves then.
// CHECK-LABEL: func.func @visible_check(
//       CHECK: plim.dispatch
//       CHECK: cf.assert
//       CHECK: plim.dispatch
//   CHECK-NOT: plim.schedule
//       CHECK: return
func.func @visible_check(%x: memref<8xf32>, %ok: i1) {
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  plim.dispatch @one ins(%a : memref<8xf32>) outs(%x : memref<8xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
  cf.assert %ok, "no"
  plim.dispatch @one ins(%a : memref<8xf32>) outs(%b : memref<8xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
  memref.dealloc %a : memref<8xf32>
  memref.dealloc %b : memref<8xf32>
  return
}

// -----

// Calls and ops with regions end the search.
// CHECK-LABEL: func.func @barriers(
//   CHECK-NOT: plim.schedule
//       CHECK: return
func.func private @one() attributes {plim.dispatch_function}
func.func private @callee()
func.func @barriers(%x: memref<8xf32>, %c: i1) {
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  %d = memref.alloc() : memref<8xf32>
  plim.dispatch @one ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
  call @callee() : () -> ()
  plim.dispatch @one ins(%x : memref<8xf32>) outs(%b : memref<8xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
  scf.if %c {
    memref.copy %x, %d : memref<8xf32> to memref<8xf32>
  }
  plim.dispatch @one ins(%x : memref<8xf32>) outs(%d : memref<8xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
  return
}

// -----

// In the body of a loop. What the loop carries is one of the buffers it was given or has made.
// CHECK-LABEL: func.func @loop(
//       CHECK: scf.for
//  CHECK-SAME: iter_args(%[[CARRIED:[a-z0-9_]+]] = %[[START:[a-z0-9_]+]])
//       CHECK:   plim.schedule {
//  CHECK-NEXT:     plim.dispatch @one ins(%[[CARRIED]] : memref<8xf32>) outs(%[[B:[a-z0-9_]+]] :
//  CHECK-NEXT:     plim.dispatch @one ins(%[[CARRIED]] : memref<8xf32>) outs(%[[C:[a-z0-9_]+]] :
//  CHECK-NEXT:   {{^ *\}$}}
//  CHECK-NEXT:   plim.dispatch @two ins(%[[B]], %[[C]] : memref<8xf32>, memref<8xf32>) outs(%[[START]] :
//  CHECK-NEXT:   memref.dealloc
func.func private @one() attributes {plim.dispatch_function}
func.func private @two() attributes {plim.dispatch_function}
func.func @loop(%n: index) -> memref<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%carried = %a) -> memref<8xf32> {
    %b = memref.alloc() : memref<8xf32>
    %c = memref.alloc() : memref<8xf32>
    plim.dispatch @one ins(%carried : memref<8xf32>) outs(%b : memref<8xf32>)
        {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
    plim.dispatch @one ins(%carried : memref<8xf32>) outs(%c : memref<8xf32>)
        {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
    plim.dispatch @two ins(%b, %c : memref<8xf32>, memref<8xf32>) outs(%a : memref<8xf32>)
        {accesses = [#plim.access<readonly>, #plim.access<readonly>, #plim.access<writeonly>]}
    memref.dealloc %b : memref<8xf32>
    memref.dealloc %c : memref<8xf32>
    scf.yield %a : memref<8xf32>
  }
  return %r : memref<8xf32>
}

// Carried buffers that may be the same one: their writes keep their order.
// CHECK-LABEL: func.func @swap(
//   CHECK-NOT: plim.schedule
//       CHECK: return
func.func @swap(%n: index, %x: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %a, %q = %b)
      -> (memref<8xf32>, memref<8xf32>) {
    plim.dispatch @one ins(%x : memref<8xf32>) outs(%p : memref<8xf32>)
        {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
    plim.dispatch @one ins(%x : memref<8xf32>) outs(%q : memref<8xf32>)
        {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
    scf.yield %q, %p : memref<8xf32>, memref<8xf32>
  }
  return
}

// -----

// A buffer from the turn before is not the one that this turn allocates.
// CHECK-LABEL: func.func @turn_before(
//       CHECK: scf.for {{.*}}iter_args(%[[P:[a-z0-9_]+]] = %{{.*}}, %[[Q:[a-z0-9_]+]] = %{{[a-z0-9_]+}})
//       CHECK:   plim.schedule {
//  CHECK-NEXT:     plim.dispatch @one ins(%[[P]] : memref<8xf32>) outs(%[[NEW_P:[a-z0-9_]+]] :
//  CHECK-NEXT:     plim.dispatch @one ins(%[[Q]] : memref<8xf32>) outs(%[[NEW_Q:[a-z0-9_]+]] :
//  CHECK-NEXT: {{^ *\}$}}
//  CHECK-NEXT:   plim.dispatch @one ins(%[[NEW_P]] : memref<8xf32>) outs(%[[P]] :
//  CHECK-NEXT:   plim.dispatch @one ins(%[[NEW_P]] : memref<8xf32>) outs(%[[Q]] :
//  CHECK-NEXT:   scf.yield %[[NEW_Q]], %[[NEW_P]]
func.func private @one() attributes {plim.dispatch_function}
func.func @turn_before(%n: index, %a: memref<8xf32>, %b: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %a, %q = %b)
      -> (memref<8xf32>, memref<8xf32>) {
    %new_p = memref.alloc() : memref<8xf32>
    plim.dispatch @one ins(%p : memref<8xf32>) outs(%new_p : memref<8xf32>)
        {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
    %new_q = memref.alloc() : memref<8xf32>
    plim.dispatch @one ins(%q : memref<8xf32>) outs(%new_q : memref<8xf32>)
        {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
    plim.dispatch @one ins(%new_p : memref<8xf32>) outs(%p : memref<8xf32>)
        {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
    plim.dispatch @one ins(%new_p : memref<8xf32>) outs(%q : memref<8xf32>)
        {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
    scf.yield %new_q, %new_p : memref<8xf32>, memref<8xf32>
  }
  return
}

// -----

// What a call returns may be anything, except what was allocated since.
// CHECK-LABEL: func.func @returned(
//       CHECK: %[[R:.*]] = call @callee
//       CHECK: plim.dispatch @one ins(%{{.*}} : memref<8xf32>) outs(%[[R]] :
//       CHECK: plim.schedule {
//  CHECK-NEXT:   plim.dispatch @one ins(%[[R]] : memref<8xf32>) outs(%[[NEW:[a-z0-9_]+]] :
//  CHECK-NEXT:   plim.dispatch @one ins(%[[R]] : memref<8xf32>) outs(%{{.*}} :
//  CHECK-NEXT: {{^ *\}$}}
//       CHECK: plim.dispatch @one ins(%[[NEW]] : memref<8xf32>) outs(%[[OLD:[a-z0-9_]+]] :
func.func private @one() attributes {plim.dispatch_function}
func.func private @callee(memref<8xf32>) -> memref<8xf32>
func.func @returned() {
  %old = memref.alloc() : memref<8xf32>
  %r = call @callee(%old) : (memref<8xf32>) -> memref<8xf32>
  plim.dispatch @one ins(%old : memref<8xf32>) outs(%r : memref<8xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
  %new = memref.alloc() : memref<8xf32>
  %other = memref.alloc() : memref<8xf32>
  plim.dispatch @one ins(%r : memref<8xf32>) outs(%new : memref<8xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
  plim.dispatch @one ins(%r : memref<8xf32>) outs(%other : memref<8xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
  plim.dispatch @one ins(%new : memref<8xf32>) outs(%old : memref<8xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
  return
}

// -----

// Two chains: step by step. Scheduling again changes nothing.
// RUN: plimsoll-opt %s -plim-group-dispatches -plim-group-dispatches -split-input-file | FileCheck %s
// CHECK-LABEL: func.func @chains(
// CHECK-COUNT-2: plim.schedule {
//   CHECK-NOT: plim.schedule
//       CHECK: return
func.func private @one() attributes {plim.dispatch_function}
func.func @chains(%x: memref<8xf32>) -> (memref<8xf32>, memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  %c = memref.alloc() : memref<8xf32>
  %d = memref.alloc() : memref<8xf32>
  plim.dispatch @one ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
  plim.dispatch @one ins(%a : memref<8xf32>) outs(%b : memref<8xf32>)
  plim.dispatch @one ins(%x : memref<8xf32>) outs(%c : memref<8xf32>)
  plim.dispatch @one ins(%c : memref<8xf32>) outs(%d : memref<8xf32>)
  memref.dealloc %a : memref<8xf32>
  memref.dealloc %c : memref<8xf32>
  return %b, %d : memref<8xf32>, memref<8xf32>
}

// -----

// Kernels, dispatch functions and dispatches on tensors are left as they are.
// CHECK-NOT: plim.schedule
func.func private @one() attributes {plim.dispatch_function}
func.func @tensors(%x: tensor<8xf32>, %o: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %r = plim.dispatch @one ins(%x : tensor<8xf32>) outs(%o : tensor<8xf32>) -> tensor<8xf32>
  %s = plim.dispatch @one ins(%x : tensor<8xf32>) outs(%o : tensor<8xf32>) -> tensor<8xf32>
  return %r, %s : tensor<8xf32>, tensor<8xf32>
}
