// RUN: sed 's/FEATURES/"+sse2"/' %s | plimsoll-opt -plim-lower-to-llvm | FileCheck %s --check-prefixes=CHECK,V128,WIDE
// RUN: sed 's/FEATURES/"+avx2", "+sse2"/' %s | plimsoll-opt -plim-lower-to-llvm | FileCheck %s --check-prefixes=CHECK,V256,WIDE
// RUN: sed 's/FEATURES/"+avx2", "+avxvnni"/' %s | plimsoll-opt -plim-lower-to-llvm | FileCheck %s --check-prefixes=CHECK,BYTES256
// RUN: sed 's/FEATURES/"+avx512bw", "+avx512vnni", "+avx512bf16"/' %s | plimsoll-opt -plim-lower-to-llvm | FileCheck %s --check-prefixes=CHECK,V512
// RUN: sed 's/FEATURES/"+neon"/' %s | plimsoll-opt -plim-lower-to-llvm | FileCheck %s --check-prefixes=CHECK,WIDE,NONE
// RUN: sed 's/FEATURES/"+neon", "+bf16", "+i8mm"/' %s | plimsoll-opt -plim-lower-to-llvm | FileCheck %s --check-prefixes=CHECK,ARM,NONE

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
  %r = plim.dot_groups %a, %b, %c of i16 : vector<2x16xi32>, vector<2x16xi32>
  return %r : vector<2x16xi32>
}

// What fills no vector, and a scalar, are lanes of one.
// CHECK-LABEL: llvm.func @rest(
//         V512: llvm.shufflevector {{.*}}[0, 1, 2, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1] : vector<3xi32>
// V512-COUNT-2: llvm.call_intrinsic "llvm.x86.avx512.pmaddw.d.512"
//         V512: llvm.extractelement
// NONE-COUNT-2: llvm.mul {{.*}} : vector<3xi32>
// NONE-COUNT-2: llvm.mul {{.*}} : i32
//        CHECK: llvm.return
func.func @rest(%a: vector<3xi32>, %b: vector<3xi32>, %c: vector<3xi32>, %x: i32) -> (vector<3xi32>, i32) {
  %r = plim.dot_groups %a, %b, %c of i16 : vector<3xi32>, vector<3xi32>
  %s = plim.dot_groups %x, %x, %x of i16 : i32, i32
  return %r, %s : vector<3xi32>, i32
}

// Bytes: those of the first without a sign.
//       CHECK-LABEL: llvm.func @bytes(
//              V512: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"{{.*}} : (vector<16xi32>, vector<64xi8>, vector<64xi8>) -> vector<16xi32>
// BYTES256-COUNT-2: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.256"{{.*}} : (vector<8xi32>, vector<32xi8>, vector<32xi8>) -> vector<8xi32>
//          WIDE-NOT: llvm.call_intrinsic
//       ARM-COUNT-4: llvm.call_intrinsic "llvm.aarch64.neon.usdot.v4i32.v16i8"{{.*}} : (vector<4xi32>, vector<16xi8>, vector<16xi8>) -> vector<4xi32>
//             CHECK: llvm.return
func.func @bytes(%a: vector<16xi32>, %b: vector<16xi32>, %c: vector<16xi32>) -> vector<16xi32> {
  %r = plim.dot_groups %a, %b, %c of i8 : vector<16xi32>, vector<16xi32>
  return %r : vector<16xi32>
}

// CHECK-LABEL: llvm.func @floats(
//         V512: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"{{.*}} : (vector<16xf32>, vector<32xbf16>, vector<32xbf16>) -> vector<16xf32>
//  ARM-COUNT-4: llvm.call_intrinsic "llvm.aarch64.neon.bfdot.v4f32.v8bf16"{{.*}} : (vector<4xf32>, vector<8xbf16>, vector<8xbf16>) -> vector<4xf32>
// WIDE-COUNT-2: llvm.fmul {{.*}} : vector<16xf32>
//        CHECK: llvm.return
func.func @floats(%a: vector<16xi32>, %b: vector<16xi32>, %c: vector<16xf32>) -> vector<16xf32> {
  %r = plim.dot_groups %a, %b, %c of bf16 : vector<16xi32>, vector<16xf32>
  return %r : vector<16xf32>
}
}
