// RUN: plimsoll-opt %s -plim-prepare-constants -split-input-file | FileCheck %s

// What is computed of constants alone moves, with all that it needs, and equal values are one; what depends on an argument
// stays, and so does what is small, or larger than what it is made of.
// CHECK-LABEL: func.func @twice
//       CHECK:   memref.get_global @plim.prepare.[[NAME:[0-9a-f]+]] : memref<64x32xf32>
//       CHECK:   memref.get_global @plim.prepare.[[NAME]] : memref<64x32xf32>
//       CHECK:   linalg.broadcast
//       CHECK:   linalg.transpose ins(%arg0
//       CHECK:   linalg.transpose ins(%{{.*}} : tensor<2x3xf32>)
//       CHECK: memref.global "private" @plim.prepare.[[NAME]] : memref<64x32xf32> = uninitialized {plim.prepared}
//   CHECK-NOT: memref.global
//       CHECK: func.func @plim.prepare() attributes {plim.prepared}
//   CHECK-DAG:   memref.get_global @weights
//   CHECK-DAG:   memref.get_global @plim.prepare.[[NAME]]
//       CHECK:   linalg.transpose
//   CHECK-NOT:   linalg.transpose
//       CHECK:   bufferization.materialize_in_destination
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"host" = #dlti.target_device_spec<"plim.kind" = "cpu", "plim.page_bytes" = 4096 : i64>>} {
  memref.global "private" @weights : memref<32x64xf32>
  memref.global "private" constant @small : memref<2x3xf32> = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]>
  func.func @twice(%x: tensor<32x64xf32>) -> (tensor<64x32xf32>, tensor<64x32xf32>, tensor<32x64x9xf32>, tensor<64x32xf32>, tensor<3x2xf32>) {
    %g = memref.get_global @weights : memref<32x64xf32>
    %w = bufferization.to_tensor %g restrict : memref<32x64xf32> to tensor<32x64xf32>
    %e = tensor.empty() : tensor<64x32xf32>
    %a = linalg.transpose ins(%w : tensor<32x64xf32>) outs(%e : tensor<64x32xf32>) permutation = [1, 0]
    %b = linalg.transpose ins(%w : tensor<32x64xf32>) outs(%e : tensor<64x32xf32>) permutation = [1, 0]
    %large = tensor.empty() : tensor<32x64x9xf32>
    %c = linalg.broadcast ins(%w : tensor<32x64xf32>) outs(%large : tensor<32x64x9xf32>) dimensions = [2]
    %d = linalg.transpose ins(%x : tensor<32x64xf32>) outs(%e : tensor<64x32xf32>) permutation = [1, 0]
    %h = memref.get_global @small : memref<2x3xf32>
    %s = bufferization.to_tensor %h restrict : memref<2x3xf32> to tensor<2x3xf32>
    %se = tensor.empty() : tensor<3x2xf32>
    %st = linalg.transpose ins(%s : tensor<2x3xf32>) outs(%se : tensor<3x2xf32>) permutation = [1, 0]
    return %a, %b, %c, %d, %st : tensor<64x32xf32>, tensor<64x32xf32>, tensor<32x64x9xf32>, tensor<64x32xf32>, tensor<3x2xf32>
  }
}

// -----

// Without pages there is no place for it.
// CHECK-LABEL: func.func @microcontroller
//       CHECK:   linalg.transpose
//   CHECK-NOT: plim.prepare
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"host" = #dlti.target_device_spec<"plim.kind" = "cpu">>} {
  memref.global "private" @weights : memref<32x64xf32>
  func.func @microcontroller() -> tensor<64x32xf32> {
    %g = memref.get_global @weights : memref<32x64xf32>
    %w = bufferization.to_tensor %g restrict : memref<32x64xf32> to tensor<32x64xf32>
    %e = tensor.empty() : tensor<64x32xf32>
    %a = linalg.transpose ins(%w : tensor<32x64xf32>) outs(%e : tensor<64x32xf32>) permutation = [1, 0]
    return %a : tensor<64x32xf32>
  }
}
