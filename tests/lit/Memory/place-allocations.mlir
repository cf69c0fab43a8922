// RUN: plimsoll-opt %s -plim-infer-accessors -plim-place-allocations \
// RUN:   | FileCheck %s --check-prefixes=CHECK,AUTO
// RUN: plimsoll-opt %s -plim-infer-accessors -plim-place-allocations=policy=stack \
// RUN:   | FileCheck %s --check-prefixes=CHECK,STACK
// RUN: plimsoll-opt %s -plim-infer-accessors -plim-place-allocations=policy=fixed:100 \
// RUN:   | FileCheck %s --check-prefixes=CHECK,FIXED
// RUN: plimsoll-opt %s -plim-infer-accessors -plim-place-allocations=policy=workspace \
// RUN:   | FileCheck %s --check-prefixes=CHECK,NONE
// RUN: plimsoll-opt %s -plim-infer-accessors -plim-place-allocations=policy=heap \
// RUN:   | FileCheck %s --check-prefixes=CHECK,NONE

module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu",
        "plim.max_stack_alloca_bytes" = 1024 : i64, "plim.stack_budget_bytes" = 1536 : i64>>} {

// What the limits let onto the stack, those that gain most per byte first; each says why.
// CHECK-LABEL: func.func private @dispatch(
//   AUTO-SAME: plim.stack_budget = 1536 : i64, plim.stack_bytes = 1088 : i64
//  STACK-SAME: plim.stack_bytes = 1152 : i64
//  FIXED-SAME: plim.stack_bytes = 64 : i64
//   NONE-SAME: plim.stack_bytes = 0 : i64
//       CHECK: scf.for
//        AUTO: plim.alloc() {{.*}}candidates = ["stack", "workspace"], level = "target", reason = "64 bytes are within the limit of 1024 for one stack allocation", scope = "global.stack"} : memref<16xf32>
//       FIXED: plim.alloc() {{.*}}level = "policy", reason = "64 bytes are within the limit of 100 {{.*}}", scope = "global.stack"} : memref<16xf32>
//        NONE: plim.alloc() {{.*}}candidates = ["workspace"], level = "policy", reason = "policy {{workspace|heap}} keeps allocations off the stack", scope = "global.workspace"} : memref<16xf32>
//        AUTO: plim.alloc() {{.*}}scope = "global.stack"} : memref<1024xi8>
//       FIXED: plim.alloc() {{.*}}level = "policy", reason = "1024 bytes exceed the limit of 100 for one stack allocation", scope = "global.workspace"} : memref<1024xi8>
//        AUTO: plim.alloc() {{.*}}level = "target", reason = "1025 bytes exceed the limit of 1024 for one stack allocation", scope = "global.workspace"} : memref<1025xi8>
//       STACK: plim.alloc() {{.*}}level = "target", reason = "1025 bytes are within the limit of 1536 {{.*}}", scope = "global.stack"} : memref<1025xi8>
// Of unknown size: never on the stack.
//       CHECK: plim.alloc(%{{.*}}) {{{.*}}candidates = ["workspace"], level = "analysis", reason = "its size has no bound that is known at load", scope = "global.workspace"} : memref<?xf32>
//       CHECK: return
func.func private @dispatch(%n: index, %x: f32) attributes {plim.dispatch_function} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %small = memref.alloc() : memref<16xf32>
    memref.store %x, %small[%i] : memref<16xf32>
    %limit = memref.alloc() : memref<1024xi8>
    %c = memref.load %limit[%i] : memref<1024xi8>
    memref.dealloc %limit : memref<1024xi8>
    %over = memref.alloc() : memref<1025xi8>
    %dynamic = memref.alloc(%n) : memref<?xf32>
    memref.dealloc %small : memref<16xf32>
    memref.dealloc %over : memref<1025xi8>
    memref.dealloc %dynamic : memref<?xf32>
  }
  return
}

// An extent of an argument is bounded by what the call is checked for.
// CHECK-LABEL: func.func @declared(
//        AUTO: plim.alloc(%{{.*}}) {{{.*}}bytes = 144 : i64{{.*}}} : memref<?x2xf32>
//        NONE: plim.alloc(%{{.*}}) {{{.*}}bytes = 144 : i64{{.*}}scope = "global.workspace"}
func.func @declared(%x: memref<?x2xf32> {plim.bounds = [{min = 1, max = 8}, {}]}) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x2xf32>
  %m = affine.apply affine_map<(d0) -> (2 * d0 + 2)>(%n)
  %a = memref.alloc(%m) : memref<?x2xf32>
  memref.dealloc %a : memref<?x2xf32>
  return
}

