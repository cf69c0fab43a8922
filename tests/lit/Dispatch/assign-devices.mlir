// RUN: plimsoll-opt %s -plim-assign-devices=devices=npu | FileCheck %s
// RUN: plimsoll-opt %s -plim-assign-devices="devices=npu preferred=npu" | FileCheck %s --check-prefix=NPU
// RUN: plimsoll-opt %s -plim-assign-devices="devices=npu preferred=npu host-only" | FileCheck %s --check-prefix=HOST

module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "big" = #dlti.target_device_spec<"plim.kind" = "cpu">,
    "little" = #dlti.target_device_spec<"plim.kind" = "cpu">,
    "gpu" = #dlti.target_device_spec<"plim.kind" = "cuda">,
    "npu" = #dlti.target_device_spec<"plim.kind" = "npu">>} {

func.func private @work(%o: tensor<4xf32>) -> tensor<4xf32> attributes {plim.dispatch_function} {
  return %o : tensor<4xf32>
}

// Without an annotation the first device runs it, or the preferred one as far as it can; an annotation is kept,
// but not where the host is to run everything.
// CHECK-LABEL: func.func @f(
//       CHECK: plim.dispatch @work {{.*}} {plim.device = "big"}
//       CHECK: plim.dispatch @work {{.*}} {plim.device = "little"}
//       CHECK: plim.dispatch @work {{.*}} {plim.device = "npu"}
//       CHECK: scf.for
//       CHECK: plim.dispatch @work {{.*}} {plim.device = "big"}
//   NPU-LABEL: func.func @f(
//         NPU: plim.dispatch @work {{.*}} {plim.device = "npu", plim.fallback_device = "big"}
//         NPU: plim.dispatch @work {{.*}} {plim.device = "little"}
//         NPU: plim.dispatch @work {{.*}} {plim.device = "npu"}
//         NPU: scf.for
//         NPU: plim.dispatch @work {{.*}} {plim.device = "npu", plim.fallback_device = "big"}
//  HOST-LABEL: func.func @f(
// HOST-COUNT-4: plim.dispatch @work {{.*}} {plim.device = "big"}
func.func @f(%o: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %p = plim.dispatch @work outs(%o : tensor<4xf32>) -> tensor<4xf32>
  %q = plim.dispatch @work outs(%p : tensor<4xf32>) {plim.device = "little"} -> tensor<4xf32>
  %u = plim.dispatch @work outs(%q : tensor<4xf32>) {plim.device = "npu"} -> tensor<4xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %u) -> tensor<4xf32> {
    %s = plim.dispatch @work outs(%t : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
}
