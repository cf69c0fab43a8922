// RUN: plimsoll explain %s --target x86-64-v3 | FileCheck %s
// RUN: plimsoll explain %s --target x86-64-v3 --json | FileCheck %s --check-prefix=JSON

// Dispatches that only move elements are copies, with what would avoid them.
//      CHECK: copies          6, of {{.*}}
//      CHECK: {{^}}copies
// CHECK-NEXT:   memref<8x33x32xf32> in @cut, from {{.*}}, 33 KiB
// CHECK-NEXT:     of a slice that lies apart in memory
// CHECK-NEXT:     instead: put the dimension that is cut first, where slices are views,
// CHECK-NEXT:   memref<8x?x32xf32> in @grows, from {{.*}}, bytes known at the call
// CHECK-NEXT:     of a slice that lies apart in memory
// CHECK-NEXT:     instead:
// CHECK-NEXT:   memref<64x32xf32> in @transposes, from {{.*}}, 8 KiB
// CHECK-NEXT:     of a transpose
// CHECK-NEXT:     instead: have it in the order in which it is read
// CHECK-NEXT:   memref<8x8xf32> in @pads, from {{.*}}, 256 B
// CHECK-NEXT:     of a padding
// CHECK-NEXT:     instead:
// CHECK-NEXT:   memref<8x4xf32> in @joins, from {{.*}}, 128 B
// CHECK-NEXT:     of an insertion, or a part of a concatenation
// CHECK-NEXT:     instead:
// CHECK-NEXT:   memref<8x8xf32> in @joins, from {{.*}}, 256 B
//      JSON: "copies": [
// JSON-NEXT: {
// JSON-NEXT: "bytes": 33792,
// JSON-NEXT: "function": "cut",
// JSON-NEXT: "instead": "put the dimension that is cut first
//      JSON: "of": "a slice that lies apart in memory",
// JSON-NEXT: "type": "memref<8x33x32xf32>"
func.func @cut(%c: tensor<8x64x32xf32>) -> tensor<8x33x32xf32> {
  %s = tensor.extract_slice %c[0, 0, 0] [8, 33, 32] [1, 1, 1] : tensor<8x64x32xf32> to tensor<8x33x32xf32>
  return %s : tensor<8x33x32xf32>
}
func.func @grows(%c: tensor<8x64x32xf32>, %n: index) -> tensor<8x?x32xf32> {
  %s = tensor.extract_slice %c[0, 0, 0] [8, %n, 32] [1, 1, 1] : tensor<8x64x32xf32> to tensor<8x?x32xf32>
  return %s : tensor<8x?x32xf32>
}
func.func @transposes(%x: tensor<32x64xf32>) -> tensor<64x32xf32> {
  %e = tensor.empty() : tensor<64x32xf32>
  %t = linalg.transpose ins(%x : tensor<32x64xf32>) outs(%e : tensor<64x32xf32>) permutation = [1, 0]
  return %t : tensor<64x32xf32>
}
func.func @pads(%x: tensor<8x8xf32>) -> tensor<10x10xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[1, 1] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<8x8xf32> to tensor<10x10xf32>
  return %p : tensor<10x10xf32>
}
func.func @joins(%x: tensor<8x4xf32>, %y: tensor<8x8xf32>) -> tensor<8x12xf32> {
  %c = tensor.concat dim(1) %x, %y : (tensor<8x4xf32>, tensor<8x8xf32>) -> tensor<8x12xf32>
  return %c : tensor<8x12xf32>
}
// What computes as it moves is no copy, nor is what reads a slice where it is.
func.func @computes(%c: tensor<8x64x32xf32>) -> tensor<8x33x32xf32> {
  %s = tensor.extract_slice %c[0, 0, 0] [8, 33, 32] [1, 1, 1] : tensor<8x64x32xf32> to tensor<8x33x32xf32>
  %e = tensor.empty() : tensor<8x33x32xf32>
  %r = linalg.exp ins(%s : tensor<8x33x32xf32>) outs(%e : tensor<8x33x32xf32>) -> tensor<8x33x32xf32>
  return %r : tensor<8x33x32xf32>
}
