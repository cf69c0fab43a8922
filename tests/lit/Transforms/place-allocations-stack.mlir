// Memory that an author puts on the stack counts against the budget of the device.
// RUN: plimsoll-opt %s -plim-place-allocations -split-input-file -verify-diagnostics
// RUN: plimsoll-opt %s -plim-place-allocations=policy=workspace -split-input-file -verify-diagnostics

module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu",
        "plim.max_stack_alloca_bytes" = 1024 : i64, "plim.stack_budget_bytes" = 1536 : i64>>} {
func.func @fits() attributes {plim.kernel} {
  %a = memref.alloca() : memref<1536xi8>
  return
}
func.func @too_large() attributes {plim.kernel} {
  // expected-error @below {{allocates 1537 bytes on the stack, where 1536 are left; use memref.alloc, which the engine places}}
  %a = memref.alloca() : memref<1537xi8>
  return
}
}

// -----

// Each on its own would fit; both that do not are told of.
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu",
        "plim.max_stack_alloca_bytes" = 1024 : i64, "plim.stack_budget_bytes" = 1536 : i64>>} {
func.func @together() attributes {plim.kernel} {
  %a = memref.alloca() : memref<250xf32>
  // expected-error @below {{allocates 1000 bytes on the stack, where 536 are left}}
  %b = memref.alloca() : memref<125xindex>
  // expected-error @below {{allocates 537 bytes on the stack, where 536 are left}}
  %c = memref.alloca() : memref<537xi8>
  %d = memref.alloca() : memref<536xi8>
  return
}
}

// -----

// A device without an addressable stack has no room at all.
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu", "plim.stack_addressable" = false,
        "plim.max_stack_alloca_bytes" = 1024 : i64, "plim.stack_budget_bytes" = 1536 : i64>>} {
func.func @nothing() attributes {plim.kernel} {
  // expected-error @below {{allocates 4 bytes on the stack, where 0 are left}}
  %a = memref.alloca() : memref<f32>
  return
}
}

// -----

module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu",
        "plim.max_stack_alloca_bytes" = 1024 : i64, "plim.stack_budget_bytes" = 1024 : i64>>} {
func.func @latest(%x: memref<4xf32>, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%last = %x) -> memref<4xf32> {
    // expected-error @below {{allocates on the stack in a block that it may outlive; move it to the beginning of the function}}
    %b = memref.alloca() : memref<4xf32>
    scf.yield %b : memref<4xf32>
  }
  %v = memref.load %r[%c0] : memref<4xf32>
  return %v : f32
}
}
