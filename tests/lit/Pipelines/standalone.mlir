// RUN: plimsoll-opt %s --pass-pipeline="builtin.module(plim-attach-target{tag=corstone-300},plim-tensor-pipeline{standalone},plim-buffer-pipeline{standalone})" \
// RUN:   | FileCheck %s
// RUN: plimsoll-opt %s --pass-pipeline="builtin.module(plim-attach-target{tag=corstone-300},plim-tensor-pipeline,plim-buffer-pipeline)" \
// RUN:   | FileCheck %s --check-prefix=ENGINE
// RUN: plimsoll-opt %s --pass-pipeline="builtin.module(plim-attach-target{tag=corstone-300},plim-load-pipeline{standalone})" \
// RUN:   | FileCheck %s --check-prefix=NARROW
// RUN: plimsoll-opt %s --pass-pipeline="builtin.module(plim-attach-target{tag=riscv64},plim-load-pipeline{standalone})" \
// RUN:   | FileCheck %s --check-prefix=WIDE

// Code for a program without the engine: dispatches one after the other, without a schedule, and what they need of scratch is a
// buffer of the slab while they run.

//  CHECK-NOT: plim.schedule
//      CHECK: func.func @main({{.*}}plim.workspace_bytes
//      CHECK: plim.dispatch @main_contraction_0{{.*}}plim.scratch_offset = {{[0-9]+}} : i64
//      CHECK: plim.dispatch @main_contraction_1{{.*}}plim.scratch_offset = {{[0-9]+}} : i64
// ENGINE-NOT: plim.scratch_offset
//     ENGINE: plim.schedule

// An index has as many bits as addresses. Nobody asks a call to stop, which the atomic load would be for.
// NARROW: dlti.dl_spec = #dlti.dl_spec<index = 32 : i32>
// NARROW: llvm.func @plim.body.main_contraction_0({{.*}}i32, %{{.*}}: i32)
// NARROW-NOT: atomic
//   WIDE-NOT: dlti.dl_spec
//   WIDE: llvm.func @plim.body.main_contraction_0({{.*}}i64, %{{.*}}: i64)
func.func @main(%a: tensor<125x16xi8>, %b: tensor<16x16xi8>, %d: tensor<16x12xi8>) -> tensor<125x12xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<125x16xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<125x16xi32>) -> tensor<125x16xi32>
  %m = linalg.matmul ins(%a, %b : tensor<125x16xi8>, tensor<16x16xi8>) outs(%f : tensor<125x16xi32>) -> tensor<125x16xi32>
  %t = arith.trunci %m : tensor<125x16xi32> to tensor<125x16xi8>
  %g = tensor.empty() : tensor<125x12xi32>
  %h = linalg.fill ins(%zero : i32) outs(%g : tensor<125x12xi32>) -> tensor<125x12xi32>
  %r = linalg.matmul ins(%t, %d : tensor<125x16xi8>, tensor<16x12xi8>) outs(%h : tensor<125x12xi32>) -> tensor<125x12xi32>
  return %r : tensor<125x12xi32>
}
