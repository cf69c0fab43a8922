// RUN: plimsoll-opt %s -plim-infer-accessors | FileCheck %s

module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu">,
    "gpu" = #dlti.target_device_spec<"plim.kind" = "cuda">,
    "npu" = #dlti.target_device_spec<"plim.kind" = "npu">>} {
func.func private @d() attributes {plim.dispatch_function}
func.func private @outside(memref<4xf32>)

// Through a view, a loop and a branch.
// CHECK-LABEL: func.func @through(
//       CHECK: plim.alloc() {accessors = ["gpu"]} : memref<8xf32>
//       CHECK: plim.alloc() {accessors = ["host", "npu"]} : memref<4xf32>
func.func @through(%n: index, %c: i1, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<8xf32>
  %view = memref.subview %a[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  plim.dispatch @d outs(%view : memref<4xf32, strided<[1]>>) {plim.device = "gpu"}
  %b = memref.alloc() : memref<4xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%b_i = %b) -> memref<4xf32> {
    %next = scf.if %c -> memref<4xf32> {
      plim.dispatch @d outs(%b_i : memref<4xf32>) {plim.device = "npu"}
      scf.yield %b_i : memref<4xf32>
    } else {
      scf.yield %b_i : memref<4xf32>
    }
    scf.yield %next : memref<4xf32>
  }
  memref.store %x, %r[%c0] : memref<4xf32>
  return
}

// Through calls and results, and back to a caller outside of the module.
// CHECK-LABEL: func.func @caller(
//       CHECK: plim.alloc() {accessors = ["gpu"]} : memref<4xf32>
//       CHECK: plim.alloc() {accessors = ["external"]} : memref<4xf32>
//       CHECK: plim.alloc() {accessors = ["host"]} : memref<2xf32>
func.func @caller() -> memref<2xf32> {
  %a = memref.alloc() : memref<4xf32>
  func.call @callee(%a) : (memref<4xf32>) -> ()
  %b = memref.alloc() : memref<4xf32>
  func.call @outside(%b) : (memref<4xf32>) -> ()
  %made = func.call @maker() : () -> memref<4xf32>
  plim.dispatch @d outs(%made : memref<4xf32>) {plim.device = "npu"}
  %result = memref.alloc() : memref<2xf32>
  return %result : memref<2xf32>
}
func.func private @callee(%m: memref<4xf32>) {
  plim.dispatch @d outs(%m : memref<4xf32>) {plim.device = "gpu"}
  return
}
// CHECK-LABEL: func.func private @maker(
//       CHECK: plim.alloc() {accessors = ["npu"]}
func.func private @maker() -> memref<4xf32> {
  %a = memref.alloc() : memref<4xf32>
  return %a : memref<4xf32>
}

// In a dispatch function it is the devices that run it.
// CHECK-LABEL: func.func private @body(
//       CHECK: plim.alloc() {accessors = ["gpu", "host"]}
func.func private @body(%o: memref<4xf32>) attributes {plim.dispatch_function} {
  %a = memref.alloc() : memref<4xf32>
  memref.copy %a, %o : memref<4xf32> to memref<4xf32>
  memref.dealloc %a : memref<4xf32>
  return
}
func.func @runs(%o: memref<4xf32>) {
  plim.dispatch @body outs(%o : memref<4xf32>) {plim.device = "gpu"}
  plim.dispatch @body outs(%o : memref<4xf32>) {plim.device = "host"}
  return
}

// The author may know of more.
// CHECK-LABEL: func.func @widened(
//       CHECK: plim.alloc() {accessors = ["external", "gpu", "host"]}
func.func @widened(%x: f32) {
  %c0 = arith.constant 0 : index
  %a = plim.alloc() {accessors = ["gpu", "external"]} : memref<4xf32>
  memref.store %x, %a[%c0] : memref<4xf32>
  return
}

// Memory that the author puts on the stack ends with its last use; one that is carried around stands
// outside of loops already and lives as long as the function.
// CHECK-LABEL: func.func @stack(
//       CHECK: %[[B:.*]] = plim.alloc() {{.*}}scope = "global.stack"} : memref<4xf32>
//       CHECK: scf.for
//       CHECK: %[[A:.*]] = plim.alloc() {{.*}}alignment = 32 : i64, scope = "global.stack"} : memref<4xf32>
//       CHECK: memref.store %{{.*}}, %[[A]]
//  CHECK-NEXT: memref.dealloc %[[A]]
//   CHECK-NOT: memref.dealloc
//       CHECK: return
func.func @stack(%n: index, %x: f32) attributes {plim.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = memref.alloca() : memref<4xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%b_i = %b) -> memref<4xf32> {
    %a = memref.alloca() {alignment = 32 : i64} : memref<4xf32>
    memref.store %x, %a[%c0] : memref<4xf32>
    memref.store %x, %b_i[%c0] : memref<4xf32>
    scf.yield %b_i : memref<4xf32>
  }
  return
}
}
