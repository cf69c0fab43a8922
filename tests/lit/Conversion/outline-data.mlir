// RUN: plimsoll-opt %s -plim-outline-data -split-input-file | FileCheck %s
// RUN: plimsoll-opt %s -plim-outline-data=inline-constant-bytes=8 -split-input-file \
// RUN:   | FileCheck %s --check-prefix=INLINE
// RUN: plimsoll-opt %s -plim-outline-data=guarded -split-input-file \
// RUN:   | FileCheck %s --check-prefix=GUARDED

// Each global that is used becomes an external symbol; the module says what it holds.
//      CHECK: #[[LOC:.*]] = loc({{.*}}outline-data.mlir":{{[0-9]+}}:1)
//      CHECK: plim.data = [
// CHECK-SAME: {kind = "constant", name = "c", type = memref<2xf32>, value = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>}
// CHECK-SAME: {kind = "variable", name = "v", type = memref<2xi8>, value = dense<0> : tensor<2xi8>}
// CHECK-SAME: {alignment = 128 : i64, kind = "variable", name = "u", type = memref<3xf64>}
// CHECK-SAME: {kind = "parameter", location = #[[LOC]], name = "p", type = memref<4xf32>}
// CHECK-SAME: ]
//  CHECK-NOT: private
//  CHECK-DAG: memref.global constant @plim.data.c : memref<2xf32>{{$}}
//  CHECK-DAG: memref.global @plim.data.v : memref<2xi8>{{$}}
//  CHECK-DAG: memref.global @plim.data.u : memref<3xf64> {alignment = 128 : i64}{{$}}
//  CHECK-DAG: memref.global constant @plim.data.p : memref<4xf32>{{$}}
//  CHECK-NOT: @unused

// Only constants stay in the code, and those with contents.
//      INLINE: plim.data = [
//  INLINE-NOT: name = "c"
// INLINE-SAME: name = "v"
// INLINE-SAME: name = "u"
// INLINE-SAME: name = "p"
//  INLINE-DAG: memref.global "private" constant @c : memref<2xf32> = dense<[1.000000e+00, 2.000000e+00]>
//  INLINE-DAG: memref.global @plim.data.v
//  INLINE-NOT: @unused
memref.global "private" constant @c : memref<2xf32> = dense<[1.0, 2.0]>
memref.global "private" @v : memref<2xi8> = dense<0>
memref.global "private" @u : memref<3xf64> = uninitialized {alignment = 128 : i64}
memref.global "private" constant @p : memref<4xf32>
memref.global "private" constant @unused : memref<2xf32> = dense<[1.0, 2.0]>
func.func @use() {
  %c = memref.get_global @c : memref<2xf32>
  %v = memref.get_global @v : memref<2xi8>
  %u = memref.get_global @u : memref<3xf64>
  %p = memref.get_global @p : memref<4xf32>
  return
}

// -----

// A module without data says so.
// CHECK: module attributes {plim.data = []}
func.func @nothing() {
  return
}

// -----

// Code counts on the alignment of data, unless it ends where guards begin.
//      CHECK: memref.global constant @plim.data.aligned : memref<5xf32> {alignment = 64 : i64}
//    GUARDED: memref.global constant @plim.data.aligned : memref<5xf32>{{$}}
memref.global "private" constant @aligned : memref<5xf32> = dense<1.0> {alignment = 64 : i64}
func.func @useAligned() -> memref<5xf32> {
  %a = memref.get_global @aligned : memref<5xf32>
  return %a : memref<5xf32>
}
