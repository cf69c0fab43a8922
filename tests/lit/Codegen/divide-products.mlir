// RUN: plimsoll-opt %s -plim-divide-products -split-input-file | FileCheck %s

#rows = affine_map<(i, j) -> (i)>
#all = affine_map<(i, j) -> (i, j)>
#left = affine_map<(i, j, k) -> (i, k)>
#scores = affine_map<(i, j, k) -> (i, j)>
#values = affine_map<(i, j, k) -> (k, j)>

// The product is of the exponentials, at most 1 each, and its elements are divided.
// CHECK-LABEL: func.func @softmax(
// CHECK: %[[X:.*]]:2 = linalg.generic
// CHECK: math.exp
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} ins(%[[X]]#0, %arg1
// CHECK: linalg.generic {{.*}} ins(%[[X]]#1 : tensor<16xf32>) outs(%[[Y]] : tensor<16x8xf32>)
// CHECK-NEXT: ^bb0(%[[SUM:.*]]: f32, %[[OUT:.*]]: f32):
// CHECK-NEXT: arith.divf %[[OUT]], %[[SUM]]
func.func @softmax(%a: tensor<16x96xf32>, %v: tensor<96x8xf32>) -> tensor<16x8xf32> attributes {plim.dispatch_function} {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<16x96xf32>
  %r = tensor.empty() : tensor<16xf32>
  %o = tensor.empty() : tensor<16x8xf32>
  %lows = linalg.fill ins(%least : f32) outs(%r : tensor<16xf32>) -> tensor<16xf32>
  %m = linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<16x96xf32>) outs(%lows : tensor<16xf32>) {
  ^bb0(%in: f32, %c: f32):
    %u = arith.maximumf %c, %in : f32
    linalg.yield %u : f32
  } -> tensor<16xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%r : tensor<16xf32>) -> tensor<16xf32>
  %x:2 = linalg.generic {indexing_maps = [#all, #rows, #all, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%a, %m : tensor<16x96xf32>, tensor<16xf32>) outs(%e, %zeros : tensor<16x96xf32>, tensor<16xf32>) {
  ^bb0(%in: f32, %most: f32, %b: f32, %c: f32):
    %d = arith.subf %in, %most : f32
    %t = math.exp %d : f32
    %u = arith.addf %c, %t : f32
    linalg.yield %t, %u : f32, f32
  } -> (tensor<16x96xf32>, tensor<16xf32>)
  %p = linalg.generic {indexing_maps = [#all, #rows, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x#0, %x#1 : tensor<16x96xf32>, tensor<16xf32>) outs(%e : tensor<16x96xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %t = arith.divf %in, %sum : f32
    linalg.yield %t : f32
  } -> tensor<16x96xf32>
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<16x8xf32>) -> tensor<16x8xf32>
  %y = linalg.generic {indexing_maps = [#left, #values, #scores], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p, %v : tensor<16x96xf32>, tensor<96x8xf32>) outs(%z : tensor<16x8xf32>) {
  ^bb0(%l: f32, %r0: f32, %c: f32):
    %q = arith.mulf %l, %r0 : f32
    %t = arith.addf %c, %q : f32
    linalg.yield %t : f32
  } -> tensor<16x8xf32>
  return %y : tensor<16x8xf32>
}

// -----

#rows = affine_map<(i, j) -> (i)>
#all = affine_map<(i, j) -> (i, j)>
#left = affine_map<(i, j, k) -> (i, k)>
#scores = affine_map<(i, j, k) -> (i, j)>
#values = affine_map<(i, j, k) -> (k, j)>

// Of exponentials that may be large, the product may overflow where that of quotients does not.
// CHECK-LABEL: func.func @without_maximum(
// CHECK: arith.divf
// CHECK: arith.mulf
// CHECK-NOT: arith.divf
func.func @without_maximum(%a: tensor<16x96xf32>, %v: tensor<96x8xf32>) -> tensor<16x8xf32> attributes {plim.dispatch_function} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x96xf32>
  %r = tensor.empty() : tensor<16xf32>
  %o = tensor.empty() : tensor<16x8xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%r : tensor<16xf32>) -> tensor<16xf32>
  %x:2 = linalg.generic {indexing_maps = [#all, #all, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<16x96xf32>) outs(%e, %zeros : tensor<16x96xf32>, tensor<16xf32>) {
  ^bb0(%in: f32, %b: f32, %c: f32):
    %t = math.exp %in : f32
    %u = arith.addf %c, %t : f32
    linalg.yield %t, %u : f32, f32
  } -> (tensor<16x96xf32>, tensor<16xf32>)
  %p = linalg.generic {indexing_maps = [#all, #rows, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x#0, %x#1 : tensor<16x96xf32>, tensor<16xf32>) outs(%e : tensor<16x96xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %t = arith.divf %in, %sum : f32
    linalg.yield %t : f32
  } -> tensor<16x96xf32>
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<16x8xf32>) -> tensor<16x8xf32>
  %y = linalg.generic {indexing_maps = [#left, #values, #scores], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p, %v : tensor<16x96xf32>, tensor<96x8xf32>) outs(%z : tensor<16x8xf32>) {
  ^bb0(%l: f32, %r0: f32, %c: f32):
    %q = arith.mulf %l, %r0 : f32
    %t = arith.addf %c, %q : f32
    linalg.yield %t : f32
  } -> tensor<16x8xf32>
  return %y : tensor<16x8xf32>
}
