// Where memory lives under each policy, seen from the generated code: the temporary buffer
// of host code and that of a dispatch function, of 256 bytes each.
// RUN: plimsoll-opt %s -plim-load-pipeline | FileCheck %s --check-prefixes=CHECK,STACK,SLAB
// RUN: plimsoll-opt %s -plim-load-pipeline=policy=auto \
// RUN:   | FileCheck %s --check-prefixes=CHECK,STACK,SLAB
// RUN: plimsoll-opt %s -plim-load-pipeline=policy=stack \
// RUN:   | FileCheck %s --check-prefixes=CHECK,STACK,FRAME
// RUN: plimsoll-opt %s -plim-load-pipeline=policy=fixed:256 \
// RUN:   | FileCheck %s --check-prefixes=CHECK,STACK,FRAME
// RUN: plimsoll-opt %s -plim-load-pipeline=policy=fixed:255 \
// RUN:   | FileCheck %s --check-prefixes=CHECK,SCRATCH,SLAB
// RUN: plimsoll-opt %s -plim-load-pipeline=policy=workspace \
// RUN:   | FileCheck %s --check-prefixes=CHECK,SCRATCH,SLAB
// RUN: plimsoll-opt %s -plim-load-pipeline=policy=heap \
// RUN:   | FileCheck %s --check-prefixes=CHECK,NONE,HEAP

// RUN: not plimsoll-opt %s -plim-load-pipeline=policy=everywhere 2>&1 \
// RUN:   | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: policies.mlir:[[# @LINE + 4]]:1: error: unknown allocation policy 'everywhere'; known are auto, stack, workspace, heap and fixed:N
// UNKNOWN-NOT: error:
// UNKNOWN-NOT: llvm.func

module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu",
        "plim.max_stack_alloca_bytes" = 1024 : i64, "plim.stack_budget_bytes" = 4096 : i64>>} {

// CHECK-LABEL: llvm.func @plim.body.f_{{[a-z]+}}_1(
//       STACK: llvm.alloca %{{.*}} x i8 {alignment = 64 : i64}
//   STACK-NOT: llvm.call @plim_rt_scratch
// SCRATCH-NOT: x i8 {alignment = 64 : i64}
//     SCRATCH: llvm.call @plim_rt_scratch
//   STACK-NOT: llvm.call @plim_rt_allocate
// SCRATCH-NOT: llvm.call @plim_rt_allocate
//    NONE-NOT: llvm.call @plim_rt_scratch
//        NONE: llvm.call @plim_rt_allocate
//       CHECK: llvm.return
// CHECK-LABEL: llvm.func @plim.body.f(
//   SLAB-SAME: plim.workspace_bytes = 256 : i64
//       FRAME: llvm.alloca %{{.*}} x i8 {alignment = 64 : i64}
// Under heap the temporary is allocated as well, and released; the result always is allocated.
//        HEAP: llvm.call @plim_rt_allocate
//       CHECK: llvm.call @plim_rt_allocate
//    SLAB-NOT: llvm.call @plim_rt_allocate
//   FRAME-NOT: llvm.call @plim_rt_allocate
//       CHECK: llvm.call @plim_rt_schedule
//        HEAP: llvm.call @plim_rt_release
//    SLAB-NOT: llvm.call @plim_rt_release
//   FRAME-NOT: llvm.call @plim_rt_release
//       CHECK: llvm.return
func.func @f(%a: tensor<8x8xf32>) -> tensor<8xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %m = linalg.matmul ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>)
                     outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %n = linalg.matmul ins(%m, %m : tensor<8x8xf32>, tensor<8x8xf32>)
                     outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %v = tensor.empty() : tensor<8xf32>
  %w = linalg.fill ins(%z : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.reduce {arith.addf} ins(%n : tensor<8x8xf32>) outs(%w : tensor<8xf32>)
      dimensions = [1]
  return %r : tensor<8xf32>
}
}
