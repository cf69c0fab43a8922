// RUN: plimsoll-opt %s --split-input-file --plim-form-dispatches | FileCheck %s
// RUN: plimsoll-opt %s --split-input-file --plim-form-dispatches=fuse=false | FileCheck %s --check-prefix=ORACLE
// RUN: plimsoll-opt %s --split-input-file --plim-form-dispatches=max-ops=1 | FileCheck %s --check-prefix=ONE

// Who says no says why; what a dispatch was made of is its location. tests/lit/Tools/apart.mlir has the other reasons.

// ORACLE-LABEL: func.func @joins(
//        ORACLE: plim.apart = [{because = "each operation is a dispatch of its own here", from = 0 : i64}]
//    ONE-LABEL: func.func @joins(
//          ONE: plim.apart = [{because = "a dispatch has as many operations already as one may have", from = 0 : i64}]
//  CHECK-LABEL: func.func @joins(
//    CHECK-NOT: plim.apart
#map = affine_map<(i) -> (i)>
func.func @joins(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %in : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %b = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.mulf %in, %in : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %b : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @pinned(
//       CHECK: plim.apart = [{because = "its author says where the result lives", from = 0 : i64}]
#map = affine_map<(i) -> (i)>
func.func @pinned(%x: tensor<4xf32>) -> tensor<4xf32> {
  %p = plim.alloc() {scope = "global.sram"} : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%p : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %in : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %b = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.mulf %in, %in : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %b : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @device(
//       CHECK: plim.apart = [{because = "they are for different devices", from = 0 : i64}]
#map = affine_map<(i) -> (i)>
func.func @device(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"], plim.device = "npu"} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %in : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %b = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.mulf %in, %in : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %b : tensor<4xf32>
}
