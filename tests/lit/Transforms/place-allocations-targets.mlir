// RUN: plimsoll-opt %s -plim-place-allocations -split-input-file | FileCheck %s

// What counts is the first device.
// CHECK-LABEL: func.func private @first_device(
//       CHECK: memref.alloca() {{.*}} : memref<64xi8>
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu",
        "plim.max_stack_alloca_bytes" = 64 : i64, "plim.stack_budget_bytes" = 64 : i64>,
    "gpu" = #dlti.target_device_spec<"plim.kind" = "cuda">>} {
func.func private @first_device() attributes {plim.dispatch_function} {
  %a = memref.alloc() : memref<16xf32>
  memref.dealloc %a : memref<16xf32>
  return
}
}

// -----

// The budget binds even where the limit of one allocation is above it.
// CHECK-LABEL: func.func private @budget(
//   CHECK-NOT: memref.alloca
//       CHECK: memref.alloc() {{.*}}"64 bytes do not fit: 0 of the stack budget of 63 are taken"{{.*}}plim.scratch
//   CHECK-NOT: memref.alloca
//       CHECK: return
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu",
        "plim.max_stack_alloca_bytes" = 64 : i64, "plim.stack_budget_bytes" = 63 : i64>>} {
func.func private @budget() attributes {plim.dispatch_function} {
  %a = memref.alloc() : memref<16xf32>
  memref.dealloc %a : memref<16xf32>
  return
}
}

// -----

// Nothing goes onto a stack that cannot be addressed or must not be used.
// CHECK-LABEL: func.func private @no_stack(
//   CHECK-NOT: memref.alloca
//       CHECK: memref.alloc() {{.*}}plim.scratch
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu", "plim.stack_addressable" = false,
        "plim.max_stack_alloca_bytes" = 1024 : i64, "plim.stack_budget_bytes" = 1024 : i64>>} {
func.func private @no_stack() attributes {plim.dispatch_function} {
  %a = memref.alloc() : memref<16xf32>
  memref.dealloc %a : memref<16xf32>
  return
}
}

// -----

// CHECK-LABEL: func.func private @workspace_only(
//   CHECK-NOT: memref.alloca
//       CHECK: memref.alloc() {{.*}}plim.scratch
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu", "plim.external_workspace_only" = true,
        "plim.max_stack_alloca_bytes" = 1024 : i64, "plim.stack_budget_bytes" = 1024 : i64>>} {
func.func private @workspace_only() attributes {plim.dispatch_function} {
  %a = memref.alloc() : memref<16xf32>
  memref.dealloc %a : memref<16xf32>
  return
}
}

// -----

// An empty buffer is given a byte.
// CHECK-LABEL: func.func private @empty(
//       CHECK: memref.alloca() {{.*}} : memref<1xi8>
//       CHECK: memref.view {{.*}} to memref<0x4xf32>
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu",
        "plim.max_stack_alloca_bytes" = 1024 : i64, "plim.stack_budget_bytes" = 1024 : i64>>} {
func.func private @empty() attributes {plim.dispatch_function} {
  %a = memref.alloc() : memref<0x4xf32>
  memref.dealloc %a : memref<0x4xf32>
  return
}
}
