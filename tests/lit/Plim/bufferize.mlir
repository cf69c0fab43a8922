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
