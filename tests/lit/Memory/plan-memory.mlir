// RUN: plimsoll-opt %s -plim-infer-accessors -plim-place-allocations=policy=workspace \
// RUN:   -plim-plan-memory -split-input-file | FileCheck %s
// RUN: plimsoll-opt %s -plim-infer-accessors -plim-place-allocations=policy=heap \
// RUN:   -plim-plan-memory=policy=heap -split-input-file | FileCheck %s --check-prefix=HEAP

// Under heap nothing but pools is planned, and what the allocator cannot align.
// HEAP-NOT: plim.workspace_bytes
// HEAP-NOT: offset
//     HEAP: func.func @aligned({{.*}}plim.workspace_bytes = 224 : i64
//     HEAP: plim.alloc() {{.*}}offset = 0 : i64{{.*}} : memref<8xf32>
// HEAP-NOT: offset
//     HEAP: func.func @in_pools(
// HEAP-SAME: plim.pool_bytes = {dram = 64 : i64, sram = 192 : i64}
// HEAP-NOT: plim.workspace_bytes

module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu">>} {

// Buffers that live at the same time stand side by side, each at a multiple of 64 bytes.
// CHECK-LABEL: func.func @overlapping(
//  CHECK-SAME: plim.workspace_alignment = 64 : i64, plim.workspace_bytes = 131 : i64
//       CHECK: plim.alloc() {{.*}}lifetime = array<i64: 1, 6>, offset = 0 : i64{{.*}}scope = "global.workspace"} : memref<32xf32>
//       CHECK: plim.alloc() {{.*}}lifetime = array<i64: 2, 7>, offset = 128 : i64{{.*}}} : memref<3xi8>
//   CHECK-NOT: memref.dealloc
//       CHECK: return
func.func @overlapping(%x: memref<32xf32>, %y: memref<3xi8>) {
  %a = memref.alloc() : memref<32xf32>
  %b = memref.alloc() : memref<3xi8>
  memref.copy %x, %a : memref<32xf32> to memref<32xf32>
  memref.copy %y, %b : memref<3xi8> to memref<3xi8>
  memref.dealloc %a : memref<32xf32>
  memref.dealloc %b : memref<3xi8>
  return
}

// One after the other they share memory.
// CHECK-LABEL: func.func @in_turn(
//  CHECK-SAME: plim.workspace_bytes = 128 : i64
// CHECK-COUNT-2: offset = 0 : i64
func.func @in_turn(%x: memref<32xf32>) {
  %a = memref.alloc() : memref<32xf32>
  memref.copy %x, %a : memref<32xf32> to memref<32xf32>
  memref.dealloc %a : memref<32xf32>
  %b = memref.alloc() : memref<32xf32>
  memref.copy %x, %b : memref<32xf32> to memref<32xf32>
  memref.dealloc %b : memref<32xf32>
  return
}

// One that lives across a loop keeps apart from those inside of it.
// CHECK-LABEL: func.func @around_loop(
//  CHECK-SAME: plim.workspace_bytes = 256 : i64
//       CHECK: offset = 0 : i64
//       CHECK: scf.for
//       CHECK: offset = 128 : i64
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

// Unknown size, a result, a release in another block: these stay with the allocator, and without any
// planned buffer there is no slab.
// CHECK-LABEL: func.func @unplanned(
//   CHECK-NOT: workspace_bytes
//   CHECK-NOT: offset
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

// A dynamic size with a bound is planned with the bound.
// CHECK-LABEL: func.func @bounded(
//  CHECK-SAME: plim.workspace_bytes = 40 : i64
//       CHECK: plim.alloc(%{{.*}}) {{.*}}bytes = 40 : i64{{.*}}offset = 0 : i64
func.func @bounded(%n: index) {
  %a = plim.alloc(%n) {max_bytes = 40 : i64} : memref<?xf32>
  memref.dealloc %a : memref<?xf32>
  return
}

