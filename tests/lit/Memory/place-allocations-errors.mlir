// RUN: plimsoll-opt %s -plim-infer-accessors -plim-place-allocations -split-input-file -verify-diagnostics
// RUN: not plimsoll-opt %s -plim-place-allocations=policy=fixed:many -split-input-file 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NUMBER
// RUN: not plimsoll-opt %s -plim-place-allocations=policy=fixed:-1 -split-input-file 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NEGATIVE
// RUN: not plimsoll-opt %s -plim-place-allocations=policy=everywhere -split-input-file 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BARE

// NUMBER: error: unknown allocation policy 'fixed:many'
// NEGATIVE: error: unknown allocation policy 'fixed:-1'
// BARE: error: unknown allocation policy 'everywhere'; known are auto, stack, workspace, heap and fixed:N

module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu",
        "plim.max_stack_alloca_bytes" = 1024 : i64, "plim.stack_budget_bytes" = 1536 : i64>>} {
func.func @fits() attributes {plim.kernel} {
  %a = memref.alloca() : memref<1536xi8>
  return
}
func.func @too_large() attributes {plim.kernel} {
  // expected-error @below {{no place for this allocation of 1537 bytes, which is used by nobody; stack: 1537 bytes do not fit: 0 of the stack budget of 1536 are taken in @too_large}}
  %a = memref.alloca() : memref<1537xi8>
  return
}
func.func @unbounded(%n: index, %x: f32) attributes {plim.kernel} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{no place for this allocation, which is used by host; stack: its size has no bound that is known at load}}
  %a = plim.alloc(%n) {scope = "global.stack"} : memref<?xf32>
  memref.store %x, %a[%c0] : memref<?xf32>
  memref.dealloc %a : memref<?xf32>
  return
}
func.func @returned() -> memref<4xf32> {
  // expected-error @below {{no place for this allocation of 16 bytes, which is used by host; stack: it may outlive the block that allocates it}}
  %a = plim.alloc() {scope = "local"} : memref<4xf32>
  return %a : memref<4xf32>
}
func.func @unknown() {
  // expected-error @below {{tcm: target '' has no such memory}}
  %a = plim.alloc() {scope = "global.tcm"} : memref<4xf32>
  memref.dealloc %a : memref<4xf32>
  return
}
}

// -----

// Each on its own would fit; the one that does not is told of.
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu",
        "plim.max_stack_alloca_bytes" = 1024 : i64, "plim.stack_budget_bytes" = 1536 : i64>>} {
func.func @together(%i: index) attributes {plim.kernel} {
  %a = memref.alloca() : memref<250xf32>
  // expected-error @below {{stack: 1000 bytes do not fit: 1024 of the stack budget of 1536 are taken in @together}}
  %b = memref.alloca() : memref<125xindex>
  %x = memref.load %a[%i] : memref<250xf32>
  %y = memref.load %a[%i] : memref<250xf32>
  %z = memref.load %b[%i] : memref<125xindex>
  return
}
}

// -----

// A device without an addressable stack has no room at all.
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu", "plim.stack_addressable" = false,
        "plim.max_stack_alloca_bytes" = 1024 : i64, "plim.stack_budget_bytes" = 1536 : i64>>} {
func.func @nothing() attributes {plim.kernel} {
  // expected-error @below {{stack: device 'host' has no addressable stack}}
  %a = memref.alloca() : memref<f32>
  return
}
}

// -----

module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu">,
    "gpu" = #dlti.target_device_spec<"plim.kind" = "cuda">,
    "plim.memories" = #dlti.target_device_spec<
       "dram" = #dlti.map<"kind" = "host", "accessible_by" = ["host"]>,
       "sram" = #dlti.map<"kind" = "device", "bytes" = 64 : i64, "accessible_by" = ["host", "gpu"]>>>} {
func.func private @d() attributes {plim.dispatch_function}
func.func @nowhere() {
  // expected-error @below {{no place for this allocation of 68 bytes, which is used by gpu; workspace: no host memory is accessible by all of them; stack: device 'gpu' cannot reach the stack of a thread; sram: with this allocation it would need 68 of its 64 bytes, 4 too many}}
  %a = memref.alloc() : memref<17xf32>
  plim.dispatch @d outs(%a : memref<17xf32>) {plim.device = "gpu"}
  memref.dealloc %a : memref<17xf32>
  return
}
func.func @result() -> memref<4xf32> {
  // expected-error @below {{sram: it may outlive the block that allocates it}}
  %a = plim.alloc() {scope = "global.sram"} : memref<4xf32>
  return %a : memref<4xf32>
}
func.func @dynamic(%n: index) {
  // expected-error @below {{sram: its size has no bound that is known at load; give one with plim.max_bytes}}
  %a = plim.alloc(%n) {scope = "global.sram"} : memref<?xf32>
  memref.dealloc %a : memref<?xf32>
  return
}
func.func private @inside() attributes {plim.dispatch_function} {
  // expected-error @below {{sram: each worker needs a temporary of its own}}
  %a = plim.alloc() {scope = "global.sram"} : memref<4xf32>
  memref.dealloc %a : memref<4xf32>
  return
}
}

// -----

// expected-error @below {{the module has no 'dlti.target_system_spec' attribute}}
module {
}

// -----

// expected-error @below {{target entry 'host.plim.depth': unknown key}}
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.depth" = 3 : i64>>} {
}

// -----

module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu">,
    "gpu" = #dlti.target_device_spec<"plim.kind" = "cuda">,
    "plim.memories" = #dlti.target_device_spec<
       "flash" = #dlti.map<"kind" = "host", "bytes" = 128 : i64, "accessible_by" = ["host"]>,
       "vram" = #dlti.map<"kind" = "device", "accessible_by" = ["gpu"]>>>} {
// expected-error @below {{constant 'a' cannot be in pool 'tcm': target '' has no such memory}}
memref.global "private" constant @a : memref<2xf32> = dense<1.0> {plim.scope = "global.tcm"}
}

// -----

module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu">,
    "gpu" = #dlti.target_device_spec<"plim.kind" = "cuda">,
    "plim.memories" = #dlti.target_device_spec<
       "vram" = #dlti.map<"kind" = "device", "accessible_by" = ["gpu"]>>>} {
// expected-error @below {{constant 'a' cannot be in pool 'vram': it is not accessible by 'host'}}
memref.global "private" constant @a : memref<2xf32> = dense<1.0> {plim.scope = "global.vram"}
}

// -----

module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu">,
    "plim.memories" = #dlti.target_device_spec<
       "flash" = #dlti.map<"kind" = "host", "bytes" = 128 : i64, "accessible_by" = ["host"]>>>} {
memref.global "private" constant @a : memref<17xf32> = dense<1.0> {plim.scope = "global.flash"}
memref.global "private" constant @b : memref<0xf32> = dense<> {plim.scope = "global.flash"}
// expected-error @below {{constant 'c' cannot be in pool 'flash': with it the constants there take 192 of its 128 bytes, 64 too many}}
memref.global "private" constant @c : memref<1xi8> = dense<1> {plim.scope = "global.flash"}
}

// -----

module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu">,
    "plim.memories" = #dlti.target_device_spec<
       "flash" = #dlti.map<"kind" = "host", "bytes" = 128 : i64, "accessible_by" = ["host"]>>>} {
memref.global "private" constant @a : memref<17xf32> = dense<1.0> {plim.scope = "global.flash"}
func.func @full() {
  // expected-error @below {{flash: with this allocation it would need 132 of its 128 bytes, 4 too many}}
  %a = plim.alloc() {scope = "global.flash"} : memref<1xf32>
  return
}
}
