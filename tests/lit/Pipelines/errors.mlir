// The pipeline stops at the first pass that finds a fault, with one located error.
// RUN: plimsoll-opt %s -plim-load-pipeline -split-input-file -verify-diagnostics

// expected-error @below {{the module has no 'dlti.target_system_spec' attribute}}
module {
}

// -----

module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu">>} {
// expected-error @below {{argument #0 of 'f' has type 'tensor<*xf32>'}}
func.func @f(%a: tensor<*xf32>) {
  return
}
}

// -----

module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu">>} {
func.func @f(%a: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  // expected-error @below {{device 'npu' is not part of target}}
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                       iterator_types = ["parallel"], plim.device = "npu"}
      ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = math.exp %x : f32
    linalg.yield %y : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
}
