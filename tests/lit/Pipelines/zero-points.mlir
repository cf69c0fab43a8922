// RUN: plimsoll-opt %s -plim-attach-target=tag=x86-64-v4 -plim-tensor-pipeline | FileCheck %s

// A layer of bytes with zero points is one dispatch, in groups, with what scales the result. The sum of the weights is made at the link.
// CHECK-LABEL: func.func private @main_contraction_0(
//       CHECK:   plim.dot_groups
//       CHECK:   arith.muli %{{.*}}, %c-5_i32
//       CHECK:   arith.subi
//       CHECK:   arith.shrsi
//       CHECK:   arith.trunci
// CHECK-LABEL: func.func @main(
//       CHECK:   %[[GLOBAL:.*]] = memref.get_global @plim.prepare.{{.*}} : memref<512xi32>
//       CHECK:   %[[SUM:.*]] = bufferization.to_tensor %[[GLOBAL]]
//       CHECK:   plim.dispatch @main_contraction_0 ins({{.*}}, %[[SUM]] :
//   CHECK-NOT:   plim.dispatch
//       CHECK:   return
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"host" = #dlti.target_device_spec<"plim.kind" = "cpu", "plim.page_bytes" = 4096 : i64>>} {
  ml_program.global private @weights(#ml_program.extern<tensor<256x512xi8>>) : tensor<256x512xi8>
  func.func @main(%x: tensor<96x256xi8>) -> tensor<96x512xi8> {
    %zero = arith.constant 0 : i32
    %za = arith.constant -5 : i32
    %w = ml_program.global_load_const @weights : tensor<256x512xi8>
    %e = tensor.empty() : tensor<96x512xi32>
    %f = linalg.fill ins(%zero : i32) outs(%e : tensor<96x512xi32>) -> tensor<96x512xi32>
    %p = linalg.quantized_matmul ins(%x, %w, %za, %zero : tensor<96x256xi8>, tensor<256x512xi8>, i32, i32)
        outs(%f : tensor<96x512xi32>) -> tensor<96x512xi32>
    %o = tensor.empty() : tensor<96x512xi8>
    %r = linalg.map ins(%p : tensor<96x512xi32>) outs(%o : tensor<96x512xi8>) (%v: i32, %old: i8) {
      %ten = arith.constant 10 : i32
      %s = arith.shrsi %v, %ten : i32
      %t = arith.trunci %s : i32 to i8
      linalg.yield %t : i8
    }
    return %r : tensor<96x512xi8>
  }
}
