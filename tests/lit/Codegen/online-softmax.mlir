// RUN: plimsoll-opt %s -plim-online-softmax -split-input-file | FileCheck %s

#rows = affine_map<(i, j) -> (i)>
#all = affine_map<(i, j) -> (i, j)>
#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (j, k)>
#scores = affine_map<(i, j, k) -> (i, j)>
#values = affine_map<(i, j, k) -> (k, j)>

// 512 keys at a time, of which a call brings any number. Where the maximum grows, what was summed up is multiplied.
// CHECK-LABEL: func.func @attention(
// CHECK-SAME: %{{.*}}: tensor<16x8xf32>, %[[K:.*]]: tensor<?x8xf32>, %[[V:.*]]: tensor<?x4xf32>
// CHECK: linalg.fill {{.*}} -> tensor<16x4xf32>
// CHECK: %[[LEAST:.*]] = arith.constant 0xFF800000 : f32
// CHECK-NEXT: tensor.empty
// CHECK-NEXT: %[[M0:.*]] = linalg.fill ins(%[[LEAST]]
// CHECK: %[[LOOP:.*]]:3 = scf.for %[[J:.*]] = %{{.*}} to %[[N:.*]] step %c512{{.*}} iter_args(%[[M:.*]] = %[[M0]], %[[L:.*]] = %{{.*}}, %[[O:.*]] = %{{.*}}) -> (tensor<16xf32>, tensor<16xf32>, tensor<16x4xf32>)
// CHECK: %[[COUNT:.*]] = affine.min {{.*}}(%[[J]])[%[[N]]]
// CHECK: tensor.empty() : tensor<16x512xf32>
// CHECK: tensor.extract_slice %[[K]][%[[J]], 0] [%[[COUNT]], 8] [1, 1]
// CHECK: %[[MAX:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<16xf32>)
// CHECK: arith.maximumf
// CHECK: %[[C:.*]]:3 = linalg.generic {{.*}} ins(%[[MAX]] : tensor<16xf32>) outs(%[[M]], %{{.*}}, %{{.*}} :
// CHECK-NEXT: ^bb0(%[[BLOCK:.*]]: f32, %[[BEFORE:.*]]: f32, %{{.*}}: f32, %{{.*}}: f32):
// CHECK: %[[MOST:.*]] = arith.maximumf %[[BEFORE]], %[[BLOCK]]
// CHECK: %[[NONE:.*]] = arith.cmpf oeq, %[[MOST]], %[[LEAST]]
// CHECK: %[[FINITE:.*]] = arith.select %[[NONE]], %{{.*}}, %[[MOST]]
// CHECK: %[[LESS:.*]] = arith.subf %[[BEFORE]], %[[FINITE]]
// CHECK: %[[FACTOR:.*]] = math.exp %[[LESS]]
// CHECK: linalg.yield %[[MOST]], %[[FINITE]], %[[FACTOR]]
// CHECK: %[[L1:.*]] = linalg.generic {{.*}} ins(%[[C]]#2 : tensor<16xf32>) outs(%[[L]] : tensor<16xf32>)
// CHECK: arith.mulf
// CHECK: %[[P:.*]]:2 = linalg.generic {{.*}} ins(%{{.*}}, %[[C]]#1 : tensor<16x?xf32>, tensor<16xf32>) outs(%{{.*}}, %[[L1]] :
// CHECK: %[[O1:.*]] = linalg.generic {{.*}} ins(%[[C]]#2 : tensor<16xf32>) outs(%[[O]] : tensor<16x4xf32>)
// CHECK: %[[VALUES:.*]] = tensor.extract_slice %[[V]][%[[J]], 0] [%[[COUNT]], 4] [1, 1]
// CHECK: %[[O2:.*]] = linalg.generic {{.*}} ins(%[[P]]#0, %[[VALUES]] : {{.*}}) outs(%[[O1]] :
// CHECK: scf.yield %[[C]]#0, %[[P]]#1, %[[O2]]
// CHECK: linalg.generic {{.*}} ins(%[[LOOP]]#1 : tensor<16xf32>) outs(%[[LOOP]]#2 : tensor<16x4xf32>)
func.func @attention(%q: tensor<16x8xf32>, %k: tensor<?x8xf32>, %v: tensor<?x4xf32>) -> tensor<16x4xf32> attributes {plim.dispatch_function} {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.5 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %k, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<16x?xf32>
  %r = tensor.empty() : tensor<16xf32>
  %o = tensor.empty() : tensor<16x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<16x?xf32>) -> tensor<16x?xf32>
  %s = linalg.generic {indexing_maps = [#left, #right, #scores], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<16x8xf32>, tensor<?x8xf32>) outs(%z : tensor<16x?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %t = arith.mulf %a, %b : f32
    %u = arith.addf %c, %t : f32
    linalg.yield %u : f32
  } -> tensor<16x?xf32>
  %lows = linalg.fill ins(%least : f32) outs(%r : tensor<16xf32>) -> tensor<16xf32>
  %m = linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "reduction"]} ins(%s : tensor<16x?xf32>) outs(%lows : tensor<16xf32>) {
  ^bb0(%in: f32, %c: f32):
    %t = arith.mulf %in, %scale : f32
    %u = arith.maximumf %c, %t : f32
    linalg.yield %u : f32
  } -> tensor<16xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%r : tensor<16xf32>) -> tensor<16xf32>
  %x:2 = linalg.generic {indexing_maps = [#all, #rows, #all, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%s, %m : tensor<16x?xf32>, tensor<16xf32>) outs(%e, %zeros : tensor<16x?xf32>, tensor<16xf32>) {
  ^bb0(%in: f32, %most: f32, %b: f32, %c: f32):
    %t = arith.mulf %in, %scale : f32
    %d = arith.subf %t, %most : f32
    %f = math.exp %d : f32
    %u = arith.addf %c, %f : f32
    linalg.yield %f, %u : f32, f32
  } -> (tensor<16x?xf32>, tensor<16xf32>)
  %y = linalg.fill ins(%zero : f32) outs(%o : tensor<16x4xf32>) -> tensor<16x4xf32>
  %p = linalg.generic {indexing_maps = [#left, #values, #scores], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x#0, %v : tensor<16x?xf32>, tensor<?x4xf32>) outs(%y : tensor<16x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %t = arith.mulf %a, %b : f32
    %u = arith.addf %c, %t : f32
    linalg.yield %u : f32
  } -> tensor<16x4xf32>
  %result = linalg.generic {indexing_maps = [#rows, #all], iterator_types = ["parallel", "parallel"]} ins(%x#1 : tensor<16xf32>) outs(%p : tensor<16x4xf32>) {
  ^bb0(%sum: f32, %c: f32):
    %t = arith.divf %c, %sum : f32
    linalg.yield %t : f32
  } -> tensor<16x4xf32>
  return %result : tensor<16x4xf32>
}

// -----

// What is between two products is as little at a time, in the order of the source.
// CHECK-LABEL: func.func @products(
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c512{{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (tensor<16x4xf32>)
// CHECK: %[[ONE:.*]] = linalg.matmul {{.*}} -> tensor<16x512xf32>
// CHECK: linalg.matmul ins(%[[ONE]], %{{.*}}) outs(%[[SUM]] : tensor<16x4xf32>)
func.func @products(%a: tensor<16x8xf32>, %b: tensor<8x1024xf32>, %c: tensor<1024x4xf32>) -> tensor<16x4xf32> attributes {plim.dispatch_function} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x1024xf32>
  %o = tensor.empty() : tensor<16x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<16x1024xf32>) -> tensor<16x1024xf32>
  %s = linalg.matmul ins(%a, %b : tensor<16x8xf32>, tensor<8x1024xf32>) outs(%z : tensor<16x1024xf32>) -> tensor<16x1024xf32>
  %y = linalg.fill ins(%zero : f32) outs(%o : tensor<16x4xf32>) -> tensor<16x4xf32>
  %p = linalg.matmul ins(%s, %c : tensor<16x1024xf32>, tensor<1024x4xf32>) outs(%y : tensor<16x4xf32>) -> tensor<16x4xf32>
  return %p : tensor<16x4xf32>
}

// -----

// What is read elsewhere as well has to be there as a whole.
// CHECK-LABEL: func.func @shared(
// CHECK-NOT: scf.for
func.func @shared(%a: tensor<16x8xf32>, %b: tensor<8x1024xf32>, %c: tensor<1024x4xf32>) -> (tensor<16x1024xf32>, tensor<16x4xf32>) attributes {plim.dispatch_function} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x1024xf32>
  %o = tensor.empty() : tensor<16x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<16x1024xf32>) -> tensor<16x1024xf32>
  %s = linalg.matmul ins(%a, %b : tensor<16x8xf32>, tensor<8x1024xf32>) outs(%z : tensor<16x1024xf32>) -> tensor<16x1024xf32>
  %y = linalg.fill ins(%zero : f32) outs(%o : tensor<16x4xf32>) -> tensor<16x4xf32>
  %p = linalg.matmul ins(%s, %c : tensor<16x1024xf32>, tensor<1024x4xf32>) outs(%y : tensor<16x4xf32>) -> tensor<16x4xf32>
  return %s, %p : tensor<16x1024xf32>, tensor<16x4xf32>
}
