module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu", "plim.features" = ["+amx-bf16", "+amx-int8", "+amx-tile"]>>} {
func.func private @floats(%a: tensor<16x32xbf16>, %b: tensor<32x16xbf16>, %c: tensor<16x16xf32>) -> tensor<16x16xf32>
    attributes {plim.dispatch_function} {
  %r = linalg.matmul ins(%a, %b : tensor<16x32xbf16>, tensor<32x16xbf16>) outs(%c : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %r : tensor<16x16xf32>
}
func.func private @integers(%a: tensor<16x64xi8>, %b: tensor<64x16xi8>, %c: tensor<16x16xi32>) -> tensor<16x16xi32>
    attributes {plim.dispatch_function} {
  %r = linalg.matmul ins(%a, %b : tensor<16x64xi8>, tensor<64x16xi8>) outs(%c : tensor<16x16xi32>) -> tensor<16x16xi32>
  return %r : tensor<16x16xi32>
}
}
