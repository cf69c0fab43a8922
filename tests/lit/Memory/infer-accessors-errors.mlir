// RUN: plimsoll-opt %s -plim-infer-accessors -split-input-file -verify-diagnostics

module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "plim.target" = #dlti.target_device_spec<"plim.name" = "box">,
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu">>} {
func.func @unknown() {
  // expected-error @below {{accessor 'cuda7' is no device of target 'box'}}
  %a = plim.alloc() {accessors = ["cuda7"]} : memref<4xf32>
  return
}
}

// -----

module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu">>} {
func.func @dangling() -> memref<4xf32> attributes {plim.kernel} {
  // expected-error @below {{is returned: memory on the stack ends with its function}}
  %a = memref.alloca() : memref<4xf32>
  return %a : memref<4xf32>
}
func.func @growing(%n: index, %first: memref<4xf32>) attributes {plim.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%old = %first) -> memref<4xf32> {
    // expected-error @below {{is carried out of the iteration that allocates it: the stack would grow with each; use memref.alloc}}
    %a = memref.alloca() : memref<4xf32>
    memref.copy %old, %a : memref<4xf32> to memref<4xf32>
    scf.yield %a : memref<4xf32>
  }
  return
}
}
