// RUN: plimsoll-opt %s -plim-fuse-in-tiles -split-input-file | FileCheck %s

// A difference is cheaper computed twice than stored; its square has one reader.
// CHECK-LABEL: func.func private @variance
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%arg0, %arg1 :
//       CHECK:     %[[D:.*]] = arith.subf
//       CHECK:     %[[Q:.*]] = arith.mulf %[[D]], %[[D]]
//       CHECK:     arith.addf %{{.*}}, %[[Q]]
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} ins(%arg0, %arg1, %{{.*}} :
//       CHECK:     %[[D:.*]] = arith.subf
//       CHECK:     arith.divf %[[D]]
//   CHECK-NOT:   linalg.generic
#whole = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func private @variance(%x: tensor<8x64xf32>, %m: tensor<8xf32>, %zeros: tensor<8xf32>) -> tensor<8x64xf32> attributes {plim.dispatch_function} {
  %e = tensor.empty() : tensor<8x64xf32>
  %d = linalg.generic {indexing_maps = [#whole, #row, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<8x64xf32>, tensor<8xf32>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.subf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<8x64xf32>
  %q = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%d : tensor<8x64xf32>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.mulf %a, %a : f32
    linalg.yield %t : f32
  } -> tensor<8x64xf32>
  %s = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
      ins(%q : tensor<8x64xf32>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %o, %a : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#whole, #row, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%d, %s : tensor<8x64xf32>, tensor<8xf32>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.divf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}

// -----

// An exponential is stored by the sum that reads it first.
// CHECK-LABEL: func.func private @softmax
//       CHECK:   %[[S:.*]]:2 = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%arg0 :
//       CHECK:     %[[X:.*]] = math.exp
//       CHECK:     %[[T:.*]] = arith.addf %{{.*}}, %[[X]]
//       CHECK:     linalg.yield %[[X]], %[[T]]
//       CHECK:   linalg.generic {{.*}} ins(%[[S]]#0, %[[S]]#1 :
//   CHECK-NOT:   linalg.generic
#whole = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func private @softmax(%x: tensor<8x64xf32>, %zeros: tensor<8xf32>) -> tensor<8x64xf32> attributes {plim.dispatch_function} {
  %e = tensor.empty() : tensor<8x64xf32>
  %p = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x64xf32>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = math.exp %a : f32
    linalg.yield %t : f32
  } -> tensor<8x64xf32>
  %s = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<8x64xf32>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %o, %a : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#whole, #row, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%p, %s : tensor<8x64xf32>, tensor<8xf32>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.divf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}

// -----

// Not into a product, and not what would make one; not what is read once for each element of a row.
// CHECK-LABEL: func.func private @apart
//       CHECK:   math.exp
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]
//       CHECK:   math.sqrt
//       CHECK:   linalg.generic
//       CHECK:     arith.mulf
//   CHECK-NOT:   math
#rows = affine_map<(i, j, k) -> (i, k)>
#columns = affine_map<(i, j, k) -> (k, j)>
#result = affine_map<(i, j, k) -> (i, j)>
#whole = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#one = affine_map<(i) -> (i)>
func.func private @apart(%x: tensor<8x64xf32>, %w: tensor<64x64xf32>, %v: tensor<8xf32>, %zeros: tensor<8x64xf32>) -> tensor<8x64xf32> attributes {plim.dispatch_function} {
  %e = tensor.empty() : tensor<8x64xf32>
  %e1 = tensor.empty() : tensor<8xf32>
  %p = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x64xf32>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = math.exp %a : f32
    linalg.yield %t : f32
  } -> tensor<8x64xf32>
  %s = linalg.generic {indexing_maps = [#rows, #columns, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p, %w : tensor<8x64xf32>, tensor<64x64xf32>) outs(%zeros : tensor<8x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<8x64xf32>
  %r = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%v : tensor<8xf32>) outs(%e1 : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = math.sqrt %a : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#whole, #row, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%s, %r : tensor<8x64xf32>, tensor<8xf32>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.mulf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}