// An index takes eight bytes, an i1 one, an odd width the next power of two, a complex number two of
// its parts; an empty buffer is no trouble.
// CHECK-LABEL: func.func @sizes(
//   CHECK-DAG: bytes = 64 : i64{{.*}} : memref<8xindex>
//   CHECK-DAG: bytes = 32 : i64{{.*}} : memref<32xi1>
//   CHECK-DAG: bytes = 20 : i64{{.*}} : memref<5xi24>
//   CHECK-DAG: bytes = 32 : i64{{.*}} : memref<4xcomplex<f32>>
//   CHECK-DAG: bytes = 0 : i64{{.*}} : memref<0xf32>
func.func @sizes() {
  %a = memref.alloc() : memref<8xindex>
  %b = memref.alloc() : memref<32xi1>
  %c = memref.alloc() : memref<0xf32>
  %d = memref.alloc() : memref<5xi24>
  %e = memref.alloc() : memref<4xcomplex<f32>>
  memref.dealloc %a : memref<8xindex>
  memref.dealloc %b : memref<32xi1>
  memref.dealloc %c : memref<0xf32>
  memref.dealloc %d : memref<5xi24>
  memref.dealloc %e : memref<4xcomplex<f32>>
  return
}

// A buffer of a branch lives in the branch.
// CHECK-LABEL: func.func @branches(
//  CHECK-SAME: plim.workspace_bytes = 64 : i64
//       CHECK: scf.if
//       CHECK: offset = 0 : i64
//       CHECK: else
//       CHECK: offset = 0 : i64
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

// A function that another one calls would share the slab with its caller: it has none.
// CHECK-LABEL: func.func @recursive(
//   CHECK-NOT: offset
//       CHECK: return
func.func @recursive(%c: i1) {
  %a = memref.alloc() : memref<16xf32>
  scf.if %c {
    func.call @recursive(%c) : (i1) -> ()
  }
  memref.dealloc %a : memref<16xf32>
  return
}

// The scratch of a dispatch function is planned in the same way.
// CHECK-LABEL: func.func private @scratch(
//  CHECK-SAME: plim.workspace_bytes = 64 : i64
// CHECK-COUNT-2: offset = 0 : i64
func.func private @scratch() attributes {plim.dispatch_function} {
  %a = memref.alloc() : memref<16xf32>
  memref.dealloc %a : memref<16xf32>
  %b = memref.alloc() : memref<16xf32>
  memref.dealloc %b : memref<16xf32>
  return
}

// More than a cache line: the offset keeps it, and the slab has room to round its base up.
// CHECK-LABEL: func.func @aligned(
//  CHECK-SAME: plim.workspace_alignment = 256 : i64, plim.workspace_bytes = 452 : i64
//       CHECK: offset = 0 : i64
//       CHECK: offset = 256 : i64
func.func @aligned() {
  %a = memref.alloc() {alignment = 256 : i64} : memref<8xf32>
  %b = memref.alloc() : memref<4xi8>
  memref.dealloc %a : memref<8xf32>
  memref.dealloc %b : memref<4xi8>
  return
}
}

// -----

// Each pool has a plan of its own, beside the slab's; `plim.pools` orders them.
//       CHECK: module attributes {{.*}}plim.pools = ["sram", "dram"]
// CHECK-LABEL: func.func @in_pools(
//  CHECK-SAME: plim.pool_bytes = {dram = 64 : i64, sram = 192 : i64}
//  CHECK-SAME: plim.workspace_bytes = 64 : i64
//       CHECK: offset = 128 : i64{{.*}}scope = "global.sram"
//       CHECK: offset = 0 : i64{{.*}}scope = "global.sram"
//       CHECK: offset = 0 : i64{{.*}}scope = "global.dram"
//       CHECK: offset = 0 : i64{{.*}}scope = "global.workspace"
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu">,
    "plim.memories" = #dlti.target_device_spec<
       "dram" = #dlti.map<"kind" = "host", "accessible_by" = ["host"]>,
       "sram" = #dlti.map<"kind" = "device", "bytes" = 4096 : i64, "accessible_by" = ["host"]>>>} {
func.func @in_pools() {
  %a = plim.alloc() {scope = "global.sram"} : memref<16xf32>
  %b = plim.alloc() {scope = "global.sram"} : memref<32xf32>
  %c = plim.alloc() {scope = "global.dram"} : memref<16xf32>
  %d = plim.alloc() : memref<16xf32>
  memref.dealloc %a : memref<16xf32>
  memref.dealloc %b : memref<32xf32>
  memref.dealloc %c : memref<16xf32>
  memref.dealloc %d : memref<16xf32>
  return
}
}

// -----

module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu">>} {

func.func private @d() attributes {plim.dispatch_function}

