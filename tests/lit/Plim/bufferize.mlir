// plim.dispatch in one-shot bufferization.
// RUN: plimsoll-opt %s -one-shot-bufferize=bufferize-function-boundaries -split-input-file \
// RUN:   | FileCheck %s

// In place, with its accesses and annotations.
// CHECK-LABEL: func.func @in_place(
//  CHECK-SAME: %[[A:.*]]: memref<{{.*}}>, %[[O:.*]]: memref<{{.*}}>)
//   CHECK-NOT: memref.alloc
//       CHECK: plim.dispatch @work ins(%{{.*}} : memref<4xf32>) outs(%{{.*}} : memref<4xf32>)
//  CHECK-SAME: accesses = [#plim.access<readonly>, #plim.access<writeonly>], plim.device = "host"
func.func private @work(%a: memref<f32>, %o: memref<f32>) attributes {plim.dispatch_function} {
  return
}
func.func @in_place(%a: memref<4xf32>, %o: memref<4xf32>) {
  %at = bufferization.to_tensor %a restrict : memref<4xf32> to tensor<4xf32>
  %ot = bufferization.to_tensor %o restrict writable : memref<4xf32> to tensor<4xf32>
  %r = plim.dispatch @work ins(%at : tensor<4xf32>) outs(%ot : tensor<4xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>], plim.device = "host"}
      -> tensor<4xf32>
  bufferization.materialize_in_destination %r in restrict writable %o
      : (tensor<4xf32>, memref<4xf32>) -> ()
  return
}

// -----

