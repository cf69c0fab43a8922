// RUN: plimsoll explain %s | FileCheck %s
// RUN: plimsoll explain %s --json | FileCheck %s --check-prefix=JSON

// Copies are counted, and each says where it is and what it keeps. What is read no more is written where it lies.
//      CHECK: copies          1, of 256 B
//      CHECK: {{^}}copies
// CHECK-NEXT:   memref<64xf32> in @keeps, from {{.*}}copies.mlir:23:8
// CHECK-NEXT:     of a buffer that is used again
//  CHECK-NOT: of a buffer
//      JSON: "copies": [
// JSON-NEXT: {
// JSON-NEXT:   "bytes": 256,
// JSON-NEXT:   "function": "keeps",
// JSON-NEXT:   "location": "{{.*}}copies.mlir:23:8",
// JSON-NEXT:   "of": "a buffer that is used again",
// JSON-NEXT:   "type": "memref<64xf32>"
// JSON-NEXT: }
// JSON-NEXT: ],
func.func @keeps(%x: tensor<64xf32>, %i: index) -> (tensor<64xf32>, f32) {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.exp ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %g = tensor.insert %one into %f[%i] : tensor<64xf32>
  %old = tensor.extract %f[%i] : tensor<64xf32>
  return %g, %old : tensor<64xf32>, f32
}
func.func @in_place(%x: tensor<64xf32>, %i: index) -> tensor<64xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.exp ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %g = tensor.insert %one into %f[%i] : tensor<64xf32>
  return %g : tensor<64xf32>
}
