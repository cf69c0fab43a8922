// RUN: plimsoll-opt %s --plim-order-constants | FileCheck %s

// In the order of the code, whatever upstream's were, and behind names that are taken.
//      CHECK: module
// CHECK-NEXT:   memref.global "private" constant @__constant_2xf32 : memref<2xf32> = dense<[3.000000e+00, 4.000000e+00]>
// CHECK-NEXT:   memref.global "private" constant @__constant_3xi32 : memref<3xi32> = dense<[1, 2, 3]>
// CHECK-NEXT:   memref.global "private" constant @__constant_2xf32_1 : memref<2xf32> = dense<[1.000000e+00, 2.000000e+00]>
// CHECK-NEXT:   memref.global "private" constant @__constant_2x1xf32 : memref<2x1xf32>
// CHECK-NEXT:   memref.global @__constant_2xf32_0 : memref<2xf32>
// CHECK-NEXT:   memref.global "private" constant @weights_1 : memref<2xf32>
memref.global @__constant_2xf32_0 : memref<2xf32> = dense<0.0>
memref.global "private" constant @__constant_2xf32 : memref<2xf32> = dense<[1.0, 2.0]>
memref.global "private" constant @weights_1 : memref<2xf32> = dense<7.0>
memref.global "private" constant @__constant_2x1xf32 : memref<2x1xf32> = dense<5.0>
memref.global "private" constant @__constant_3xi32_7 : memref<3xi32> = dense<[1, 2, 3]>
memref.global "private" constant @__constant_2xf32_3 : memref<2xf32> = dense<[3.0, 4.0]>

// CHECK-LABEL: func.func @first
func.func @first() -> (memref<2xf32>, memref<3xi32>, memref<2xf32>) {
  // CHECK: memref.get_global @__constant_2xf32 :
  %a = memref.get_global @__constant_2xf32_3 : memref<2xf32>
  // CHECK: memref.get_global @__constant_3xi32 :
  %b = memref.get_global @__constant_3xi32_7 : memref<3xi32>
  // CHECK: memref.get_global @__constant_2xf32_0 :
  %c = memref.get_global @__constant_2xf32_0 : memref<2xf32>
  return %a, %b, %c : memref<2xf32>, memref<3xi32>, memref<2xf32>
}

// CHECK-LABEL: func.func @second
func.func @second() -> (memref<2xf32>, memref<2xf32>, memref<2x1xf32>, memref<2xf32>) {
  // CHECK: memref.get_global @__constant_2xf32_1 :
  %a = memref.get_global @__constant_2xf32 : memref<2xf32>
  // CHECK: memref.get_global @__constant_2xf32 :
  %b = memref.get_global @__constant_2xf32_3 : memref<2xf32>
  // CHECK: memref.get_global @__constant_2x1xf32 :
  %c = memref.get_global @__constant_2x1xf32 : memref<2x1xf32>
  // CHECK: memref.get_global @weights_1 :
  %d = memref.get_global @weights_1 : memref<2xf32>
  return %a, %b, %c, %d : memref<2xf32>, memref<2xf32>, memref<2x1xf32>, memref<2xf32>
}
