// Pools and who reaches them: no annotation is needed to keep a buffer of an accelerator off the stack.
// RUN: plimsoll-opt %s -plim-infer-accessors -plim-place-allocations | FileCheck %s
// RUN: plimsoll-opt %s -plim-infer-accessors -plim-place-allocations=device-memories=vram | FileCheck %s --check-prefix=BROUGHT

module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu",
        "plim.max_stack_alloca_bytes" = 1024 : i64, "plim.stack_budget_bytes" = 4096 : i64>,
    "gpu" = #dlti.target_device_spec<"plim.kind" = "cuda">,
    "plim.memories" = #dlti.target_device_spec<
       "dram" = #dlti.map<"kind" = "host", "accessible_by" = ["host"]>,
       "sram" = #dlti.map<"kind" = "device", "bytes" = 192 : i64, "accessible_by" = ["host"]>,
       "shared" = #dlti.map<"kind" = "unified", "accessible_by" = ["host", "gpu"]>,
       "vram" = #dlti.map<"kind" = "device", "accessible_by" = ["gpu"]>>>} {

func.func private @d() attributes {plim.dispatch_function}
func.func private @outside(memref<4xf32>)

// The workspace may be in memory that both reach.
// CHECK-LABEL: func.func @both(
//       CHECK: plim.alloc() {accessors = ["gpu", "host"], bytes = 16 : i64, candidates = ["workspace", "shared"], {{.*}}scope = "global.workspace"}
//       CHECK: plim.alloc() {accessors = ["gpu"], bytes = 16 : i64, candidates = ["vram"], {{.*}}scope = "global.vram"}
func.func @both(%x: f32) {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<4xf32>
  memref.store %x, %a[%c0] : memref<4xf32>
  plim.dispatch @d outs(%a : memref<4xf32>) {plim.device = "gpu"}
  memref.dealloc %a : memref<4xf32>
  %b = plim.alloc() {scope = "global.vram"} : memref<4xf32>
  plim.dispatch @d outs(%b : memref<4xf32>) {plim.device = "gpu"}
  memref.dealloc %b : memref<4xf32>
  return
}

// Under policy stack, too: in a kernel, of an external function, and of what the author says.
// CHECK-LABEL: func.func @kernel(
//       CHECK: plim.alloc() {accessors = ["external"], {{.*}}level = "analysis", reason = "functions outside of the module use it", scope = "global.workspace"}
//       CHECK: plim.alloc() {accessors = ["gpu", "host"], {{.*}}reason = "device 'gpu' cannot reach the stack of a thread", scope = "global.workspace"}
func.func @kernel(%x: f32) attributes {plim.kernel} {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<4xf32>
  func.call @outside(%a) : (memref<4xf32>) -> ()
  memref.dealloc %a : memref<4xf32>
  %b = plim.alloc() {accessors = ["gpu"]} : memref<4xf32>
  memref.store %x, %b[%c0] : memref<4xf32>
  memref.dealloc %b : memref<4xf32>
  return
}

// The order of candidates is preference; a pool takes what fits at the same time.
// CHECK-LABEL: func.func @preferred(
//       CHECK: plim.alloc() {{.*}}candidates = ["sram", "dram"], level = "allocation", reason = "the author prefers it", scope = "global.sram"} : memref<32xf32>
//       CHECK: plim.alloc() {{.*}}candidates = ["dram"], level = "target", reason = "not in 'sram': with this allocation it would need 384 of its 192 bytes, 192 too many", scope = "global.dram"} : memref<33xf32>
//       CHECK: plim.alloc() {{.*}}level = "target", reason = "not in 'nowhere': target '{{.*}}' has no such memory; not in 'sram': with this allocation it would need {{.*}}", scope = "global.dram"} : memref<64xf32>
//       CHECK: plim.alloc() {{.*}}scope = "global.sram"} : memref<16xf32>
//       CHECK: plim.alloc() {{.*}}candidates = ["stack", "workspace", "sram"], {{.*}}scope = "global.stack"} : memref<16xf32>
//       CHECK: plim.alloc(%{{.*}}) {{.*}}bytes = 64 : i64, {{.*}}scope = "global.sram"} : memref<?xf32>
func.func @preferred(%n: index, %x: f32) attributes {plim.kernel} {
  %c0 = arith.constant 0 : index
  %a = plim.alloc() {candidate_pools = ["sram", "dram"]} : memref<32xf32>
  %b = plim.alloc() {candidate_pools = ["sram", "dram"]} : memref<33xf32>
  memref.store %x, %a[%n] : memref<32xf32>
  memref.store %x, %a[%n] : memref<32xf32>
  memref.store %x, %a[%n] : memref<32xf32>
  %f = plim.alloc() {candidate_pools = ["nowhere", "sram", "dram"]} : memref<64xf32>
  memref.dealloc %f : memref<64xf32>
  %c = plim.alloc() {scope = "global.sram"} : memref<16xf32>
  memref.dealloc %c : memref<16xf32>
  memref.dealloc %a : memref<32xf32>
  memref.dealloc %b : memref<33xf32>
  %d = plim.alloc() {candidate_pools = ["stack", "workspace", "sram"]} : memref<16xf32>
  memref.dealloc %d : memref<16xf32>
  %e = plim.alloc(%n) {scope = "global.sram", max_bytes = 64 : i64} : memref<?xf32>
  memref.dealloc %e : memref<?xf32>
  return
}

// Memory that a device brings takes what nobody else touches, as far as its size is known.
//   CHECK-LABEL: func.func @brought(
// BROUGHT-LABEL: func.func @brought(
//       BROUGHT: plim.alloc() {accessors = ["gpu"], {{.*}}reason = "nobody else than gpu uses it", scope = "global.vram"}
//       BROUGHT: plim.alloc() {accessors = ["gpu", "host"], {{.*}}scope = "global.workspace"}
func.func @brought(%x: f32) {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<4xf32>
  plim.dispatch @d outs(%a : memref<4xf32>) {plim.device = "gpu"}
  memref.dealloc %a : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  memref.store %x, %b[%c0] : memref<4xf32>
  plim.dispatch @d outs(%b : memref<4xf32>) {plim.device = "gpu"}
  memref.dealloc %b : memref<4xf32>
  return
}
}