// An extent that has a constant bound counts with it.
// CHECK-LABEL: func.func private @bounded(
//        AUTO: plim.alloc(%{{.*}}) {{{.*}}bytes = 32 : i64{{.*}}scope = "global.stack"} : memref<?x2xf32>
//        NONE: plim.alloc(%{{.*}}) {{{.*}}bytes = 32 : i64{{.*}}scope = "global.workspace"}
func.func private @bounded(%i: index) attributes {plim.dispatch_function} {
  %b = affine.min affine_map<(d0) -> (d0, 4)>(%i)
  %bounded = memref.alloc(%b) : memref<?x2xf32>
  memref.dealloc %bounded : memref<?x2xf32>
  return
}

// Lives that do not overlap share the frame; a loop does not make it grow.
// CHECK-LABEL: func.func @in_turn(
//   AUTO-SAME: plim.stack_bytes = 1024 : i64
//   AUTO-SAME: plim.stack_sum = 2048 : i64
//        AUTO: scope = "global.stack"
//        AUTO: scope = "global.stack"
func.func @in_turn(%n: index) attributes {plim.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.alloc() : memref<256xf32>
    memref.dealloc %a : memref<256xf32>
    %b = memref.alloc() : memref<256xf32>
    memref.dealloc %b : memref<256xf32>
  }
  return
}

// Constant indices only: it becomes registers and takes nothing of the budget.
// CHECK-LABEL: func.func @registers(
//   AUTO-SAME: plim.stack_bytes = 0 : i64
//        AUTO: reason = "every access has constant indices: it becomes registers", scope = "global.stack"
func.func @registers(%x: f32) -> f32 attributes {plim.kernel} {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<4xf32>
  memref.store %x, %a[%c0] : memref<4xf32>
  %r = memref.load %a[%c0] : memref<4xf32>
  memref.dealloc %a : memref<4xf32>
  return %r : f32
}

// What the author puts on the stack stays there, whatever the policy.
// CHECK-LABEL: func.func @author(
//       CHECK: plim.alloc() {{.*}}candidates = ["stack"], level = "allocation", reason = "the author asks for it", scope = "global.stack"} : memref<300xf32>
//       CHECK: plim.alloc() {{.*}}candidates = ["stack"], level = "allocation", reason = "the author asks for it", scope = "global.stack"} : memref<8xf32>
//       CHECK: plim.alloc() {{.*}}candidates = ["workspace"], level = "allocation", reason = "the author asks for it", scope = "global.workspace"} : memref<4xf32>
//       CHECK: plim.alloc() {{.*}}candidates = ["workspace"], level = "allocation", reason = "the author asks for it", scope = "workgroup"} : memref<2xf32>
func.func @author() attributes {plim.kernel} {
  %a = memref.alloca() : memref<300xf32>
  %b = plim.alloc() {scope = "local"} : memref<8xf32>
  memref.dealloc %b : memref<8xf32>
  %c = plim.alloc() {scope = "global.workspace"} : memref<4xf32>
  memref.dealloc %c : memref<4xf32>
  %d = plim.alloc() {scope = "workgroup"} : memref<2xf32>
  memref.dealloc %d : memref<2xf32>
  return
}

// Host buffers go to the slab at no cost, unless the policy prefers the stack.
// CHECK-LABEL: func.func @host(
//        AUTO: plim.alloc() {{.*}}candidates = ["workspace", "stack"], level = "analysis", reason = "planned in the slab of the call, at no cost", scope = "global.workspace"}
//       STACK: plim.alloc() {{.*}}scope = "global.stack"}
//       FIXED: plim.alloc() {{.*}}scope = "global.stack"}
//        NONE: plim.alloc() {{.*}}scope = "global.workspace"}
func.func @host() {
  %small = memref.alloc() : memref<16xf32>
  memref.dealloc %small : memref<16xf32>
  return
}

// A function that others call has no slab of its own: the stack is better than the allocator.
// CHECK-LABEL: func.func private @callee(
//        AUTO: plim.alloc() {{.*}}scope = "global.stack"}
func.func private @callee() {
  %small = memref.alloc() : memref<16xf32>
  memref.dealloc %small : memref<16xf32>
  return
}

// A buffer that the loop carries on is a new one each time; so is one that is released under another
// name.
// CHECK-LABEL: func.func @carried(
//       CHECK: plim.alloc() {{.*}}reason = "it may outlive the block that allocates it", scope = "global.workspace"
//       CHECK: scf.for
//       CHECK: plim.alloc() {{.*}}reason = "it may outlive the block that allocates it", scope = "global.workspace"
//       CHECK: plim.alloc() {{.*}}reason = "it may outlive the block that allocates it", scope = "global.workspace"
//       CHECK: return
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
  %renamed = memref.alloc() : memref<4xf32>
  %flat = memref.cast %renamed : memref<4xf32> to memref<?xf32>
  memref.dealloc %flat : memref<?xf32>
  func.call @callee() : () -> ()
  return
}
}
