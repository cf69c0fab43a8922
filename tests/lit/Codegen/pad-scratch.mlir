// RUN: plimsoll-opt %s -plim-pad-scratch | FileCheck %s

// Rows of 4096 bytes get a line more; others do not, nor what is returned.
// CHECK-LABEL: func.func private @rows
//   CHECK-DAG:   %[[M:.*]] = tensor.empty() : tensor<8x1040xf32>
//   CHECK-DAG:   %[[S:.*]] = tensor.extract_slice %[[M]][0, 0] [8, 1024] [1, 1] : tensor<8x1040xf32> to tensor<8x1024xf32>
//   CHECK-DAG:   linalg.fill ins(%{{.*}} : f32) outs(%[[S]] : tensor<8x1024xf32>)
//   CHECK-DAG:   %[[N:.*]] = tensor.empty(%{{.*}}) : tensor<?x2080xf16>
//   CHECK-DAG:   tensor.extract_slice %[[N]][0, 0] [%{{.*}}, 2048] [1, 1]
//   CHECK-DAG:   tensor.empty() : tensor<8x1000xf32>
//   CHECK-DAG:   tensor.empty() : tensor<1x1024xf32>
//   CHECK-DAG:   tensor.empty() : tensor<2x1024xf32>
func.func private @rows(%n: index, %h: f16) -> tensor<2x1024xf32> attributes {plim.dispatch_function} {
  %zero = arith.constant 0.0 : f32
  %a = tensor.empty() : tensor<8x1024xf32>
  %b = tensor.empty() : tensor<8x1000xf32>
  %c = tensor.empty() : tensor<1x1024xf32>
  %d = tensor.empty(%n) : tensor<?x2048xf16>
  %e = tensor.empty() : tensor<2x1024xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%a : tensor<8x1024xf32>) -> tensor<8x1024xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%b : tensor<8x1000xf32>) -> tensor<8x1000xf32>
  %2 = linalg.fill ins(%zero : f32) outs(%c : tensor<1x1024xf32>) -> tensor<1x1024xf32>
  %3 = linalg.fill ins(%h : f16) outs(%d : tensor<?x2048xf16>) -> tensor<?x2048xf16>
  return %e : tensor<2x1024xf32>
}
