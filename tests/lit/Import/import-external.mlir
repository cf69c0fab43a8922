// RUN: plimsoll-opt %s -plim-import | FileCheck %s
// RUN: plimsoll-opt %s -plim-import-allocations -plim-import -canonicalize -cse | FileCheck %s --check-prefix=CLEAN

// A declaration that shows the context and one that does not: the call has it either way.
// CHECK: plim.external @shown : (f32, memref<?x4xf32>) -> i32 {accesses = [#plim.access<readonly>], donations = array<i64: -1>}
func.func private @shown(!plim.context, f32, memref<?x4xf32> {plim.access = #plim.access<readonly>}) -> i32
// CHECK: plim.external @hidden : (memref<4xi8>) -> () {accesses = [#plim.access<readwrite>], donations = array<i64>}
func.func private @hidden(memref<4xi8>)
// CHECK: plim.external @made : (tensor<4xf32>) -> (i1, tensor<4xf32>) {accesses = [#plim.access<readonly>], donations = array<i64: -1, -1>}
func.func private @made(tensor<4xf32>) -> (i1, tensor<4xf32>)
// CHECK: plim.external @given : (i32, tensor<?xf32>) -> tensor<?xf32> {accesses = [#plim.access<writeonly>], donations = array<i64: 1>}
func.func private @given(!plim.context, i32, tensor<?xf32> {plim.donate = 0 : index, plim.access = #plim.access<writeonly>}) -> tensor<?xf32>
// CHECK: plim.external @cost : (f32) -> f32 {accesses = [], donations = array<i64: -1>, pure}
func.func private @cost(f32) -> f32 attributes {plim.pure}

// CHECK-LABEL: func.func @kernel(
//  CHECK-SAME: %[[A:.*]]: memref<?x4xf32>, %[[B:.*]]: memref<4xi8>, %[[S:.*]]: f32) -> i32 attributes {plim.kernel}
//       CHECK: %[[CONTEXT:.*]] = plim.context : !plim.context
//       CHECK: %[[R:.*]] = plim.call @shown(%[[CONTEXT]], %[[S]], %[[A]]) {accesses = [#plim.access<readonly>], destinations = array<i64>} : (!plim.context, f32, memref<?x4xf32>) -> i32
//       CHECK: %[[OTHER:.*]] = plim.context : !plim.context
//       CHECK: plim.call @hidden(%[[OTHER]], %[[B]])
// CLEAN-LABEL: func.func @kernel(
//       CLEAN: %[[CONTEXT:.*]] = plim.context
//       CLEAN: plim.call @shown(%[[CONTEXT]],
//       CLEAN: plim.call @hidden(%[[CONTEXT]],
func.func @kernel(%a: memref<?x4xf32>, %b: memref<4xi8>, %s: f32) -> i32 {
  %context = plim.context : !plim.context
  %r = func.call @shown(%context, %s, %a) : (!plim.context, f32, memref<?x4xf32>) -> i32
  func.call @hidden(%b) : (memref<4xi8>) -> ()
  return %r : i32
}

// A tensor result has a destination: one of the caller's, or the argument that is donated to it.
// CHECK-LABEL: func.func @tensors(
//  CHECK-SAME: %[[X:.*]]: tensor<4xf32> {{.*}}, %[[Y:.*]]: tensor<?xf32>
//       CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<4xf32>
//       CHECK: %{{.*}}:2 = plim.call @made(%{{.*}}, %[[X]], %[[EMPTY]]) {accesses = [#plim.access<readonly>, #plim.access<writeonly>], destinations = array<i64: 2>}
//       CHECK: plim.call @given(%{{.*}}, %{{.*}}, %[[Y]]) {accesses = [#plim.access<writeonly>], destinations = array<i64: 2>}
func.func @tensors(%x: tensor<4xf32>, %y: tensor<?xf32>, %i: i32) -> (tensor<4xf32>, tensor<?xf32>) {
  %context = plim.context : !plim.context
  %ok, %m = func.call @made(%x) : (tensor<4xf32>) -> (i1, tensor<4xf32>)
  %g = func.call @given(%context, %i, %y) : (!plim.context, i32, tensor<?xf32>) -> tensor<?xf32>
  return %m, %g : tensor<4xf32>, tensor<?xf32>
}

// Pure ones are merged and dropped, and with them the context.
// CLEAN-LABEL: func.func @merged(
//       CLEAN: %[[Y:.*]] = plim.call @cost(
//   CLEAN-NOT: plim.call
//       CLEAN: arith.addf %[[Y]], %[[Y]]
// CLEAN-LABEL: func.func @dropped(
//  CLEAN-NEXT: return
func.func @merged(%x: f32) -> f32 {
  %a = func.call @cost(%x) : (f32) -> f32
  %b = func.call @cost(%x) : (f32) -> f32
  %r = arith.addf %a, %b : f32
  return %r : f32
}
func.func @dropped(%x: f32) {
  %a = func.call @cost(%x) : (f32) -> f32
  return
}
