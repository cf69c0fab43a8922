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

// -----

// A buffer that the loop carries on is a new one each time.
// CHECK-LABEL: func.func @carried(
//   CHECK-NOT: memref.alloca
//       CHECK: memref.alloc() {plim.reason = "it may outlive the block that allocates it"
//       CHECK: scf.for
//       CHECK: memref.alloc() {plim.reason = "it may outlive the block that allocates it"
//       CHECK: memref.dealloc
//       CHECK: memref.dealloc
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu",
        "plim.max_stack_alloca_bytes" = 1024 : i64, "plim.stack_budget_bytes" = 1024 : i64>>} {
func.func @carried(%a: memref<4xf32>, %n: index) attributes {plim.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = memref.alloc() : memref<4xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%old = %first) -> memref<4xf32> {
    %new = memref.alloc() : memref<4xf32>
    memref.copy %old, %new : memref<4xf32> to memref<4xf32>
    memref.dealloc %old : memref<4xf32>
    scf.yield %new : memref<4xf32>
  }
  memref.dealloc %r : memref<4xf32>
  return
}
}

// -----

// So is one that is released under another name, or not in the block that allocates it.
// CHECK-LABEL: func.func @renamed(
//   CHECK-NOT: memref.alloca
// CHECK-COUNT-2: memref.alloc() {plim.reason = "it may outlive the block that allocates it"
//   CHECK-NOT: memref.alloca
//       CHECK: return
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu",
        "plim.max_stack_alloca_bytes" = 1024 : i64, "plim.stack_budget_bytes" = 1024 : i64>>} {
func.func @renamed(%c: i1) attributes {plim.kernel} {
  %a = memref.alloc() : memref<4xf32>
  %flat = memref.cast %a : memref<4xf32> to memref<?xf32>
  memref.dealloc %flat : memref<?xf32>
  %b = memref.alloc() : memref<4xf32>
  scf.if %c {
    memref.dealloc %b : memref<4xf32>
  }
  return
}
}

// -----

// Views do not keep a buffer off the stack.
// CHECK-LABEL: func.func private @viewed(
//       CHECK: memref.alloca
//   CHECK-NOT: memref.alloc()
//       CHECK: memref.subview
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu",
        "plim.max_stack_alloca_bytes" = 1024 : i64, "plim.stack_budget_bytes" = 1024 : i64>>} {
func.func private @viewed(%x: f32, %n: index) attributes {plim.dispatch_function} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.alloc() : memref<8xf32>
    %v = memref.subview %a[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
    memref.store %x, %v[%c0] : memref<4xf32, strided<[1], offset: 4>>
    memref.dealloc %a : memref<8xf32>
  }
  return
}
}

// -----

// What the author puts on the stack in a loop is hoisted: the stack does not grow with iterations.
// CHECK-LABEL: func.func @author_in_loop(
//       CHECK: %[[A:.*]] = memref.alloca() {plim.reason = "requested by the author", plim.scope = "global.stack"} : memref<4xf32>
//       CHECK: scf.for
//   CHECK-NOT: memref.alloca
//       CHECK: memref.store %{{.*}}, %[[A]]
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu",
        "plim.max_stack_alloca_bytes" = 64 : i64, "plim.stack_budget_bytes" = 64 : i64>>} {
func.func @author_in_loop(%n: index, %x: f32) attributes {plim.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.alloca() : memref<4xf32>
    memref.store %x, %a[%c0] : memref<4xf32>
  }
  return
}
}

// -----

// The alignment that the author asks for is kept, when it is more than a cache line.
// CHECK-LABEL: func.func @aligned(
//   CHECK-DAG: memref.alloca() {alignment = 256 : i64, {{.*}} : memref<32xi8>
//   CHECK-DAG: memref.alloca() {alignment = 64 : i64, {{.*}} : memref<16xi8>
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu",
        "plim.max_stack_alloca_bytes" = 64 : i64, "plim.stack_budget_bytes" = 64 : i64>>} {
func.func @aligned() attributes {plim.kernel} {
  %a = memref.alloc() {alignment = 256 : i64} : memref<8xf32>
  %b = memref.alloc() {alignment = 16 : i64} : memref<4xf32>
  memref.dealloc %a : memref<8xf32>
  memref.dealloc %b : memref<4xf32>
  return
}
}
