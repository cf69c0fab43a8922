// RUN: plimsoll-opt %s -plim-place-allocations | FileCheck %s --check-prefixes=CHECK,AUTO
// RUN: plimsoll-opt %s -plim-place-allocations=policy=auto \
// RUN:   | FileCheck %s --check-prefixes=CHECK,AUTO
// RUN: plimsoll-opt %s -plim-place-allocations=policy=stack \
// RUN:   | FileCheck %s --check-prefixes=CHECK,STACK
// RUN: plimsoll-opt %s -plim-place-allocations=policy=fixed:100 \
// RUN:   | FileCheck %s --check-prefixes=CHECK,FIXED
// RUN: plimsoll-opt %s -plim-place-allocations=policy=workspace \
// RUN:   | FileCheck %s --check-prefixes=CHECK,NONE,WORKSPACE
// RUN: plimsoll-opt %s -plim-place-allocations=policy=heap \
// RUN:   | FileCheck %s --check-prefixes=CHECK,NONE,HEAP

module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu",
        "plim.max_stack_alloca_bytes" = 1024 : i64, "plim.stack_budget_bytes" = 1536 : i64>>} {

// In front of the loop stand those that the limits let onto the stack, small ones first, and those
// that come from scratch instead, each with its reason.
// CHECK-LABEL: func.func private @dispatch(
//    AUTO-DAG: memref.alloca() {{.*}}"32 bytes are within the limit of 1024 for one stack allocation", plim.scope = "global.stack"} : memref<32xi8>
//    AUTO-DAG: memref.alloca() {{.*}}"64 bytes are within the limit of 1024 {{.*}} : memref<64xi8>
//    AUTO-DAG: memref.alloca() {{.*}}"512 bytes are within the limit of 1024 {{.*}} : memref<512xi8>
//    AUTO-DAG: memref.alloc() {{.*}}"1024 bytes do not fit: 608 of the stack budget of 1536 are taken", plim.scope = "global.workspace", plim.scratch} : memref<1024xi8>
//    AUTO-DAG: memref.alloc() {{.*}}"1025 bytes exceed the limit of 1024 for one stack allocation", plim.scope = "global.workspace", plim.scratch} : memref<1025xi8>
//   STACK-DAG: memref.alloca() {{.*}} : memref<512xi8>
//   STACK-DAG: memref.alloc() {{.*}}"1025 bytes do not fit: 608 of the stack budget of 1536 are taken", {{.*}}plim.scratch} : memref<1025xi8>
//   FIXED-DAG: memref.alloca() {{.*}} : memref<32xi8>
//   FIXED-DAG: memref.alloca() {{.*}} : memref<64xi8>
//   FIXED-DAG: memref.alloc() {{.*}}"512 bytes exceed the limit of 100 for one stack allocation", {{.*}}plim.scratch} : memref<512xi8>
//    NONE-NOT: memref.alloca
//    NONE-DAG: memref.alloc() {{.*}}plim.scratch} : memref<32xi8>
//    NONE-DAG: memref.alloc() {{.*}}plim.scratch} : memref<1025xi8>
//       CHECK: scf.for
//   CHECK-NOT: memref.alloca
//   CHECK-NOT: plim.scratch
// CHECK-COUNT-4: memref.view
//       CHECK: %[[N:.*]] = affine.min
//       CHECK: memref.view %{{.*}}[%{{.*}}][%[[N]]] : memref<32xi8> to memref<?x2xf32>
// Of unknown size: allocated where it was and released.
//       CHECK: %[[DYNAMIC:.*]] = memref.alloc(%{{.*}}) {plim.reason = "its size has no bound that is known at load", plim.scope = "global.workspace"} : memref<?xf32>
//   CHECK-NOT: memref.dealloc
//       CHECK: memref.dealloc %[[DYNAMIC]]
//   CHECK-NOT: memref.dealloc
//       CHECK: return
func.func private @dispatch(%n: index) attributes {plim.dispatch_function} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %small = memref.alloc() : memref<16xf32>
    %limit = memref.alloc() : memref<1024xi8>
    %over = memref.alloc() : memref<1025xi8>
    %middle = memref.alloc() : memref<512xi8>
    %b = affine.min affine_map<(d0) -> (d0, 4)>(%i)
    %bounded = memref.alloc(%b) : memref<?x2xf32>
    %dynamic = memref.alloc(%n) : memref<?xf32>
    memref.dealloc %small : memref<16xf32>
    memref.dealloc %over : memref<1025xi8>
    memref.dealloc %limit : memref<1024xi8>
    memref.dealloc %middle : memref<512xi8>
    memref.dealloc %bounded : memref<?x2xf32>
    memref.dealloc %dynamic : memref<?xf32>
  }
  return
}

// In a kernel, what is kept off the stack stays between its author's allocation and release. What
// the author put on the stack stays there.
// CHECK-LABEL: func.func @kernel(
//    AUTO-DAG: memref.alloca() {{.*}} : memref<64xi8>
//   STACK-DAG: memref.alloca() {{.*}}"1025 bytes are within the limit of 1536 {{.*}} : memref<1025xi8>
//   FIXED-DAG: memref.alloca() {{.*}} : memref<64xi8>
//   CHECK-DAG: memref.alloca() {plim.reason = "requested by the author", plim.scope = "global.stack"} : memref<16xf32>
//   CHECK-NOT: plim.scratch
//        AUTO: %[[OVER:.*]] = memref.alloc() {plim.reason = "1025 bytes exceed{{.*}}", plim.scope = "global.workspace"}
//        AUTO: memref.dealloc %[[OVER]]
//   STACK-NOT: memref.dealloc
// NONE-COUNT-2: memref.dealloc
//       CHECK: return
func.func @kernel(%n: index) attributes {plim.kernel} {
  %own = memref.alloca() : memref<16xf32>
  %small = memref.alloc() : memref<16xf32>
  %over = memref.alloc() : memref<1025xi8>
  memref.dealloc %small : memref<16xf32>
  memref.dealloc %over : memref<1025xi8>
  return
}

// Host buffers go to the workspace, whatever the policy says about stacks.
// CHECK-LABEL: func.func @host(
//   CHECK-NOT: memref.alloca
//        AUTO: memref.alloc() {plim.reason = "a host buffer outlives the frames of the threads that use it", plim.scope = "global.workspace"}
//       STACK: memref.alloc() {plim.reason = "a host buffer
//   WORKSPACE: memref.alloc() {plim.reason = "a host buffer
//        HEAP: memref.alloc() {plim.reason = "policy heap: every buffer from the allocator", plim.scope = "global.workspace"}
//       CHECK: memref.dealloc
func.func @host() {
  %small = memref.alloc() : memref<16xf32>
  memref.dealloc %small : memref<16xf32>
  return
}
}
