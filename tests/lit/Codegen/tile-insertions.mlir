// RUN: plimsoll-opt %s -plim-tile-insertions | FileCheck %s

// Two rows of 114 x 64 for each workgroup, filled and written over.
// CHECK-LABEL: func.func private @border
//       CHECK:   scf.forall (%[[I:.*]]) = (0) to (114) step (2) shared_outs(%[[O:.*]] = %{{.*}}) -> (tensor<114x114x64xf32>)
//       CHECK:     %[[PART:.*]] = tensor.extract_slice %[[O]][%[[I]], 0, 0] [%[[N:.*]], 114, 64]
//       CHECK:     %[[FILLED:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%[[PART]]
//       CHECK:     %[[ROWS:.*]] = tensor.extract_slice %{{.*}}[%{{.*}}, 0, 0] [%[[SOME:.*]], 112, 64]
//       CHECK:     %[[R:.*]] = tensor.insert_slice %[[ROWS]] into %[[FILLED]][%{{.*}}, 1, 0] [%[[SOME]], 112, 64]
//       CHECK:     tensor.parallel_insert_slice %[[R]] into %[[O]][%[[I]], 0, 0] [%[[N]], 114, 64]
func.func private @border(%x: memref<112x112x64xf32>, %y: memref<114x114x64xf32>) attributes {plim.dispatch_function} {
  %z = arith.constant 0.0 : f32
  %a = bufferization.to_tensor %x restrict : memref<112x112x64xf32> to tensor<112x112x64xf32>
  %b = bufferization.to_tensor %y restrict writable : memref<114x114x64xf32> to tensor<114x114x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%b : tensor<114x114x64xf32>) -> tensor<114x114x64xf32>
  %r = tensor.insert_slice %a into %f[1, 1, 0] [112, 112, 64] [1, 1, 1] : tensor<112x112x64xf32> into tensor<114x114x64xf32>
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<114x114x64xf32>, memref<114x114x64xf32>) -> ()
  return
}

// A part of a concatenation, along what it has.
// CHECK-LABEL: func.func private @part
//       CHECK:   scf.forall (%[[I:.*]]) = (0) to (500) step (16) shared_outs(%[[O:.*]] = %{{.*}}) -> (tensor<800x1000xf32>)
//   CHECK-DAG:     %[[ROWS:.*]] = tensor.extract_slice %{{.*}}[%[[I]], 0] [%[[N:.*]], 1000]
//       CHECK:     tensor.parallel_insert_slice %[[ROWS]] into %[[O]][%{{.*}}, 0] [%[[N]], 1000]
func.func private @part(%x: memref<500x1000xf32>, %y: memref<800x1000xf32>) attributes {plim.dispatch_function} {
  %a = bufferization.to_tensor %x restrict : memref<500x1000xf32> to tensor<500x1000xf32>
  %b = bufferization.to_tensor %y restrict writable : memref<800x1000xf32> to tensor<800x1000xf32>
  %r = tensor.insert_slice %a into %b[300, 0] [500, 1000] [1, 1] : tensor<500x1000xf32> into tensor<800x1000xf32>
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<800x1000xf32>, memref<800x1000xf32>) -> ()
  return
}

// What one workgroup does stays whole.
// CHECK-LABEL: func.func private @small
//   CHECK-NOT:   scf.forall
//       CHECK:   return
func.func private @small(%x: memref<8x8xf32>, %y: memref<10x10xf32>) attributes {plim.dispatch_function} {
  %z = arith.constant 0.0 : f32
  %a = bufferization.to_tensor %x restrict : memref<8x8xf32> to tensor<8x8xf32>
  %b = bufferization.to_tensor %y restrict writable : memref<10x10xf32> to tensor<10x10xf32>
  %f = linalg.fill ins(%z : f32) outs(%b : tensor<10x10xf32>) -> tensor<10x10xf32>
  %r = tensor.insert_slice %a into %f[1, 1] [8, 8] [1, 1] : tensor<8x8xf32> into tensor<10x10xf32>
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<10x10xf32>, memref<10x10xf32>) -> ()
  return
}
