// RUN: plimsoll-opt %s -plim-infer-accessors -plim-place-allocations=policy=workspace \
// RUN:   -plim-plan-memory=scratch-in-slab | FileCheck %s

module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu">>} {

// Without an engine a call searches for nothing: slots come in an order in which each buffer may lie
// above those before it that it meets. The large one is below the two that it outlives.
// CHECK-LABEL: func.func @late(
//  CHECK-SAME: plim.call_plan = {buffers = [
//  CHECK-SAME:   {bytes = 32 : i64, extents = array<i64: 0>,
//  CHECK-SAME:   {bytes = 4 : i64, extents = array<i64: 0>,
//  CHECK-SAME:   {bytes = 8 : i64, extents = array<i64: 0>,
//       CHECK: plim.alloc(%{{.*}}) {{.*}}slot = 1 : i64} : memref<?xf32>
//       CHECK: plim.alloc(%{{.*}}) {{.*}}slot = 0 : i64} : memref<?x8xf32>
//       CHECK: plim.alloc(%{{.*}}) {{.*}}slot = 2 : i64} : memref<?x2xf32>
func.func private @d() attributes {plim.dispatch_function}
func.func @late(%n: index) {
  %a = memref.alloc(%n) : memref<?xf32>
  plim.dispatch @d outs(%a : memref<?xf32>)
  %b = memref.alloc(%n) : memref<?x8xf32>
  plim.dispatch @d outs(%a, %b : memref<?xf32>, memref<?x8xf32>)
  memref.dealloc %a : memref<?xf32>
  %c = memref.alloc(%n) : memref<?x2xf32>
  plim.dispatch @d outs(%b, %c : memref<?x8xf32>, memref<?x2xf32>)
  memref.dealloc %b : memref<?x8xf32>
  memref.dealloc %c : memref<?x2xf32>
  return
}
}
