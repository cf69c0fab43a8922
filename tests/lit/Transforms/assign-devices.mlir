// RUN: plimsoll-opt %s -plim-assign-devices | FileCheck %s

module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "big" = #dlti.target_device_spec<"plim.kind" = "cpu">,
    "little" = #dlti.target_device_spec<"plim.kind" = "cpu">,
    "gpu" = #dlti.target_device_spec<"plim.kind" = "cuda">>} {

func.func private @work(%o: tensor<4xf32>) -> tensor<4xf32> attributes {plim.dispatch_function} {
  return %o : tensor<4xf32>
}

// Without an annotation the first device runs it; an annotation is kept.
// CHECK-LABEL: func.func @f(
//       CHECK: plim.dispatch @work {{.*}} {plim.device = "big"}
//       CHECK: plim.dispatch @work {{.*}} {plim.device = "little"}
//       CHECK: scf.for
//       CHECK: plim.dispatch @work {{.*}} {plim.device = "big"}
func.func @f(%o: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %p = plim.dispatch @work outs(%o : tensor<4xf32>) -> tensor<4xf32>
  %q = plim.dispatch @work outs(%p : tensor<4xf32>) {plim.device = "little"} -> tensor<4xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %q) -> tensor<4xf32> {
    %s = plim.dispatch @work outs(%t : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
}
