// RUN: plimsoll-opt %s -plim-import-allocations -verify-diagnostics

func.func @too_large() -> tensor<4xf32> {
  // expected-error @below {{takes 16 bytes, more than its max_bytes of 15}}
  %e = tensor.empty() {plim.max_bytes = 15 : i64} : tensor<4xf32>
  return %e : tensor<4xf32>
}
func.func @strided() {
  // expected-error @below {{an allocation must be dense, row-major, in the default memory space}}
  %a = memref.alloc() {plim.scope = "local"} : memref<4x4xf32, strided<[8, 1]>>
  return
}
