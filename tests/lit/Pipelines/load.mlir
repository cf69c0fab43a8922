// The whole way: from linalg on tensors to the LLVM dialect.
// RUN: plimsoll-opt %s -plim-load-pipeline | FileCheck %s
// RUN: plimsoll-opt %s -plim-tensor-pipeline -plim-buffer-pipeline -plim-lowering-pipeline \
// RUN:   | FileCheck %s
// RUN: plimsoll-opt %s -plim-attach-target=tag=x86-64-v4 -plim-load-pipeline | FileCheck %s
// RUN: plimsoll-opt %s -plim-load-pipeline=oracle \
// RUN:   | FileCheck %s --check-prefix=ORACLE --implicit-check-not="vector<"

module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu",
        "plim.max_stack_alloca_bytes" = 1024 : i64, "plim.stack_budget_bytes" = 4096 : i64>>} {

// Nothing of the source dialects is left.
//   CHECK-NOT: {{(tosa|linalg|tensor|scf|memref|arith|bufferization|vector|affine|cf)\.[a-z_]+ }}
// The small constant is part of the code.
//   CHECK-NOT: kind = "constant"
//   CHECK-DAG: llvm.func @plim_rt_dispatch
//   CHECK-DAG: llvm.mlir.global internal constant @plim.descriptor.layer_contraction_0
//   CHECK-DAG: llvm.mlir.global private constant @[[$BIAS:[a-z_A-Z0-9]+]](dense<[{{.*}}]> : tensor<8xf32>) {{.*}}alignment = 64{{.*}}: !llvm.array<8 x f32>

// Contraction, bias and clamp are one dispatch.
//   CHECK-NOT: @plim.descriptor.layer_{{[a-z]+}}_1
// CHECK-LABEL: llvm.func @plim.count.layer_contraction_0(%{{.*}}: !llvm.ptr) -> i64
// CHECK-LABEL: llvm.func @plim.dispatch.layer_contraction_0(
//  CHECK-SAME: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64) -> i32

// The context, two inputs that are only read, one output; then extents and the range.
// CHECK-LABEL: llvm.func @plim.body.layer_contraction_0(
//  CHECK-SAME: %{{[^:]*}}: !llvm.ptr,
//  CHECK-SAME: !llvm.ptr {llvm.align = 4 : i64, llvm.noalias, llvm.nofree, llvm.readonly},
//  CHECK-SAME: !llvm.ptr {llvm.align = 4 : i64, llvm.dereferenceable = 512 : i64, llvm.noalias, llvm.nofree, llvm.readonly},
//  CHECK-SAME: !llvm.ptr {llvm.align = 4 : i64, llvm.noalias, llvm.nofree},
//       CHECK: llvm.mlir.addressof @[[$BIAS]]
//   CHECK-NOT: plim_rt_allocate
//       CHECK: llvm.return
// CHECK-LABEL: llvm.func @plim.entry.layer(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr) -> i32

// The result is memory that the caller takes over.
// CHECK-LABEL: llvm.func @plim.body.layer(
//       CHECK: llvm.call @plim_rt_allocate
//       CHECK: llvm.call @plim_rt_dispatch
//   CHECK-NOT: llvm.call @plim_rt_dispatch

// The oracle runs op by op, on scalars, and no constant is small.
//       ORACLE: plim.data = [{{.*}}kind = "constant"{{.*}}value = dense<[{{.*}}]>
//   ORACLE-DAG: @plim.descriptor.layer_contraction_0
//   ORACLE-DAG: @plim.descriptor.layer_elementwise_1
//   ORACLE-DAG: @plim.descriptor.layer_elementwise_2
// ORACLE-LABEL: llvm.func @plim.body.layer(
// ORACLE-COUNT-3: llvm.call @plim_rt_dispatch
func.func @layer(%a: tensor<?x16xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %weights = func.call @weights() : () -> tensor<16x8xf32>
  %bias = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %n = tensor.dim %a, %c0 : tensor<?x16xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %m = linalg.matmul ins(%a, %weights : tensor<?x16xf32>, tensor<16x8xf32>)
                     outs(%f : tensor<?x8xf32>) -> tensor<?x8xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>,
                                        affine_map<(d0, d1) -> (d1)>,
                                        affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%m, %bias : tensor<?x8xf32>, tensor<8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%x: f32, %y: f32, %old: f32):
    %q = arith.addf %x, %y : f32
    linalg.yield %q : f32
  } -> tensor<?x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>,
                                        affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%x: f32, %old: f32):
    %q = arith.maximumf %x, %z : f32
    linalg.yield %q : f32
  } -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}
ml_program.global private @parameter(#ml_program.extern<tensor<16x8xf32>>) : tensor<16x8xf32>
func.func private @weights() -> tensor<16x8xf32> {
  %w = ml_program.global_load_const @parameter : tensor<16x8xf32>
  return %w : tensor<16x8xf32>
}
}