// An output that must not be written gets memory of its own. Write-only, it is not even copied.
// CHECK-LABEL: func.func @write_only(
//       CHECK: %[[OWN:.*]] = memref.alloc() {{.*}}: memref<4xf32>
//   CHECK-NOT: memref.copy
//       CHECK: plim.dispatch @work outs(%[[OWN]] : memref<4xf32>)
func.func private @work(%o: memref<f32>) attributes {plim.dispatch_function} {
  return
}
func.func @write_only(%o: memref<4xf32>) -> tensor<4xf32> {
  %ot = bufferization.to_tensor %o restrict : memref<4xf32> to tensor<4xf32>
  %r = plim.dispatch @work outs(%ot : tensor<4xf32>) {accesses = [#plim.access<writeonly>]}
      -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @read_write(
//  CHECK-SAME: %[[O:.*]]: memref<4xf32>
//       CHECK: %[[OWN:.*]] = memref.alloc() {{.*}}: memref<4xf32>
//       CHECK: memref.copy %[[O]], %[[OWN]]
//       CHECK: plim.dispatch @work outs(%[[OWN]] : memref<4xf32>)
func.func private @work(%o: memref<f32>) attributes {plim.dispatch_function} {
  return
}
func.func @read_write(%o: memref<4xf32>) -> tensor<4xf32> {
  %ot = bufferization.to_tensor %o restrict : memref<4xf32> to tensor<4xf32>
  %r = plim.dispatch @work outs(%ot : tensor<4xf32>) {accesses = [#plim.access<readwrite>]}
      -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// A value that is read later survives a dispatch that takes it as its output.
// CHECK-LABEL: func.func @read_later(
//       CHECK: memref.alloc()
//       CHECK: plim.dispatch @work outs
//       CHECK: plim.dispatch @two ins
func.func private @work(%o: memref<f32>) attributes {plim.dispatch_function} {
  return
}
func.func private @two(%a: memref<f32>, %o: memref<f32>) attributes {plim.dispatch_function} {
  return
}
func.func @read_later(%o: memref<4xf32>) -> tensor<4xf32> {
  %ot = bufferization.to_tensor %o restrict writable : memref<4xf32> to tensor<4xf32>
  %r = plim.dispatch @work outs(%ot : tensor<4xf32>) -> tensor<4xf32>
  %s = plim.dispatch @two ins(%ot : tensor<4xf32>) outs(%r : tensor<4xf32>) -> tensor<4xf32>
  return %s : tensor<4xf32>
}

// -----

// A binding is dense: what lies in memory with strides is copied, there and back as far as it is used.
// CHECK-LABEL: func.func @strided(
//  CHECK-SAME: %[[A:.*]]: memref<?x4xf32, strided<[8, 2]>>, %[[W:.*]]: memref<4xf32, strided<[2]>>, %[[R:.*]]: memref<4xf32, strided<[2]>>, %[[S:.*]]: f32)
//       CHECK: %[[N:.*]] = memref.dim %[[A]]
//       CHECK: %[[AD:.*]] = memref.alloc(%[[N]]) {{.*}}: memref<?x4xf32>
//       CHECK: memref.copy %[[A]], %[[AD]]
//       CHECK: %[[WD:.*]] = memref.alloc() {{.*}}: memref<4xf32>
//   CHECK-NOT: memref.copy
//       CHECK: %[[RD:.*]] = memref.alloc() {{.*}}: memref<4xf32>
//       CHECK: memref.copy %[[R]], %[[RD]]
//       CHECK: plim.dispatch @work ins(%[[AD]], %[[S]] : memref<?x4xf32>, f32) outs(%[[WD]], %[[RD]] : memref<4xf32>, memref<4xf32>)
//       CHECK: memref.copy %[[WD]], %[[W]]
//       CHECK: memref.copy %[[RD]], %[[R]]
func.func private @work(%a: memref<f32>, %s: f32, %w: memref<f32>, %r: memref<f32>)
    attributes {plim.dispatch_function} {
  return
}
func.func @strided(%a: memref<?x4xf32, strided<[8, 2]>>, %w: memref<4xf32, strided<[2]>>,
                   %r: memref<4xf32, strided<[2]>>, %s: f32) {
  %at = bufferization.to_tensor %a restrict
      : memref<?x4xf32, strided<[8, 2]>> to tensor<?x4xf32>
  %wt = bufferization.to_tensor %w restrict writable
      : memref<4xf32, strided<[2]>> to tensor<4xf32>
  %rt = bufferization.to_tensor %r restrict writable
      : memref<4xf32, strided<[2]>> to tensor<4xf32>
  %0:2 = plim.dispatch @work ins(%at, %s : tensor<?x4xf32>, f32)
      outs(%wt, %rt : tensor<4xf32>, tensor<4xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>, #plim.access<readwrite>]}
      -> tensor<4xf32>, tensor<4xf32>
  bufferization.materialize_in_destination %0#0 in restrict writable %w
      : (tensor<4xf32>, memref<4xf32, strided<[2]>>) -> ()
  bufferization.materialize_in_destination %0#1 in restrict writable %r
      : (tensor<4xf32>, memref<4xf32, strided<[2]>>) -> ()
  return
}

// -----

// Host code: read-only tensors are passed as they are, the destination is written in place if
// nothing needs what it holds, and the results that are tensors are gone. What is not dense is copied.
// CHECK-LABEL: func.func @host(
//  CHECK-SAME: %[[C:.*]]: !plim.context, %[[A:.*]]: memref<4xf32>, %[[S:.*]]: memref<4xf32, strided<[2]>>)
//       CHECK: %[[E:.*]] = memref.alloc() {{.*}}: memref<4xf32>
//       CHECK: %[[D:.*]] = memref.alloc() {{.*}}: memref<4xf32>
//       CHECK: memref.copy %[[S]], %[[D]]
//   CHECK-NOT: memref.copy
//       CHECK: %[[R:.*]] = plim.call @f(%[[C]], %[[A]], %[[D]], %[[E]]) {accesses = [#plim.access<readonly>, #plim.access<readonly>, #plim.access<writeonly>], destinations = array<i64: 3>} : {{.*}} -> i32
//   CHECK-NOT: memref.copy
//       CHECK: return
plim.external @f : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, i32)
    {accesses = [#plim.access<readonly>, #plim.access<readonly>], donations = array<i64: -1, -1>}
func.func @host(%c: !plim.context, %m: memref<4xf32>, %s: memref<4xf32, strided<[2]>>)
    -> (tensor<4xf32>, i32) {
  %a = bufferization.to_tensor %m restrict : memref<4xf32> to tensor<4xf32>
  %t = bufferization.to_tensor %s restrict : memref<4xf32, strided<[2]>> to tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %r:2 = plim.call @f(%c, %a, %t, %e) {accesses = [#plim.access<readonly>, #plim.access<readonly>,
      #plim.access<writeonly>], destinations = array<i64: 3>}
      : (!plim.context, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, i32)
  return %r#0, %r#1 : tensor<4xf32>, i32
}

// What the callee makes is an allocation; one that nobody needs is released, and none is copied.
// CHECK-LABEL: func.func @made(
//  CHECK-SAME: %[[C:[a-z0-9]*]]: !plim.context)
//       CHECK: %[[R:.*]]:2 = plim.call @make(%[[C]]) {accesses = [], destinations = array<i64: -1>} : (!plim.context) -> (i32, memref<?x4xf32>)
//   CHECK-NOT: memref.alloc
//   CHECK-NOT: memref.copy
//       CHECK: return %[[R]]#1, %[[R]]#0
plim.external @make : () -> (i32, tensor<?x4xf32>) {accesses = [], donations = array<i64: -1, -1>}
func.func @made(%c: !plim.context) -> (tensor<?x4xf32>, i32) {
  %r:2 = plim.call @make(%c) {accesses = [], destinations = array<i64: -1>}
      : (!plim.context) -> (i32, tensor<?x4xf32>)
  return %r#1, %r#0 : tensor<?x4xf32>, i32
}

// -----

// The sum of plim.tile_product is updated in place; what it does not read is not copied.
// CHECK-LABEL: func.func @tiles(
//  CHECK-SAME: %[[S:.*]]: memref<{{.*}}>)
//   CHECK-NOT: memref.copy
//       CHECK: %[[OWN:.*]] = memref.alloc() {{.*}}: memref<32x16xi32>
//   CHECK-NOT: memref.copy
//       CHECK: plim.tile_product {{.*}} outs(%[[OWN]] : memref<32x16xi32>) {fromZero}
//       CHECK: %[[COPY:.*]] = memref.alloc() {{.*}}: memref<32x16xi32>
//       CHECK: memref.copy
//       CHECK: plim.tile_product {{.*}} outs(%[[COPY]] : memref<32x16xi32>)
func.func @tiles(%a: tensor<32x64xi8>, %b: tensor<16x16xi32>, %s: tensor<32x16xi32> {bufferization.writable = false})
    -> (tensor<32x16xi32>, tensor<32x16xi32>) {
  %r = plim.tile_product ins(%a, %b : tensor<32x64xi8>, tensor<16x16xi32>) outs(%s : tensor<32x16xi32>) {fromZero} -> tensor<32x16xi32>
  %t = plim.tile_product ins(%a, %b : tensor<32x64xi8>, tensor<16x16xi32>) outs(%s : tensor<32x16xi32>) -> tensor<32x16xi32>
  return %r, %t : tensor<32x16xi32>, tensor<32x16xi32>
}
