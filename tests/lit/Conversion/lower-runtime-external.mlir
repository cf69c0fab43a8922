// RUN: plimsoll-opt %s -plim-lower-runtime | FileCheck %s

// A call of the host application: views in the frame, the symbol that the linker provides, and where in
// the source it is.
//   CHECK-DAG: llvm.func @plim_rt_call(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
//   CHECK-DAG: llvm.mlir.global external constant @plim.external.sum() {{.*}}: i8
//   CHECK-DAG: llvm.mlir.global internal constant @[[$PLACE:plim.string.[0-9]+]]("{{.*}}lower-runtime-external.mlir:{{[0-9]+}}:{{[0-9]+}}: \00")
//   CHECK-NOT: plim.external @
plim.external @sum : (f32, memref<?x4xf32>) -> i32
    {accesses = [#plim.access<readonly>], donations = array<i64: -1>}

// CHECK-LABEL: func.func private @plim.body.calls(
//  CHECK-SAME: %[[CONTEXT:[a-z0-9]*]]: !llvm.ptr, %{{.*}}: !llvm.ptr, %[[RESULTS:.*]]: !llvm.ptr)
//   CHECK-DAG: %[[S:.*]] = llvm.load %{{.*}} : !llvm.ptr -> f32
//   CHECK-DAG: llvm.store %[[S]], %{{.*}} : f32, !llvm.ptr
//   CHECK-DAG: %[[CALLEE:.*]] = llvm.mlir.addressof @plim.external.sum
//   CHECK-DAG: %[[WHERE:.*]] = llvm.mlir.addressof @[[$PLACE]]
//       CHECK: %[[STATUS:.*]] = llvm.call @plim_rt_call(%[[CONTEXT]], %[[CALLEE]], %[[WHERE]], %{{.*}}, %{{.*}})
//       CHECK: %[[FAILED:.*]] = arith.cmpi ne, %[[STATUS]], %{{.*}}
//       CHECK: cf.cond_br %[[FAILED]], ^[[OUT:.*]], ^[[ON:.*]]
//       CHECK: ^[[ON]]:
//       CHECK: %[[R:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i32
//       CHECK: llvm.getelementptr %[[RESULTS]][0]
//       CHECK: llvm.store %[[R]], %{{.*}} : i32, !llvm.ptr
//       CHECK: return
//       CHECK: ^[[OUT]]:
//  CHECK-NEXT: return
func.func @calls(%a: memref<?x4xf32>, %s: f32) -> i32 {
  %context = plim.context : !plim.context
  %r = plim.call @sum(%context, %s, %a) {accesses = [#plim.access<readonly>],
      destinations = array<i64>} : (!plim.context, f32, memref<?x4xf32>) -> i32
  return %r : i32
}

// Without a use there is no context.
// CHECK-LABEL: func.func @plim.raw.without(
//   CHECK-NOT: !llvm.ptr
//       CHECK: return
func.func @without(%s: f32) -> f32 attributes {plim.kernel} {
  return %s : f32
}

// A result that the callee makes: its extents are open, and its view is read when the callee has made it.
plim.external @rows : () -> tensor<?x4xf32> {accesses = [], donations = array<i64: -1>}
// CHECK-LABEL: func.func private @plim.body.made(
//  CHECK-SAME: %[[CONTEXT:[a-z0-9]*]]: !llvm.ptr
//       CHECK: %[[SIZES:.*]] = llvm.alloca %{{.*}} x i64
//       CHECK: %[[OPEN:.*]] = llvm.mlir.constant(-1 : i64)
//       CHECK: %[[EXTENT:.*]] = llvm.getelementptr %[[SIZES]][0]
//       CHECK: llvm.store %[[OPEN]], %[[EXTENT]]
//       CHECK: %[[RESULTS:.*]] = llvm.getelementptr %[[SIZES]][2]
//       CHECK: llvm.call @plim_rt_call(%[[CONTEXT]], %{{.*}}, %{{.*}}, %{{.*}}, %[[RESULTS]])
//       CHECK: cf.cond_br
//       CHECK: %[[EXTENT:.*]] = llvm.getelementptr %[[SIZES]][0]
//       CHECK: llvm.load %[[EXTENT]] : !llvm.ptr -> i64
//       CHECK: %[[DATA:.*]] = llvm.getelementptr %[[RESULTS]][0]
//       CHECK: llvm.load %[[DATA]] : !llvm.ptr -> !llvm.ptr
//       CHECK: llvm.call @plim_rt_release
func.func @made() -> index {
  %c0 = arith.constant 0 : index
  %context = plim.context : !plim.context
  %r = plim.call @rows(%context) {accesses = [], destinations = array<i64: -1>}
      : (!plim.context) -> memref<?x4xf32>
  %n = memref.dim %r, %c0 : memref<?x4xf32>
  memref.dealloc %r : memref<?x4xf32>
  return %n : index
}