// Buffers of dispatches that may run at the same time are apart.
// CHECK-LABEL: func.func @at_once(
//       CHECK: plim.alloc() {{.*}}offset = [[FIRST:0|64]] : i64
//   CHECK-NOT: offset = [[FIRST]] : i64
//       CHECK: return
func.func @at_once() {
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  plim.schedule {
    plim.dispatch @d outs(%a : memref<4xf32>)
    plim.dispatch @d outs(%b : memref<4xf32>)
  }
  memref.dealloc %a : memref<4xf32>
  memref.dealloc %b : memref<4xf32>
  return
}

// Sizes that follow from the arguments: the call plans the whole slab. One that comes from data stays
// with the allocator.
// CHECK-LABEL: func.func @late(
//  CHECK-SAME: plim.call_plan = {buffers = [
//  CHECK-SAME:   {bytes = 32 : i64, extents = array<i64: 0>, lifetime = array<i64: {{[0-9]+}}, {{[0-9]+}}>}
//  CHECK-SAME:   {bytes = 4 : i64, extents = array<i64: 0, 1>, lifetime = array<i64: {{[0-9]+}}, {{[0-9]+}}>}
//  CHECK-SAME:   {bytes = 16 : i64, extents = array<i64>, lifetime = array<i64: {{[0-9]+}}, {{[0-9]+}}>}
//  CHECK-SAME: function = @late.extents_0}
//   CHECK-NOT: plim.workspace_bytes
//       CHECK: plim.alloc(%{{.*}}) {{.*}}slot = 0 : i64} : memref<?x8xf32>
//       CHECK: plim.alloc(%{{.*}}) {{.*}}slot = 1 : i64} : memref<?x?xf32>
//       CHECK: plim.alloc() {{.*}}slot = 2 : i64} : memref<4xf32>
//       CHECK: plim.alloc(%{{.*}})
//   CHECK-NOT: slot
//       CHECK: memref.dealloc
//   CHECK-NOT: memref.dealloc
//       CHECK: return
// CHECK-LABEL: func.func @late.extents_0(
//  CHECK-SAME: %[[X:.*]]: memref<?xf32>, %[[I:.*]]: memref<1xindex>, %[[N:.*]]: index) -> (index, index)
//  CHECK-SAME: attributes {plim.extents_function}
//   CHECK-DAG: %[[D:.*]] = memref.dim %[[X]]
//   CHECK-DAG: %[[TWICE:.*]] = arith.addi %[[N]], %[[N]]
//   CHECK-NOT: memref.load
//       CHECK: return %[[D]], %[[TWICE]]
func.func private @late.extents()
func.func @late(%x: memref<?xf32>, %i: memref<1xindex>, %n: index) {
  %c0 = arith.constant 0 : index
  %d = memref.dim %x, %c0 : memref<?xf32>
  %a = memref.alloc(%d) : memref<?x8xf32>
  plim.dispatch @d outs(%a : memref<?x8xf32>)
  memref.dealloc %a : memref<?x8xf32>
  %twice = arith.addi %n, %n : index
  %b = memref.alloc(%d, %twice) : memref<?x?xf32>
  plim.dispatch @d outs(%b : memref<?x?xf32>)
  memref.dealloc %b : memref<?x?xf32>
  %s = memref.alloc() : memref<4xf32>
  plim.dispatch @d outs(%s : memref<4xf32>)
  memref.dealloc %s : memref<4xf32>
  %loaded = memref.load %i[%c0] : memref<1xindex>
  %c = memref.alloc(%loaded) : memref<?xf32>
  plim.dispatch @d outs(%c : memref<?xf32>)
  memref.dealloc %c : memref<?xf32>
  return
}

// A kernel and a size that comes from data alone: nothing is left to the call.
// CHECK-LABEL: func.func @kernel(
//   CHECK-NOT: plim.call_plan
// CHECK-LABEL: func.func @data(
//   CHECK-NOT: plim.call_plan
//       CHECK: offset = 0 : i64
//   CHECK-NOT: .extents
func.func @kernel(%n: index) attributes {plim.kernel} {
  %a = memref.alloc(%n) : memref<?xf32>
  memref.dealloc %a : memref<?xf32>
  return
}
func.func @data(%i: memref<1xindex>) {
  %c0 = arith.constant 0 : index
  %loaded = memref.load %i[%c0] : memref<1xindex>
  %a = memref.alloc(%loaded) : memref<?xf32>
  memref.dealloc %a : memref<?xf32>
  %b = memref.alloc() : memref<4xf32>
  plim.dispatch @d outs(%b : memref<4xf32>)
  memref.dealloc %b : memref<4xf32>
  return
}
}
