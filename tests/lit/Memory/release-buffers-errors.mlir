// RUN: plimsoll-opt %s -plim-release-buffers -split-input-file -verify-diagnostics

// expected-error @below {{Only structured control-flow loops are supported.}}
func.func @branches(%a: memref<4xf32>, %c: i1) -> memref<4xf32> {
  cf.br ^loop
^loop:
  cf.cond_br %c, ^loop, ^end
^end:
  return %a : memref<4xf32>
}
