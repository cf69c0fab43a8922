// RUN: plimsoll-opt %s -plim-attach-target=tag=x86-64-v4 -plim-load-pipeline --mlir-print-ir-after=plim-prefetch-panels -o /dev/null 2>&1 | FileCheck %s

// The panels of a constant are read where they lie, without a copy, and the next one is fetched meanwhile.
// CHECK-LABEL: func.func private @main_contraction_0(
//   CHECK-NOT: linalg.generic
//       CHECK: memref.prefetch %[[PANELS:.*]][{{.*}}], read, locality<2>, data : memref<32x1024x32xf32>
//       CHECK: vector.transfer_read %[[PANELS]][{{.*}} : memref<32x1024x32xf32>, vector<{{.*}}x32xf32>
//   CHECK-NOT: linalg.generic
//       CHECK: return
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"host" = #dlti.target_device_spec<"plim.kind" = "cpu", "plim.page_bytes" = 4096 : i64>>} {
  ml_program.global private @weights(#ml_program.extern<tensor<1024x1024xf32>>) : tensor<1024x1024xf32>
  func.func @main(%x: tensor<96x1024xf32>) -> tensor<96x1024xf32> {
    %z = arith.constant 0.0 : f32
    %w = ml_program.global_load_const @weights : tensor<1024x1024xf32>
    %e = tensor.empty() : tensor<96x1024xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<96x1024xf32>) -> tensor<96x1024xf32>
    %r = linalg.matmul ins(%x, %w : tensor<96x1024xf32>, tensor<1024x1024xf32>) outs(%f : tensor<96x1024xf32>) -> tensor<96x1024xf32>
    return %r : tensor<96x1024xf32>
  }
}
