// RUN: plimsoll-opt %s -plim-plan-memory -split-input-file | FileCheck %s

// Buffers that live at the same time stand side by side, each at a multiple of 64 bytes.
// CHECK-LABEL: func.func @overlapping(
//  CHECK-SAME: plim.workspace_bytes = 131 : i64
//       CHECK: %[[CONTEXT:.*]] = plim.context : !plim.context
//       CHECK: %[[SLAB:.*]] = plim.workspace %[[CONTEXT]] : memref<?xi8>
//       CHECK: %[[BIG:.*]] = arith.constant 0 : index
//       CHECK: memref.view %[[SLAB]][%[[BIG]]][] {plim.reason = "host", plim.scope = "global.workspace"} : memref<?xi8> to memref<32xf32>
//       CHECK: %[[SMALL:.*]] = arith.constant 128 : index
//       CHECK: memref.view %[[SLAB]][%[[SMALL]]][] : memref<?xi8> to memref<3xi8>
//   CHECK-NOT: memref.alloc
//   CHECK-NOT: memref.dealloc
//       CHECK: return
func.func @overlapping(%x: memref<32xf32>, %y: memref<3xi8>) {
  %a = memref.alloc() {plim.scope = "global.workspace", plim.reason = "host"} : memref<32xf32>
  %b = memref.alloc() : memref<3xi8>
  memref.copy %x, %a : memref<32xf32> to memref<32xf32>
  memref.copy %y, %b : memref<3xi8> to memref<3xi8>
  memref.dealloc %a : memref<32xf32>
  memref.dealloc %b : memref<3xi8>
  return
}

// -----

// One after the other they share memory.
// CHECK-LABEL: func.func @in_turn(
//  CHECK-SAME: plim.workspace_bytes = 128 : i64
//       CHECK: memref.view
//       CHECK: memref.view
func.func @in_turn(%x: memref<32xf32>) {
  %a = memref.alloc() : memref<32xf32>
  memref.copy %x, %a : memref<32xf32> to memref<32xf32>
  memref.dealloc %a : memref<32xf32>
  %b = memref.alloc() : memref<32xf32>
  memref.copy %x, %b : memref<32xf32> to memref<32xf32>
  memref.dealloc %b : memref<32xf32>
  return
}

// -----

// One that lives across a loop keeps apart from those inside of it.
// CHECK-LABEL: func.func @around_loop(
//  CHECK-SAME: plim.workspace_bytes = 256 : i64
//       CHECK: memref.view
//       CHECK: scf.for
//       CHECK: memref.view
func.func @around_loop(%x: memref<32xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<32xf32>
  scf.for %i = %c0 to %n step %c1 {
    %b = memref.alloc() : memref<32xf32>
    memref.copy %a, %b : memref<32xf32> to memref<32xf32>
    memref.copy %b, %x : memref<32xf32> to memref<32xf32>
    memref.dealloc %b : memref<32xf32>
  }
  memref.dealloc %a : memref<32xf32>
  return
}

// -----

// Unknown size, no release, a release in another block: these stay with the allocator, and without
// any planned buffer there is no slab.
// CHECK-LABEL: func.func @unplanned(
//   CHECK-NOT: plim.workspace
// CHECK-COUNT-3: memref.alloc
//       CHECK: return
func.func @unplanned(%n: index, %c: i1) -> memref<4xf32> {
  %dynamic = memref.alloc(%n) : memref<?xf32>
  memref.dealloc %dynamic : memref<?xf32>
  %result = memref.alloc() : memref<4xf32>
  %elsewhere = memref.alloc() : memref<4xf32>
  scf.if %c {
    memref.dealloc %elsewhere : memref<4xf32>
  }
  return %result : memref<4xf32>
}

// -----

// An index takes eight bytes, an i1 one; an empty buffer is no trouble.
// CHECK-LABEL: func.func @sizes(
//  CHECK-SAME: plim.workspace_bytes = 96 : i64
// CHECK-COUNT-3: memref.view
func.func @sizes() {
  %a = memref.alloc() : memref<8xindex>
  %b = memref.alloc() : memref<32xi1>
  %c = memref.alloc() : memref<0xf32>
  memref.dealloc %a : memref<8xindex>
  memref.dealloc %b : memref<32xi1>
  memref.dealloc %c : memref<0xf32>
  return
}

// -----

// A buffer of a branch lives in the branch.
// CHECK-LABEL: func.func @branches(
//  CHECK-SAME: plim.workspace_bytes = 64 : i64
//       CHECK: scf.if
//       CHECK: memref.view
//       CHECK: else
//       CHECK: memref.view
func.func @branches(%c: i1) {
  scf.if %c {
    %a = memref.alloc() : memref<16xf32>
    memref.dealloc %a : memref<16xf32>
  } else {
    %b = memref.alloc() : memref<16xf32>
    memref.dealloc %b : memref<16xf32>
  }
  return
}

// -----

// A function that another one calls would share the slab with its caller: it has none.
// CHECK-LABEL: func.func @recursive(
//   CHECK-NOT: plim.workspace
//       CHECK: memref.alloc()
func.func @recursive(%c: i1) {
  %a = memref.alloc() : memref<16xf32>
  scf.if %c {
    func.call @recursive(%c) : (i1) -> ()
  }
  memref.dealloc %a : memref<16xf32>
  return
}

// -----

// A complex number takes two of its parts, an odd width the next power of two.
// CHECK-LABEL: func.func @odd_elements(
//  CHECK-SAME: plim.workspace_bytes = 84 : i64
// CHECK-COUNT-2: memref.view
//   CHECK-NOT: memref.alloc
//       CHECK: return
func.func @odd_elements() {
  %complex = memref.alloc() : memref<4xcomplex<f32>>
  %odd = memref.alloc() : memref<5xi24>
  memref.dealloc %complex : memref<4xcomplex<f32>>
  memref.dealloc %odd : memref<5xi24>
  return
}
