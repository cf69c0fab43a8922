// RUN: plimsoll-opt %s -plim-outline-device-code -split-input-file -verify-diagnostics

module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu">,
    "npu" = #dlti.target_device_spec<"plim.kind" = "npu">>} {
func.func private @checks(%o: tensor<4xi1> {plim.access = #plim.access<readwrite>}) -> tensor<4xi1>
    attributes {plim.dispatch_function, plim.parallel_loops = array<i64>} {
  %true = arith.constant true
  %ok = plim.check %true, "in.mlir:1:1: no"
  return %o : tensor<4xi1>
}
func.func @f(%o: tensor<4xi1>) -> tensor<4xi1> {
  // expected-error @below {{device 'npu' does not take this: it checks indices while it runs}}
  %r = plim.dispatch @checks outs(%o : tensor<4xi1>) {plim.device = "npu"} -> tensor<4xi1>
  return %r : tensor<4xi1>
}
}

// -----

module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu">,
    "npu" = #dlti.target_device_spec<"plim.kind" = "npu">,
    "dsp" = #dlti.target_device_spec<"plim.kind" = "npu">>} {
func.func private @work(%o: tensor<4xf32> {plim.access = #plim.access<readwrite>}) -> tensor<4xf32>
    attributes {plim.dispatch_function, plim.parallel_loops = array<i64>} {
  return %o : tensor<4xf32>
}
func.func @f(%o: tensor<4xf32>) -> tensor<4xf32> {
  %r = plim.dispatch @work outs(%o : tensor<4xf32>) {plim.device = "npu"} -> tensor<4xf32>
  // expected-error @below {{'work' runs on device "npu" too: each needs a function of its own}}
  %s = plim.dispatch @work outs(%r : tensor<4xf32>) {plim.device = "dsp"} -> tensor<4xf32>
  return %s : tensor<4xf32>
}
}

// -----

// expected-error @below {{the module has no 'dlti.target_system_spec' attribute}}
module {
}
