// RUN: plimsoll explain %s --target cortex-m55-ethos-u55 | FileCheck %s
// RUN: plimsoll explain %s --target cortex-m55-ethos-u55 --set memories.dtcm.bytes=704 \
// RUN:   | FileCheck %s --check-prefix=SMALL
// RUN: plimsoll explain %s --target cortex-m55-ethos-u55 --json | FileCheck %s --check-prefix=JSON

// What a module puts into each memory of the target: constants where their author wants them, the rest beside the processor while it
// fits. Scratch and stack are of any function, as much as the largest needs.
//      CHECK: memory dtcm of the target, scratch: {{[0-9]+}} of 524288 bytes
// CHECK-NEXT:   offset
// CHECK-NEXT:        0    256  variable @sum
// CHECK-NEXT:      256    256  pool
// CHECK-NEXT:      512    512  workspace
// CHECK-NEXT:     1024    {{[0-9]+}}  stack
// CHECK-NEXT: memory flash of the target, flash: 1600 of 8388608 bytes
// CHECK-NEXT:   offset
// CHECK-NEXT:        0   1600  constant @table

// Each where it fits alone, and all do not.
// SMALL: memory dtcm of the target, scratch: {{[0-9]+}} of 704 bytes, {{[0-9]+}} too many

//      JSON: "symbols": [
// JSON-NEXT: {
// JSON-NEXT:   "bytes": 1600,
// JSON-NEXT:   "kind": "constant",
// JSON-NEXT:   "name": "table",
// JSON-NEXT:   "pool": "flash"
//      JSON: "layout": [
//      JSON: "used_bytes": 1600
memref.global "private" constant @table : memref<400xf32> = dense<1.5> {plim.scope = "global.flash"}
ml_program.global private mutable @sum(dense<0.0> : tensor<64xf32>) : tensor<64xf32>
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %w = arith.constant dense<"0x000000000000803F0000004000004040"> : tensor<4xf32>
  %a = bufferization.alloc_tensor() {plim.scope = "global.dtcm"} : tensor<64xf32>
  %b = bufferization.alloc_tensor() {plim.candidate_pools = ["sram"]} : tensor<64xf32>
  %r = linalg.exp ins(%x : tensor<64xf32>) outs(%a : tensor<64xf32>) -> tensor<64xf32>
  %s = tensor.insert_slice %r into %b[0] [64] [1] : tensor<64xf32> into tensor<64xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1.0 : f32
  %t = tensor.insert %c1 into %s[%c0] : tensor<64xf32>
  %e = tensor.empty() : tensor<64xf32>
  %u = linalg.add ins(%t, %r : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %v = ml_program.global_load @sum : tensor<64xf32>
  %z = linalg.add ins(%v, %u : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  ml_program.global_store @sum = %z : tensor<64xf32>
  return %z : tensor<64xf32>
}
func.func @look(%i: index) -> f32 {
  %t = memref.get_global @table : memref<400xf32>
  %r = memref.load %t[%i] : memref<400xf32>
  return %r : f32
}
