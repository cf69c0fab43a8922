// RUN: plimsoll-opt %s -plim-lower-runtime -split-input-file | FileCheck %s

// A dispatch: a constant descriptor, the bindings as pointers, then scalars and extents as words.
// A failing one leaves the host code.
//   CHECK-DAG: llvm.func @plim_rt_dispatch(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
//   CHECK-DAG: llvm.func @plim_rt_allocate(!llvm.ptr, i64, !llvm.ptr, i64) -> !llvm.ptr
//   CHECK-DAG: llvm.func @plim_rt_release(!llvm.ptr, !llvm.ptr)
//   CHECK-DAG: llvm.func @plim_rt_scratch(!llvm.ptr, i64) -> !llvm.ptr
//   CHECK-DAG: llvm.func @plim_rt_fail(!llvm.ptr, i32, !llvm.ptr) -> i32
// CHECK-LABEL: llvm.mlir.global internal constant @plim.descriptor.d()
//   CHECK-DAG: %[[ENTRY:.*]] = llvm.mlir.addressof @plim.dispatch.d
//   CHECK-DAG: llvm.insertvalue %[[ENTRY]], %{{.*}}[0]
//   CHECK-DAG: %[[COUNT:.*]] = llvm.mlir.addressof @plim.count.d
//   CHECK-DAG: llvm.insertvalue %[[COUNT]], %{{.*}}[1]
//   CHECK-DAG: %[[LABEL:.*]] = llvm.mlir.addressof @[[NAME:plim.string.[0-9]+]]
//   CHECK-DAG: llvm.insertvalue %[[LABEL]], %{{.*}}[2]
//   CHECK-DAG: %[[COST:.*]] = llvm.mlir.constant(77 : i64)
//   CHECK-DAG: llvm.insertvalue %[[COST]], %{{.*}}[3]
//   CHECK-DAG: %[[PLACE:.*]] = llvm.mlir.addressof @[[LOCATION:plim.string.[0-9]+]]
//   CHECK-DAG: llvm.insertvalue %[[PLACE]], %{{.*}}[4]
//   CHECK-DAG: %[[BINDINGS:.*]] = llvm.mlir.constant(2 : i64)
//   CHECK-DAG: llvm.insertvalue %[[BINDINGS]], %{{.*}}[5]
//   CHECK-DAG: %[[ACCESSES:.*]] = llvm.mlir.addressof @[[ACCESS:plim.string.[0-9]+]]
//   CHECK-DAG: llvm.insertvalue %[[ACCESSES]], %{{.*}}[6]
//       CHECK: llvm.mlir.global internal constant @{{.*}}("d\00")
//       CHECK: llvm.mlir.global internal constant @{{.*}}("{{.*}}lower-runtime.mlir:{{[0-9]+}}:1: \00")
//       CHECK: llvm.mlir.global internal constant @{{.*}}("\01\02\00")
func.func private @d_workgroups(%a: memref<f32>, %o: memref<i16>, %s: f32, %n: index) -> index
    attributes {plim.workgroup_count = @d} {
  return %n : index
}
func.func private @d(%a: memref<f32> {plim.access = #plim.access<readonly>},
                     %o: memref<i16> {plim.access = #plim.access<writeonly>, plim.bytes = 8 : i64},
                     %s: f32, %n: index, %begin: index, %end: index)
    attributes {plim.dispatch_function, plim.cost = 77 : i64} {
  return
}

// The number of workgroups comes from the words alone.
// CHECK-LABEL: llvm.func @plim.count.d(
//  CHECK-SAME: %[[SCALARS:.*]]: !llvm.ptr) -> i64
//       CHECK: llvm.getelementptr %[[SCALARS]][0]
//       CHECK: llvm.getelementptr %[[SCALARS]][8]
//       CHECK: call @plim.body.d_workgroups(

// The entry unpacks pointers and words and returns the status of the context.
// CHECK-LABEL: llvm.func @plim.dispatch.d(
//  CHECK-SAME: %[[CONTEXT:.*]]: !llvm.ptr, %[[BINDINGS:.*]]: !llvm.ptr, %[[SCALARS:.*]]: !llvm.ptr, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64) -> i32
//       CHECK: llvm.getelementptr %[[BINDINGS]][0]
//       CHECK: llvm.getelementptr %[[BINDINGS]][8]
//       CHECK: llvm.getelementptr %[[SCALARS]][0]
//       CHECK: %[[BITS:.*]] = arith.trunci %{{.*}} : i64 to i32
//       CHECK: %[[S:.*]] = arith.bitcast %[[BITS]] : i32 to f32
//       CHECK: llvm.getelementptr %[[SCALARS]][8]
//   CHECK-DAG: %[[B:.*]] = arith.index_cast %[[BEGIN]]
//   CHECK-DAG: %[[E:.*]] = arith.index_cast %[[END]]
//       CHECK: call @plim.body.d(%[[CONTEXT]], %{{.*}}, %{{.*}}, %[[S]], %{{.*}}, %[[B]], %[[E]])
//       CHECK: llvm.getelementptr %[[CONTEXT]][8]
//       CHECK: %[[STATUS:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i32
//       CHECK: llvm.return %[[STATUS]]

// Bare pointers carry what is known of them.
// CHECK-LABEL: func.func private @plim.body.d(
//  CHECK-SAME: !llvm.ptr, %{{[^:]*}}: !llvm.ptr {llvm.align = 4 : i64, llvm.noalias, llvm.nofree, llvm.readonly},
//  CHECK-SAME: %{{[^:]*}}: !llvm.ptr {llvm.align = 2 : i64, llvm.dereferenceable = 8 : i64, llvm.noalias, llvm.nofree},
//  CHECK-SAME: f32, %{{[^:]*}}: index, %{{[^:]*}}: index, %{{[^:]*}}: index)

// Each view of the ABI is a pointer to data, one to extents and one to strides; the function's name is private, so
// that only entries are visible. A host function takes the views and fills in those of its results: of memory as soon as it has
// it, of the rest in the end. A dispatch reads what it needs of an argument out of the view again.
// CHECK-LABEL: llvm.func @plim.entry.host(
//  CHECK-SAME: %[[CONTEXT:.*]]: !llvm.ptr, %[[ARGUMENTS:.*]]: !llvm.ptr, %[[RESULTS:.*]]: !llvm.ptr) -> i32
//       CHECK: call @plim.body.host(%[[CONTEXT]], %[[ARGUMENTS]], %[[RESULTS]])
//       CHECK: llvm.return
// CHECK-LABEL: func.func private @plim.body.host(
//  CHECK-SAME: %[[CONTEXT:[^:]*]]: !llvm.ptr, %[[ARGUMENTS:[^:]*]]: !llvm.ptr, %[[RESULTS:[^:]*]]: !llvm.ptr)
//       CHECK: %[[WORDS:.*]] = llvm.mlir.constant(4 : i64)
//       CHECK: %[[FRAME:.*]] = llvm.alloca %[[WORDS]] x i64
//       CHECK: llvm.getelementptr %[[ARGUMENTS]][24]
//       CHECK: %[[FIRST:.*]] = llvm.mlir.constant(0 : i64)
//       CHECK: %[[MEMORY:.*]] = llvm.call @plim_rt_allocate_result(%[[CONTEXT]], %[[FIRST]], %{{.*}}, %[[FRAME]],
//       CHECK: %[[NULL:.*]] = llvm.icmp "eq" %[[MEMORY]]
//       CHECK: cf.cond_br %[[NULL]], ^[[NO_MEMORY:.*]], ^[[GO_ON:bb[0-9]+]]
//       CHECK: ^[[GO_ON]]:
//       CHECK: llvm.getelementptr %[[RESULTS]][0]
//       CHECK: llvm.getelementptr %[[RESULTS]][8]
//       CHECK: %[[DATA_AT:.*]] = llvm.getelementptr %[[ARGUMENTS]][0]
//       CHECK: llvm.load %[[DATA_AT]] : !llvm.ptr -> !llvm.ptr
//       CHECK: llvm.getelementptr %[[ARGUMENTS]][8]
//       CHECK: %[[S:.*]] = llvm.load %{{.*}} : !llvm.ptr -> f32
//       CHECK: arith.bitcast %[[S]] : f32 to i32
//       CHECK: %[[DESCRIPTOR:.*]] = llvm.mlir.addressof @plim.descriptor.d
//       CHECK: %[[SCALARS:.*]] = llvm.getelementptr %[[FRAME]][2]
//       CHECK: %[[STATUS:.*]] = llvm.call @plim_rt_dispatch(%[[CONTEXT]], %[[DESCRIPTOR]], %[[FRAME]], %[[SCALARS]])
//       CHECK: %[[FAILED:.*]] = arith.cmpi ne, %[[STATUS]]
//       CHECK: cf.cond_br %[[FAILED]]
//       CHECK: llvm.getelementptr %[[RESULTS]][24]
//       CHECK: return
func.func @host(%a: memref<?xf32>, %s: f32) -> (memref<4xi16>, index) {
  %o = plim.alloc() : memref<4xi16>
  plim.dispatch @d ins(%a, %s : memref<?xf32>, f32) outs(%o : memref<4xi16>)
  %i = arith.constant 3 : index
  return %o, %i : memref<4xi16>, index
}

// -----

// A schedule is one call: a constant with what waits for what, and an array with the three fields of
// each launch. Its failure leaves the host code as that of a single dispatch does.
//   CHECK-DAG: llvm.func @plim_rt_schedule(!llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
//   CHECK-DAG: llvm.mlir.global internal constant @plim.schedule.0.predecessors(dense<[0, 0, 3]> : tensor<3xi64>)
//   CHECK-DAG: llvm.mlir.global internal constant @plim.schedule.0()
//   CHECK-DAG: llvm.mlir.addressof @plim.schedule.0.predecessors
// CHECK-LABEL: func.func private @plim.body.at_once(
//  CHECK-SAME: %[[CONTEXT:[^:]*]]: !llvm.ptr
//   CHECK-NOT: plim.schedule
//       CHECK: %[[D:.*]] = llvm.mlir.addressof @plim.descriptor.d
//       CHECK: %[[E:.*]] = llvm.mlir.addressof @plim.descriptor.e
//       CHECK: %[[SCHEDULE:.*]] = llvm.mlir.addressof @plim.schedule.0 :
//   CHECK-DAG: llvm.store %[[D]],
//   CHECK-DAG: llvm.store %[[E]],
//       CHECK: %[[STATUS:.*]] = llvm.call @plim_rt_schedule(%[[CONTEXT]], %[[SCHEDULE]], %{{.*}})
//   CHECK-NOT: llvm.call @plim_rt_dispatch(
//       CHECK: %[[FAILED:.*]] = arith.cmpi ne, %[[STATUS]]
//       CHECK: cf.cond_br %[[FAILED]]
func.func private @d_workgroups(%o: memref<f32>) -> index attributes {plim.workgroup_count = @d} {
  %n = arith.constant 1 : index
  return %n : index
}
func.func private @d(%o: memref<f32> {plim.access = #plim.access<writeonly>}, %begin: index,
                     %end: index) attributes {plim.dispatch_function} {
  return
}
func.func private @e_workgroups(%o: memref<f32>, %s: f32) -> index
    attributes {plim.workgroup_count = @e} {
  %n = arith.constant 1 : index
  return %n : index
}
func.func private @e(%o: memref<f32> {plim.access = #plim.access<writeonly>}, %s: f32,
                     %begin: index, %end: index) attributes {plim.dispatch_function} {
  return
}
func.func @at_once(%a: memref<4xf32>, %b: memref<4xf32>, %s: f32) {
  plim.schedule {
    plim.dispatch @d outs(%a : memref<4xf32>)
    plim.dispatch @e ins(%s : f32) outs(%b : memref<4xf32>)
    plim.dispatch @d outs(%a : memref<4xf32>)
  } {predecessors = [array<i64>, array<i64>, array<i64: 0, 1>]}
  return
}

// -----

// An assertion that does not hold fails the call with its message.
//       CHECK: llvm.mlir.global internal constant @[[STRING:plim.string.[0-9]+]]("not so\00")
// CHECK-LABEL: func.func private @plim.body.asserts(
//  CHECK-SAME: %[[CONTEXT:[^:]*]]: !llvm.ptr,
//       CHECK: %[[C:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i1
//       CHECK: %[[BAD:.*]] = arith.xori %[[C]], %{{.*}}
//       CHECK: cf.cond_br %[[BAD]], ^[[FAIL:bb[0-9]+]], ^[[GO_ON:bb[0-9]+]]
//       CHECK: ^[[FAIL]]:
//       CHECK: %[[MESSAGE:.*]] = llvm.mlir.addressof @plim.string
//       CHECK: %[[CODE:.*]] = arith.constant 9 : i32
//       CHECK: llvm.call @plim_rt_fail(%[[CONTEXT]], %[[CODE]], %[[MESSAGE]])
//       CHECK: return
func.func @asserts(%c: i1) -> (i32, i32) {
  %i = arith.constant 3 : i32
  cf.assert %c, "not so"
  return %i, %i : i32, i32
}

// -----

// Planned allocations lie at their offset in the slab of the context, or in a pool of it.
// CHECK-LABEL: func.func private @plim.body.slab(
//  CHECK-SAME: %[[CONTEXT:[^:]*]]: !llvm.ptr
//   CHECK-DAG: %[[POOLS_AT:.*]] = llvm.getelementptr %[[CONTEXT]][40]
//   CHECK-DAG: %[[POOLS:.*]] = llvm.load %[[POOLS_AT]] : !llvm.ptr -> !llvm.ptr
//   CHECK-DAG: %[[POOL_AT:.*]] = llvm.getelementptr %[[POOLS]][8]
//   CHECK-DAG: %[[POOL:.*]] = llvm.load %[[POOL_AT]] : !llvm.ptr -> !llvm.ptr
//   CHECK-DAG: %[[SLAB_AT:.*]] = llvm.getelementptr %[[CONTEXT]][16]
//   CHECK-DAG: %[[SLAB:.*]] = llvm.load %[[SLAB_AT]] : !llvm.ptr -> !llvm.ptr
//       CHECK: %[[O1:.*]] = llvm.mlir.constant(64 : i64)
//       CHECK: llvm.getelementptr inbounds %[[SLAB]][%[[O1]]]
//       CHECK: %[[O2:.*]] = llvm.mlir.constant(32 : i64)
//       CHECK: llvm.getelementptr inbounds %[[POOL]][%[[O2]]]
module attributes {plim.pools = ["dram", "sram"]} {
func.func @slab(%o: memref<1xi8>) -> (i32, i32) {
  %context = plim.context : !plim.context
  %c0 = arith.constant 0 : index
  %a = plim.alloc() {scope = "global.workspace", bytes = 8 : i64, offset = 64 : i64} : memref<8xi8>
  %b = plim.alloc() {scope = "global.sram", bytes = 8 : i64, offset = 32 : i64} : memref<8xi8>
  %v = memref.load %a[%c0] : memref<8xi8>
  memref.store %v, %b[%c0] : memref<8xi8>
  memref.store %v, %o[%c0] : memref<1xi8>
  %i = arith.constant 3 : i32
  return %i, %i : i32, i32
}
}

// -----

// What lies at offset zero shares one address, the base's: its place is the largest of them, whichever comes first.
// CHECK-LABEL: func.func private @plim.body.at_zero(
//   CHECK-DAG: llvm.load %{{.*}} {plim.place = {bytes = array<i64: 0, 256>, memory = ""}} : !llvm.ptr -> !llvm.ptr
//   CHECK-DAG: llvm.load %{{.*}} {plim.place = {bytes = array<i64: 0, 128>, memory = "sram"}} : !llvm.ptr -> !llvm.ptr
//       CHECK: llvm.getelementptr {{.*}} {plim.place = {bytes = array<i64: 128, 160>, memory = ""}}
module attributes {plim.pools = ["dram", "sram"]} {
func.func @at_zero(%o: memref<1xi8>) -> (i32, i32) {
  %c0 = arith.constant 0 : index
  %large = plim.alloc() {scope = "global.workspace", bytes = 256 : i64, offset = 0 : i64} : memref<256xi8>
  %v = memref.load %large[%c0] : memref<256xi8>
  memref.dealloc %large : memref<256xi8>
  %small = plim.alloc() {scope = "global.workspace", bytes = 32 : i64, offset = 0 : i64} : memref<32xi8>
  %other = plim.alloc() {scope = "global.workspace", bytes = 32 : i64, offset = 128 : i64} : memref<32xi8>
  memref.store %v, %small[%c0] : memref<32xi8>
  memref.store %v, %other[%c0] : memref<32xi8>
  %first = plim.alloc() {scope = "global.sram", bytes = 16 : i64, offset = 0 : i64} : memref<16xi8>
  memref.store %v, %first[%c0] : memref<16xi8>
  %second = plim.alloc() {scope = "global.sram", bytes = 128 : i64, offset = 0 : i64} : memref<128xi8>
  memref.store %v, %second[%c0] : memref<128xi8>
  memref.store %v, %o[%c0] : memref<1xi8>
  %i = arith.constant 3 : i32
  return %i, %i : i32, i32
}
}

// -----

// A plan for more than a cache line rounds the base up.
// CHECK-LABEL: func.func private @plim.body.aligned(
//       CHECK: %[[ADDRESS:.*]] = llvm.ptrtoint
//       CHECK: %[[NEGATIVE:.*]] = llvm.sub %{{.*}}, %[[ADDRESS]]
//       CHECK: %[[MASK:.*]] = llvm.mlir.constant(255 : i64)
//       CHECK: %[[PADDING:.*]] = llvm.and %[[NEGATIVE]], %[[MASK]]
//       CHECK: llvm.getelementptr %{{.*}}[%[[PADDING]]]
func.func @aligned() -> (i32, i32) attributes {plim.workspace_alignment = 256 : i64} {
  %c0 = arith.constant 0 : index
  %x = arith.constant 3 : i8
  %a = plim.alloc() {scope = "global.workspace", bytes = 8 : i64, offset = 0 : i64} : memref<8xi8>
  memref.store %x, %a[%c0] : memref<8xi8>
  %i = arith.constant 3 : i32
  return %i, %i : i32, i32
}

// -----

// On the stack: memory of the frame, however deep the loop, with marks of its life. A kernel with
// nothing else needs no context.
// CHECK-LABEL: func.func @plim.raw.stack(
//  CHECK-SAME: %{{[^:]*}}: index)
//       CHECK: %[[A:.*]] = llvm.alloca %{{.*}} x i8 {alignment = 16 : i64}
//       CHECK: cf.br ^[[HEAD:.*]](
//       CHECK: ^[[HEAD]](
//       CHECK: llvm.intr.lifetime.start %[[A]]
//       CHECK: llvm.intr.lifetime.end %[[A]]
//       CHECK: cf.cond_br %{{.*}}, ^[[HEAD]](
func.func @stack(%n: index) attributes {plim.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = arith.constant 3.0 : f32
  cf.br ^head(%c0 : index)
^head(%i: index):
  %a = plim.alloc() {scope = "global.stack", bytes = 16 : i64} : memref<4xf32>
  memref.store %x, %a[%c0] : memref<4xf32>
  memref.dealloc %a : memref<4xf32>
  %next = arith.addi %i, %c1 : index
  %more = arith.cmpi slt, %next, %n : index
  cf.cond_br %more, ^head(%next : index), ^done
^done:
  return
}

// -----

// Memory in the frame is taken in the first block, before a call for scratch ends that, whichever comes first in the code.
// CHECK-LABEL: func.func private @plim.body.frame_first(
//       CHECK: llvm.alloca
//       CHECK: llvm.call @plim_rt_scratch
//   CHECK-NOT: llvm.alloca
//       CHECK: return
func.func private @frame_first_workgroups() -> index attributes {plim.workgroup_count = @frame_first} {
  %one = arith.constant 1 : index
  return %one : index
}
func.func private @frame_first(%x: f32, %begin: index, %end: index)
    attributes {plim.dispatch_function, plim.workspace_bytes = 80 : i64, plim.workspace_alignment = 16 : i64} {
  %c0 = arith.constant 0 : index
  %a = plim.alloc() {scope = "global.stack", bytes = 16 : i64} : memref<4xf32>
  %b = plim.alloc() {scope = "global.workspace", offset = 0 : i64, bytes = 80 : i64} : memref<20xf32>
  memref.store %x, %a[%c0] : memref<4xf32>
  memref.store %x, %b[%c0] : memref<20xf32>
  memref.dealloc %b : memref<20xf32>
  memref.dealloc %a : memref<4xf32>
  return
}

// -----

// In a dispatch function planned allocations share one piece of scratch; an allocation without a plan
// comes from the allocator.
// CHECK-LABEL: func.func private @plim.body.memory(
//  CHECK-SAME: %[[CONTEXT:[^:]*]]: !llvm.ptr, %[[N:[^:]*]]: index
//       CHECK: %[[BYTES:.*]] = llvm.mlir.constant(80 : i64)
//       CHECK: %[[SCRATCH:.*]] = llvm.call @plim_rt_scratch(%[[CONTEXT]], %[[BYTES]])
//       CHECK: llvm.icmp "eq" %[[SCRATCH]]
//   CHECK-NOT: plim_rt_scratch
//       CHECK: llvm.getelementptr inbounds %[[SCRATCH]]
//       CHECK: llvm.getelementptr inbounds %[[SCRATCH]]
//       CHECK: %[[WORD:.*]] = arith.index_cast %[[N]] : index to i64
//       CHECK: llvm.store %[[WORD]]
//       CHECK: %[[RANK:.*]] = llvm.mlir.constant(2 : i64)
//       CHECK: %[[SIZE:.*]] = llvm.mlir.constant(4 : i64)
//       CHECK: llvm.call @plim_rt_allocate(%[[CONTEXT]], %[[RANK]], %{{.*}}, %[[SIZE]])
//       CHECK: llvm.call @plim_rt_release(%[[CONTEXT]],
func.func private @memory_workgroups(%n: index) -> index
    attributes {plim.workgroup_count = @memory} {
  return %n : index
}
func.func private @memory(%n: index, %begin: index, %end: index)
    attributes {plim.dispatch_function, plim.workspace_bytes = 80 : i64} {
  %t = plim.alloc() {scope = "global.workspace", bytes = 16 : i64, offset = 0 : i64} : memref<4xf32>
  %s = plim.alloc() {scope = "workgroup", bytes = 16 : i64, offset = 64 : i64} : memref<4xf32>
  %u = plim.alloc(%n) {scope = "global.workspace"} : memref<?x3xf32>
  memref.dealloc %u : memref<?x3xf32>
  return
}

// -----

// A kernel is called through its raw pointer, without a context if it needs none. Its arguments may
// alias; its extents are taken from the views.
// CHECK-LABEL: llvm.func @plim.entry.plain(
//       CHECK: call @plim.raw.plain(%{{[^,]*}}, %{{[^,]*}}) : (!llvm.ptr, index) -> ()
// CHECK-LABEL: func.func @plim.raw.plain(
//  CHECK-SAME: !llvm.ptr {llvm.align = 8 : i64, llvm.dereferenceable = 16 : i64, llvm.nofree}, %{{[^:]*}}: index)
func.func @plain(%a: memref<f64> {plim.bytes = 16 : i64}, %n: index) attributes {plim.kernel} {
  return
}
// CHECK-LABEL: llvm.func @plim.entry.asserting(
//  CHECK-SAME: %[[CONTEXT:.*]]: !llvm.ptr, %[[ARGUMENTS:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr)
//       CHECK: %[[SIZES:.*]] = llvm.getelementptr %[[ARGUMENTS]][8]
//       CHECK: %[[AT:.*]] = llvm.load %[[SIZES]]
//       CHECK: llvm.getelementptr %[[AT]][8]
//       CHECK: call @plim.raw.asserting(%[[CONTEXT]], %{{.*}}, %{{.*}}, %{{.*}}) : (!llvm.ptr, !llvm.ptr, index, i1) -> f32
// CHECK-LABEL: func.func @plim.raw.asserting(
//  CHECK-SAME: !llvm.ptr, %{{[^:]*}}: !llvm.ptr
//  CHECK-SAME: plim.needs_context
func.func @asserting(%a: memref<f32> {plim.extents = array<i64: 1>}, %n: index, %c: i1) -> f32
    attributes {plim.kernel} {
  cf.assert %c, "kernel"
  %x = memref.load %a[] : memref<f32>
  return %x : f32
}

// -----

// A kernel with several buffers has a variant for calls in which they have no byte in common. The raw
// pointer has nobody who would know.
// CHECK-LABEL: llvm.func @plim.entry.several(
//  CHECK-SAME: %[[CONTEXT:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr, %[[RESULTS:.*]]: !llvm.ptr)
//       CHECK: %[[AT:.*]] = llvm.getelementptr %[[CONTEXT]][12]
//       CHECK: %[[FLAGS:.*]] = llvm.load %[[AT]] : !llvm.ptr -> i32
//       CHECK: %[[BIT:.*]] = arith.andi %[[FLAGS]], %c1_i32
//       CHECK: %[[APART:.*]] = arith.cmpi ne, %[[BIT]], %c0_i32
//       CHECK: cf.cond_br %[[APART]], ^[[YES:.*]], ^[[NO:.*]]
//       CHECK: ^[[YES]]:
//       CHECK: %[[X:.*]] = func.call @plim.apart.several(
//       CHECK: cf.br ^[[AFTER:.*]](%[[X]] : f32)
//       CHECK: ^[[NO]]:
//       CHECK: %[[Y:.*]] = func.call @plim.raw.several(
//       CHECK: cf.br ^[[AFTER]](%[[Y]] : f32)
//       CHECK: ^[[AFTER]](%[[RESULT:.*]]: f32):
//       CHECK: llvm.store %[[RESULT]]
// CHECK-LABEL: func.func @plim.raw.several(
//  CHECK-SAME: !llvm.ptr {llvm.align = 4 : i64, llvm.nofree}, %{{[^:]*}}: !llvm.ptr {llvm.align = 4 : i64, llvm.nofree})
// CHECK-LABEL: func.func private @plim.apart.several(
//  CHECK-SAME: !llvm.ptr {llvm.align = 4 : i64, llvm.noalias, llvm.nofree}, %{{[^:]*}}: !llvm.ptr {llvm.align = 4 : i64, llvm.noalias, llvm.nofree})
func.func @several(%a: memref<f32>, %b: memref<f32>) -> f32 attributes {plim.kernel} {
  %x = memref.load %a[] : memref<f32>
  memref.store %x, %b[] : memref<f32>
  return %x : f32
}

// -----

// Extents and strides that are dynamic come from the view, each from its own array.
// CHECK-LABEL: llvm.func @plim.entry.strided(
//  CHECK-SAME: %{{.*}}: !llvm.ptr, %[[ARGUMENTS:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr)
//       CHECK: %[[SIZES_AT:.*]] = llvm.getelementptr %[[ARGUMENTS]][8]
//       CHECK: %[[SIZES:.*]] = llvm.load %[[SIZES_AT]]
//       CHECK: llvm.getelementptr %[[SIZES]][8]
//       CHECK: %[[STRIDES_AT:.*]] = llvm.getelementptr %[[ARGUMENTS]][16]
//       CHECK: %[[STRIDES:.*]] = llvm.load %[[STRIDES_AT]]
//       CHECK: llvm.getelementptr %[[STRIDES]][0]
//       CHECK: call @plim.raw.strided(%{{.*}}, %{{.*}}, %{{.*}}) : (!llvm.ptr, index, index) -> ()
//       CHECK: func.func @plim.raw.strided(%{{[^:]*}}: !llvm.ptr {llvm.align = 4 : i64, llvm.nofree}, %
func.func @strided(%a: memref<f32> {plim.extents = array<i64: 1>, plim.strides = array<i64: 0>},
                   %n: index, %s: index) attributes {plim.kernel} {
  return
}
// In host code the buffer keeps its layout.
// CHECK-LABEL: llvm.func @plim.entry.strided_host(
//  CHECK-SAME: %{{.*}}: !llvm.ptr, %[[ARGUMENTS:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr)
//       CHECK: %[[STRIDES_AT:.*]] = llvm.getelementptr %[[ARGUMENTS]][16]
//       CHECK: %[[STRIDES:.*]] = llvm.load %[[STRIDES_AT]]
//       CHECK: %[[S_AT:.*]] = llvm.getelementptr %[[STRIDES]][0]
//       CHECK: %[[S:.*]] = llvm.load %[[S_AT]]
//       CHECK: llvm.insertvalue %[[S]], %{{.*}}[4, 0]
//       CHECK: %[[THREE:.*]] = llvm.mlir.constant(3 : i64)
//       CHECK: llvm.insertvalue %[[THREE]], %{{.*}}[4, 1]
func.func @strided_host(%a: memref<2x2xf32, strided<[?, 3], offset: ?>>) {
  return
}

// -----

// A call passes the context on and leaves when the callee failed.
// CHECK-LABEL: func.func private @plim.body.caller(
//  CHECK-SAME: %[[CONTEXT:[^:]*]]: !llvm.ptr
//       CHECK: call @plim.body.callee(%[[CONTEXT]], %{{.*}})
//       CHECK: llvm.getelementptr %[[CONTEXT]][8]
//       CHECK: %[[STATUS:.*]] = llvm.load
//       CHECK: %[[FAILED:.*]] = arith.cmpi ne, %[[STATUS]]
//       CHECK: cf.cond_br %[[FAILED]]
func.func @caller(%a: memref<4xf32>) -> (i32, i32) {
  %r:2 = call @callee(%a) : (memref<4xf32>) -> (i32, i32)
  return %r#0, %r#1 : i32, i32
}
// Private host code has no entry.
// CHECK-NOT: plim.entry.callee
func.func private @callee(%a: memref<4xf32>) -> (i32, i32) {
  %i = arith.constant 3 : i32
  return %i, %i : i32, i32
}

// A function that may come back to itself asks first whether the stack has room.
// CHECK-LABEL: func.func private @plim.body.countdown(
//  CHECK-SAME:   %[[CONTEXT:.*]]: !llvm.ptr, %{{.*}}: i64) -> i64
//       CHECK:   %[[MESSAGE:.*]] = llvm.mlir.addressof @plim.string
//       CHECK:   %[[STATUS:.*]] = llvm.call @plim_rt_recurse(%[[CONTEXT]], %[[MESSAGE]])
//       CHECK:   %[[FAILED:.*]] = arith.cmpi ne, %[[STATUS]]
//       CHECK:   cf.cond_br %[[FAILED]]
//       CHECK:   call @plim.body.countdown(%[[CONTEXT]],
func.func private @countdown(%n: i64) -> i64 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %stop = arith.cmpi sle, %n, %zero : i64
  cf.cond_br %stop, ^end(%n : i64), ^more
^more:
  %m = arith.subi %n, %one : i64
  %r = func.call @countdown(%m) : (i64) -> i64
  cf.br ^end(%r : i64)
^end(%v: i64):
  return %v : i64
}
func.func @from(%n: i64) -> i64 attributes {plim.kernel} {
  %r = func.call @countdown(%n) : (i64) -> i64
  return %r : i64
}

// -----

// A variable lies where the context says, so a kernel that uses one takes the context.
// CHECK-LABEL: func.func @plim.raw.count(
//  CHECK-SAME: %[[CONTEXT:.*]]: !llvm.ptr
//       CHECK: %[[FIELD:.*]] = llvm.getelementptr %[[CONTEXT]][56]
//       CHECK: %[[BASES:.*]] = llvm.load %[[FIELD]]
//       CHECK: %[[SECOND:.*]] = llvm.getelementptr %[[BASES]][8]
//       CHECK: llvm.load %[[SECOND]]
//   CHECK-NOT: memref.global
module attributes {plim.data = [
    {kind = "variable", name = "other", type = memref<2xi8>},
    {kind = "variable", name = "v", type = memref<i64>}]} {
  memref.global @plim.data.other : memref<2xi8>
  memref.global @plim.data.v : memref<i64>
  func.func @count() -> i64 attributes {plim.kernel} {
    %v = memref.get_global @plim.data.v : memref<i64>
    %old = memref.load %v[] : memref<i64>
    memref.store %old, %v[] : memref<i64>
    return %old : i64
  }
}

// -----

// A look whether the call was stopped, in a way that LLVM does not move. What is found is left for callers.
// CHECK-LABEL: func.func private @plim.body.polls(
//  CHECK-SAME: %[[CONTEXT:[^:]*]]: !llvm.ptr
//       CHECK: %[[FIELD:.*]] = llvm.getelementptr %[[CONTEXT]][64]
//       CHECK: %[[PLACE:.*]] = llvm.load %[[FIELD]] invariant {alignment = 8 : i64}
//       CHECK: %[[STATUS:.*]] = llvm.load %[[PLACE]] atomic monotonic {alignment = 4 : i64}
//       CHECK: %[[FAILED:.*]] = arith.cmpi ne, %[[STATUS]]
//       CHECK: cf.cond_br %[[FAILED]], ^[[STOPPED:.*]], ^[[ON:.*]]
//       CHECK: ^[[ON]]:
//       CHECK: ^[[STOPPED]]:
//       CHECK: %[[OWN:.*]] = llvm.getelementptr %[[CONTEXT]][8]
//       CHECK: llvm.store %[[STATUS]], %[[OWN]]
//       CHECK: return
func.func @polls(%n: index) -> index {
  cf.br ^again(%n : index)
^again(%x: index):
  plim.poll
  %y = arith.shrui %x, %n : index
  %holds = arith.cmpi ne, %y, %n : index
  cf.cond_br %holds, ^again(%y : index), ^end
^end:
  return %y : index
}

// -----

// A kernel that only looks and divides keeps its raw pointer: it has a context of no call, and zero is the result
// where the kernel ends early. One whose author asserts something does not.
// CHECK: llvm.mlir.global internal constant @plim.no_call()
// CHECK:   llvm.mlir.zero
// CHECK:   %[[ITSELF:.*]] = llvm.mlir.addressof @plim.no_call
// CHECK:   llvm.insertvalue %[[ITSELF]], %{{.*}}[1]
// CHECK-LABEL: llvm.func @plim.entry.kernel(
//  CHECK-SAME: %[[CONTEXT:[^:]*]]: !llvm.ptr
//       CHECK: call @plim.body.kernel(%[[CONTEXT]]
// CHECK-LABEL: func.func @plim.raw.kernel(
//  CHECK-SAME: %[[N:.*]]: index) -> index
//       CHECK: %[[NONE:.*]] = llvm.mlir.addressof @plim.no_call
//       CHECK: %[[R:.*]] = call @plim.body.kernel(%[[NONE]], %[[N]])
//       CHECK: return %[[R]]
// CHECK-LABEL: func.func private @plim.body.kernel(
//       CHECK: llvm.call @plim_rt_fail
//       CHECK: %[[ZERO:.*]] = arith.constant 0 : index
//       CHECK: return %[[ZERO]]
// CHECK-LABEL: func.func @plim.raw.asserts(
//  CHECK-SAME: !llvm.ptr, %{{.*}}: i1)
func.func @kernel(%n: index) -> index attributes {plim.kernel} {
  %c0 = arith.constant 0 : index
  plim.poll
  %ok = arith.cmpi ne, %n, %c0 : index
  cf.assert %ok, "zero" {plim.implied}
  return %n : index
}
func.func @asserts(%ok: i1) attributes {plim.kernel} {
  cf.assert %ok, "no"
  return
}
