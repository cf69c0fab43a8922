// RUN: plimsoll-opt %s -plim-compute-in-place -split-input-file | FileCheck %s

// What was computed here and is read by nothing behind.
// CHECK-LABEL: func.func private @scratch
//       CHECK:   %[[X:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<8xf32>) outs(%{{.*}} : tensor<8x64xf32>)
//       CHECK:   %[[M:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<8x64xf32>)
//       CHECK:   %[[R:.*]] = linalg.generic {{.*}} ins(%[[M]] : tensor<8xf32>) outs(%[[X]] : tensor<8x64xf32>) {
//  CHECK-NEXT:   ^bb0(%[[A:.*]]: f32, %[[O:.*]]: f32):
//  CHECK-NEXT:     arith.subf %[[O]], %[[A]]
#whole = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func private @scratch(%b: tensor<8xf32>) -> tensor<8x64xf32> attributes {plim.dispatch_function} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x64xf32>
  %e0 = tensor.empty() : tensor<8xf32>
  %x = linalg.generic {indexing_maps = [#row, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<8xf32>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<8x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e0 : tensor<8xf32>) -> tensor<8xf32>
  %m = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x64xf32>) outs(%f : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.maximumf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %r = linalg.generic {indexing_maps = [#whole, #row, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<8x64xf32>, tensor<8xf32>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %s = arith.subf %a, %c : f32
    linalg.yield %s : f32
  } -> tensor<8x64xf32>
  return %r : tensor<8x64xf32>
}

// -----

// Not where it is read again, nor in another order, nor an argument.
// CHECK-LABEL: func.func private @needed
//   CHECK-DAG:   %[[E:.*]] = tensor.empty() : tensor<8x8xf32>
//       CHECK:   linalg.generic {{.*}} ins(%{{.*}} : tensor<8x8xf32>) outs(%[[E]] :
//       CHECK:   linalg.generic {{.*}} ins(%{{.*}} : tensor<8x8xf32>) outs(%[[E]] :
//       CHECK:   linalg.generic {{.*}} ins(%{{.*}} : tensor<8x8xf32>) outs(%[[E]] :
//       CHECK:   linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<8x8xf32>, tensor<8x8xf32>) outs(%[[E]] :
#same = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>
func.func private @needed(%b: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {plim.dispatch_function} {
  %e = tensor.empty() : tensor<8x8xf32>
  %x = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  %y = linalg.generic {indexing_maps = [#turned, #same], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  %z = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  %r = linalg.generic {indexing_maps = [#turned, #turned, #same], iterator_types = ["parallel", "parallel"]}
      ins(%y, %z : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %s = arith.addf %a, %c : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}
