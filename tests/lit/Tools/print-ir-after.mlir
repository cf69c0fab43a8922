// RUN: plimsoll run %s --print-ir-after Access --print-ir-after Memory -i 8xf32=1 2>&1 | FileCheck %s
// RUN: plimsoll run %s --isolation none --print-ir-after Access --print-ir-after Memory -i 8xf32=1 2>&1 | FileCheck %s
// RUN: plimsoll compile %s --print-ir-after Dispatch -o %t.plimart 2>&1 | FileCheck %s --check-prefix=COMPILE
// RUN: not plimsoll run %s --print-ir-after Ballast 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// What is printed is a module: the next pass can be tried on it.
// RUN: plimsoll run %s --print-ir-after Codegen --print none -i 8xf32=1 2>&1 | plimsoll-opt -plim-buffer-pipeline | FileCheck %s --check-prefix=NEXT

//       CHECK: // -----// IR after Access //----- //
//       CHECK: plim.dispatch @double_{{.*}} tensor<8xf32>
//       CHECK: // -----// IR after Memory //----- //
//       CHECK: plim.dispatch @double_{{.*}} memref<8xf32>
//       CHECK: result[0]: 8xf32=[2, 2, 2, 2, 2, 2, 2, 2]
// COMPILE: // -----// IR after Dispatch //----- //
// UNKNOWN: --print-ir-after: {{.*}}Ballast
//    NEXT: plim.dispatch @double_{{.*}} memref<8xf32>
func.func @double(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = arith.addf %x, %x : tensor<8xf32>
  return %y : tensor<8xf32>
}
