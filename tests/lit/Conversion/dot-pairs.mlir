// RUN: sed 's/FEATURES/"+sse2"/' %s | plimsoll-opt -plim-lower-to-llvm | FileCheck %s --check-prefixes=CHECK,V128
// RUN: sed 's/FEATURES/"+avx2", "+sse2"/' %s | plimsoll-opt -plim-lower-to-llvm | FileCheck %s --check-prefixes=CHECK,V256
// RUN: sed 's/FEATURES/"+avx2", "+avx512bw"/' %s | plimsoll-opt -plim-lower-to-llvm | FileCheck %s --check-prefixes=CHECK,V512
// RUN: sed 's/FEATURES/"+neon"/' %s | plimsoll-opt -plim-lower-to-llvm | FileCheck %s --check-prefixes=CHECK,NONE

module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu", "plim.features" = [FEATURES]>>} {
// The widest instruction that the host has, as often as it takes.
// CHECK-LABEL: llvm.func @rows(
//  V128-COUNT-8: llvm.call_intrinsic "llvm.x86.sse2.pmadd.wd"{{.*}} : (vector<8xi16>, vector<8xi16>) -> vector<4xi32>
//      V128-NOT: llvm.call_intrinsic
//  V256-COUNT-4: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"{{.*}} : (vector<16xi16>, vector<16xi16>) -> vector<8xi32>
//      V256-NOT: llvm.call_intrinsic
//  V512-COUNT-2: llvm.call_intrinsic "llvm.x86.avx512.pmaddw.d.512"{{.*}} : (vector<32xi16>, vector<32xi16>) -> vector<16xi32>
//      V512-NOT: llvm.call_intrinsic
//      NONE-NOT: llvm.call_intrinsic
//         CHECK: llvm.return
func.func @rows(%a: vector<2x16xi32>, %b: vector<2x16xi32>, %c: vector<2x16xi32>) -> vector<2x16xi32> {
  %r = plim.dot_pairs %a, %b, %c : vector<2x16xi32>
  return %r : vector<2x16xi32>
}

// What fills no vector, and a scalar, is arithmetic.
// CHECK-LABEL: llvm.func @rest(
//     CHECK-NOT: llvm.call_intrinsic
// CHECK-COUNT-2: llvm.mul {{.*}} : vector<3xi32>
// CHECK-COUNT-2: llvm.mul {{.*}} : i32
func.func @rest(%a: vector<3xi32>, %b: vector<3xi32>, %c: vector<3xi32>, %x: i32) -> (vector<3xi32>, i32) {
  %r = plim.dot_pairs %a, %b, %c : vector<3xi32>
  %s = plim.dot_pairs %x, %x, %x : i32
  return %r, %s : vector<3xi32>, i32
}
}
