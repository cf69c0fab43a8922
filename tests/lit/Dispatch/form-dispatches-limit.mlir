// A dispatch takes the producers that are nearest to its root, up to the limit; the others are dispatches of
// their own, with what they can take.
// RUN: plimsoll-opt %s -plim-form-dispatches=max-ops=3 | FileCheck %s
// RUN: plimsoll-opt %s -plim-form-dispatches | FileCheck %s --check-prefix=ALL

#in = affine_map<(d0, d1) -> (d0, d1)>
#out = affine_map<(d0, d1) -> (d0)>
#row = affine_map<(d0) -> (d0)>

//   CHECK-LABEL: func.func private @sums_reduction_0(
// CHECK-COUNT-2: linalg.generic
//     CHECK-NOT: linalg.generic
//   CHECK-LABEL: func.func private @sums_reduction_1(
// CHECK-COUNT-3: linalg.generic
//     CHECK-NOT: linalg.generic
//   CHECK-LABEL: func.func @sums(
//         CHECK: %[[FIRST:.*]] = plim.dispatch @sums_reduction_0
//         CHECK: plim.dispatch @sums_reduction_1 ins({{.*}}, %[[FIRST]] :
//     CHECK-NOT: plim.dispatch
//
//   ALL-LABEL: func.func private @sums_reduction_0(
// ALL-COUNT-5: linalg.generic
//   ALL-LABEL: func.func @sums(
//         ALL: plim.dispatch @sums_reduction_0
//     ALL-NOT: plim.dispatch
func.func @sums(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %w = tensor.empty() : tensor<4x8xf32>
  %squares = linalg.generic {indexing_maps = [#in, #in], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%w : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.mulf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]}
      ins(%squares : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.maximumf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %2 = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.minimumf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#row, #row, #row, #row], iterator_types = ["parallel"]}
      ins(%0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    %t = arith.addf %s, %c : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
