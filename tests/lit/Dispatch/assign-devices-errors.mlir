// RUN: plimsoll-opt %s -plim-assign-devices -split-input-file -verify-diagnostics

module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "plim.target" = #dlti.target_device_spec<"plim.name" = "board">,
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu">>} {
func.func private @work(%o: memref<4xf32>) attributes {plim.dispatch_function} {
  return
}
func.func @f(%o: memref<4xf32>) {
  // expected-error @below {{device 'npu' is not part of target 'board'}}
  plim.dispatch @work outs(%o : memref<4xf32>) {plim.device = "npu"}
  return
}
}

// -----

module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu">,
    "gpu" = #dlti.target_device_spec<"plim.kind" = "vulkan">>} {
func.func private @work(%o: memref<4xf32>) attributes {plim.dispatch_function} {
  return
}
func.func @f(%o: memref<4xf32>) {
  // expected-error @below {{device 'gpu' is an accelerator that the engine has no compiler for}}
  plim.dispatch @work outs(%o : memref<4xf32>) {plim.device = "gpu"}
  return
}
}

// -----

// expected-error @below {{the module has no 'dlti.target_system_spec' attribute}}
module {
}

// -----

// expected-error @below {{target entry 'host.plim.kind': expected one of}}
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "abacus">>} {
}
