// RUN: plimsoll-opt %s -one-shot-bufferize -split-input-file -verify-diagnostics

func.func private @work(%a: memref<f32>, %o: memref<f32>) attributes {plim.dispatch_function} {
  return
}
func.func @input(%a: memref<4xf32, strided<[2]>>, %o: memref<4xf32>) {
  %at = bufferization.to_tensor %a restrict : memref<4xf32, strided<[2]>> to tensor<4xf32>
  %ot = bufferization.to_tensor %o restrict writable : memref<4xf32> to tensor<4xf32>
  // expected-error @below {{'plim.dispatch' op binds a buffer that is not dense row-major}}
  // expected-error @below {{failed to bufferize op}}
  %r = plim.dispatch @work ins(%at : tensor<4xf32>) outs(%ot : tensor<4xf32>) -> tensor<4xf32>
  bufferization.materialize_in_destination %r in restrict writable %o
      : (tensor<4xf32>, memref<4xf32>) -> ()
  return
}
