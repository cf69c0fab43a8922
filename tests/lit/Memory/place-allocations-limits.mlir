// Who sets the limits, the strongest last: target, engine, load, function, allocation; and what the
// device cannot do.
// RUN: plimsoll-opt %s -plim-infer-accessors -plim-place-allocations -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @engine(
//       CHECK: level = "engine", reason = "64 bytes are within the limit of 96 {{.*}}scope = "global.stack"
// CHECK-LABEL: func.func @function(
//       CHECK: level = "function", reason = "64 bytes exceed the limit of 63 {{.*}}scope = "global.workspace"
//       CHECK: level = "allocation", {{.*}}reason = "64 bytes are within the limit of 80 {{.*}}scope = "global.stack"
module attributes {plim.engine_limits = {max_stack_alloca_bytes = 96 : i64},
    dlti.target_system_spec = #dlti.target_system_spec<"host" = #dlti.target_device_spec<
        "plim.kind" = "cpu", "plim.max_stack_alloca_bytes" = 8 : i64,
        "plim.stack_budget_bytes" = 4096 : i64>>} {
func.func @engine() attributes {plim.kernel} {
  %a = memref.alloc() : memref<16xf32>
  memref.dealloc %a : memref<16xf32>
  return
}
func.func @function() attributes {plim.kernel, plim.limits = {max_stack_alloca_bytes = 63 : i64}} {
  %a = memref.alloc() : memref<16xf32>
  memref.dealloc %a : memref<16xf32>
  %b = plim.alloc() {limits = {max_stack_alloca_bytes = 80 : i64}} : memref<16xf32>
  memref.dealloc %b : memref<16xf32>
  return
}
}

// -----

// CHECK-LABEL: func.func @load(
//  CHECK-SAME: plim.stack_budget = 63 : i64
//       CHECK: level = "load", reason = "64 bytes exceed the limit of 63 {{.*}}scope = "global.workspace"
// CHECK-LABEL: func.func @not_here(
//  CHECK-SAME: plim.stack_budget = 0 : i64
//       CHECK: level = "function", reason = "only the workspace may be used", scope = "global.workspace"
//       CHECK: scope = "global.stack"
module attributes {plim.engine_limits = {stack_budget_bytes = 8 : i64},
    plim.limits = {stack_budget_bytes = 63 : i64},
    dlti.target_system_spec = #dlti.target_system_spec<"host" = #dlti.target_device_spec<
        "plim.kind" = "cpu", "plim.max_stack_alloca_bytes" = 1024 : i64,
        "plim.stack_budget_bytes" = 4096 : i64>>} {
func.func @load() attributes {plim.kernel} {
  %a = memref.alloc() : memref<16xf32>
  memref.dealloc %a : memref<16xf32>
  return
}
func.func @not_here() attributes {plim.kernel, plim.limits = {external_workspace_only = true}} {
  %a = memref.alloc() : memref<4xf32>
  memref.dealloc %a : memref<4xf32>
  %b = plim.alloc() {limits = {external_workspace_only = false}} : memref<4xf32>
  memref.dealloc %b : memref<4xf32>
  return
}
}

// -----

// The budget is that of the whole call tree: host code, its callees, the deepest of its
// dispatches.
// CHECK-LABEL: func.func private @leaf(
//  CHECK-SAME: plim.stack_bytes = 1024 : i64
// CHECK-LABEL: func.func @root(
//  CHECK-SAME: plim.stack_bytes = 1536 : i64
//       CHECK: scope = "global.stack"} : memref<128xf32>
//       CHECK: level = "target", reason = "512 bytes do not fit: 1536 of the stack budget of 1600 are taken in @root", scope = "global.workspace"}
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu",
        "plim.max_stack_alloca_bytes" = 1024 : i64, "plim.stack_budget_bytes" = 1600 : i64>>} {
func.func private @leaf() attributes {plim.dispatch_function} {
  %a = plim.alloc() {scope = "local"} : memref<256xf32>
  memref.dealloc %a : memref<256xf32>
  return
}
func.func @root() attributes {plim.kernel} {
  %a = memref.alloc() : memref<128xf32>
  %b = memref.alloc() : memref<128xf32>
  plim.dispatch @leaf
  memref.dealloc %a : memref<128xf32>
  memref.dealloc %b : memref<128xf32>
  return
}
}

// -----

// Nothing goes onto a stack that cannot be addressed, whoever wishes it.
// CHECK-LABEL: func.func @no_stack(
//       CHECK: level = "target", reason = "device 'host' has no addressable stack", scope = "global.workspace"
module attributes {plim.limits = {external_workspace_only = false},
    dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu", "plim.stack_addressable" = false,
        "plim.max_stack_alloca_bytes" = 1024 : i64, "plim.stack_budget_bytes" = 1024 : i64>>} {
func.func @no_stack() attributes {plim.kernel} {
  %a = memref.alloc() : memref<16xf32>
  memref.dealloc %a : memref<16xf32>
  return
}
}

// -----

// Part of the budget may be kept for the code itself.
// RUN: plimsoll-opt %s -plim-infer-accessors -plim-place-allocations=stack-reserve=32 \
// RUN:   -split-input-file | FileCheck %s --check-prefix=RESERVE
// RESERVE-LABEL: func.func @reserve(
//  RESERVE-SAME: plim.stack_budget = 128 : i64
//       RESERVE: scope = "global.stack"
//       RESERVE: reason = "64 bytes do not fit: 64 of the stack budget of 96 are taken in @reserve", scope = "global.workspace"
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"host" =
    #dlti.target_device_spec<"plim.kind" = "cpu", "plim.max_stack_alloca_bytes" = 1024 : i64,
        "plim.stack_budget_bytes" = 128 : i64>>} {
func.func @reserve() attributes {plim.kernel} {
  %a = memref.alloc() : memref<16xf32>
  %b = memref.alloc() : memref<16xf32>
  memref.dealloc %a : memref<16xf32>
  memref.dealloc %b : memref<16xf32>
  return
}
}
