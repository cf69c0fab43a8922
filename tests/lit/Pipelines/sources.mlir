// What comes in in other dialects, through the tensor level of the pipeline: every tensor op ends in
// a dispatch, none of the source dialect is left.
// RUN: plimsoll-opt %s -plim-tensor-pipeline -split-input-file | FileCheck %s
// RUN: plimsoll-opt %s -plim-load-pipeline -split-input-file -o /dev/null

// CHECK-LABEL: func.func @tosa(
//   CHECK-NOT: tosa.
// CHECK-COUNT-1: plim.dispatch
//   CHECK-NOT: plim.dispatch
//       CHECK: return
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu">>} {
func.func @tosa(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %s = tosa.add %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = tosa.tanh %s : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
}

// -----

// Softmax is one dispatch.
// CHECK-LABEL: func.func @softmax(
// CHECK-COUNT-1: plim.dispatch
//   CHECK-NOT: plim.dispatch
//       CHECK: return
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu">>} {
func.func @softmax(%a: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%n) : tensor<?x64xf32>
  %r = linalg.softmax dimension(1) ins(%a : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>)
      -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}
}

// -----

// Private functions are inlined into their callers and go away.
// CHECK-NOT: @helper
// CHECK-LABEL: func.func @inlined(
//   CHECK-NOT: call @
// CHECK-COUNT-1: plim.dispatch
//   CHECK-NOT: plim.dispatch
//       CHECK: return
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu">>} {
func.func private @helper(%a: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.exp ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
func.func @inlined(%a: tensor<8xf32>) -> tensor<8xf32> {
  %r = call @helper(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %s = call @helper(%r) : (tensor<8xf32>) -> tensor<8xf32>
  return %s : tensor<8xf32>
}
}

// -----

// A kernel keeps its loops and gets no dispatch.
// CHECK-LABEL: func.func @kernel(
//  CHECK-SAME: memref<f32> {plim.access = #plim.access<readwrite>, plim.extents = array<i64: 0>}, %{{[^:]*}}: index) attributes {plim.kernel}
//   CHECK-NOT: plim.dispatch
//       CHECK: scf.for
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu">>} {
func.func @kernel(%a: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %a, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %a[%i] : memref<?xf32>
    %y = arith.addf %x, %x : f32
    memref.store %y, %a[%i] : memref<?xf32>
  }
  return
}
}
