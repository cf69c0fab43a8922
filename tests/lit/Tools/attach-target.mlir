// RUN: plimsoll-opt %s -plim-attach-target=tag=x86-64-v3 | FileCheck %s
// RUN: not plimsoll-opt %s -plim-attach-target=tag=x86-64-v5 2>&1 | FileCheck %s --check-prefix=ERROR

// CHECK: "plim.vector_bits" = 256 : i64
// ERROR: error: there is no target "x86-64-v5"; the nearest name is
func.func private @f()
