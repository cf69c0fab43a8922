// RUN: plimsoll-opt %s -plim-skip-masked -cse -canonicalize -split-input-file | FileCheck %s

#rows = affine_map<(i, j) -> (i)>
#all = affine_map<(i, j) -> (i, j)>
#left = affine_map<(i, j, k) -> (i, k)>
#keys = affine_map<(i, j, k) -> (j, k)>
#scores = affine_map<(i, j, k) -> (i, j)>
#values = affine_map<(i, j, k) -> (k, j)>

// A tile of 64 rows sees the keys up to its last row's own: the product that computes scores, what goes over them, and the product
// with the values have as many columns.
// CHECK-LABEL: func.func @causal(
// CHECK-SAME: %[[Q:.*]]: tensor<64x32xf32>, %[[K:.*]]: tensor<1024x32xf32>, %[[V:.*]]: tensor<1024x32xf32>, %[[AT:.*]]: index
// CHECK: %[[LAST:.*]] = affine.apply #{{.*}}()[%[[AT]]]
// CHECK: arith.cmpi sge, %[[AT]], %c0
// CHECK: %[[SEEN:.*]] = arith.select %{{.*}}, %[[LAST]], %c1024
// CHECK: %[[N:.*]] = affine.min #{{.*}}()[%[[SEEN]]]
// CHECK: %[[KEYS:.*]] = tensor.extract_slice %[[K]][0, 0] [%[[N]], 32] [1, 1]
// CHECK: linalg.generic {{.*}} ins(%[[Q]], %[[KEYS]] : tensor<64x32xf32>, tensor<?x32xf32>) {{.*}}tensor<64x?xf32>
// CHECK: arith.select
// CHECK: arith.maximumf
// CHECK: -> (tensor<64x?xf32>, tensor<64xf32>)
// CHECK: math.exp
// CHECK: -> (tensor<64x?xf32>, tensor<64xf32>)
// CHECK: %[[VALUES:.*]] = tensor.extract_slice %[[V]][0, 0] [%[[N]], 32] [1, 1]
// CHECK: linalg.generic {{.*}}%[[VALUES]] : tensor<64x?xf32>, tensor<?x32xf32>) {{.*}}tensor<64x32xf32>
func.func @causal(%q: tensor<64x32xf32>, %k: tensor<1024x32xf32>, %v: tensor<1024x32xf32>, %at: index) -> (tensor<64x32xf32>, tensor<64xf32>)
    attributes {plim.dispatch_function} {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<64x1024xf32>
  %r = tensor.empty() : tensor<64xf32>
  %o = tensor.empty() : tensor<64x32xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x1024xf32>) -> tensor<64x1024xf32>
  %s = linalg.generic {indexing_maps = [#left, #keys, #scores], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<64x32xf32>, tensor<1024x32xf32>) outs(%z : tensor<64x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %c, %p : f32
    linalg.yield %t : f32
  } -> tensor<64x1024xf32>
  %lows = linalg.fill ins(%low : f32) outs(%r : tensor<64xf32>) -> tensor<64xf32>
  %m:2 = linalg.generic {indexing_maps = [#all, #all, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%s : tensor<64x1024xf32>) outs(%e, %lows : tensor<64x1024xf32>, tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %own = arith.addi %i, %at : index
    %later = arith.cmpi sgt, %j, %own : index
    %t = arith.select %later, %low, %a : f32
    %u = arith.maximumf %c, %t : f32
    linalg.yield %t, %u : f32, f32
  } -> (tensor<64x1024xf32>, tensor<64xf32>)
  %zeros = linalg.fill ins(%zero : f32) outs(%r : tensor<64xf32>) -> tensor<64xf32>
  %x:2 = linalg.generic {indexing_maps = [#all, #rows, #all, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%m#0, %m#1 : tensor<64x1024xf32>, tensor<64xf32>) outs(%e, %zeros : tensor<64x1024xf32>, tensor<64xf32>) {
  ^bb0(%a: f32, %most: f32, %b: f32, %c: f32):
    %d = arith.subf %a, %most : f32
    %t = math.exp %d : f32
    %u = arith.addf %c, %t : f32
    linalg.yield %t, %u : f32, f32
  } -> (tensor<64x1024xf32>, tensor<64xf32>)
  %y0 = linalg.fill ins(%zero : f32) outs(%o : tensor<64x32xf32>) -> tensor<64x32xf32>
  %y = linalg.generic {indexing_maps = [#left, #values, #scores], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x#0, %v : tensor<64x1024xf32>, tensor<1024x32xf32>) outs(%y0 : tensor<64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %c, %p : f32
    linalg.yield %t : f32
  } -> tensor<64x32xf32>
  return %y, %x#1 : tensor<64x32xf32>, tensor<64xf32>
}

// -----

#all = affine_map<(i, j) -> (i, j)>
#left = affine_map<(i, j, k) -> (i, k)>
#scores = affine_map<(i, j, k) -> (i, j)>
#values = affine_map<(i, j, k) -> (k, j)>

// A band: in front of the first column that some row sees, and behind the last one. It begins where lanes do.
// CHECK-LABEL: func.func @band(
// CHECK: %[[FIRST:.*]] = arith.select %{{.*}}, %{{.*}}, %c0 : index
// CHECK: %[[BEGIN:.*]] = affine.max #{{.*}}()[%[[FIRST]]]
// CHECK: %[[N:.*]] = affine.apply #{{.*}}()[%{{.*}}, %[[BEGIN]]]
// CHECK: tensor.extract_slice %arg0[0, %[[BEGIN]]] [16, %[[N]]] [1, 1]
// CHECK: linalg.generic
// CHECK: affine.apply {{.*}}%[[BEGIN]]
// CHECK: tensor.extract_slice %arg1[%[[BEGIN]], 0] [%[[N]], 8] [1, 1]
func.func @band(%a: tensor<16x4096xf32>, %v: tensor<4096x8xf32>, %at: index) -> tensor<16x8xf32> attributes {plim.dispatch_function} {
  %zero = arith.constant 0.0 : f32
  %c100 = arith.constant 100 : index
  %e = tensor.empty() : tensor<16x4096xf32>
  %o = tensor.empty() : tensor<16x8xf32>
  %s = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<16x4096xf32>) outs(%e : tensor<16x4096xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %own = arith.addi %i, %at : index
    %begin = arith.subi %own, %c100 : index
    %later = arith.cmpi sgt, %j, %own : index
    %before = arith.cmpi sle, %j, %begin : index
    %hidden = arith.ori %later, %before : i1
    %t = arith.select %hidden, %zero, %in : f32
    linalg.yield %t : f32
  } -> tensor<16x4096xf32>
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<16x8xf32>) -> tensor<16x8xf32>
  %y = linalg.generic {indexing_maps = [#left, #values, #scores], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%s, %v : tensor<16x4096xf32>, tensor<4096x8xf32>) outs(%z : tensor<16x8xf32>) {
  ^bb0(%l: f32, %r: f32, %c: f32):
    %p = arith.mulf %l, %r : f32
    %t = arith.addf %c, %p : f32
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

// A number that is low, but not infinite, beside a mask from memory, which may leave a row nothing else: its maximum would be another one.
// CHECK-LABEL: func.func @beside_mask(
// CHECK-NOT: tensor.extract_slice
func.func @beside_mask(%a: tensor<16x4096xf32>, %mask: tensor<16x4096xf32>, %v: tensor<4096x8xf32>) -> tensor<16x8xf32> attributes {plim.dispatch_function} {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant -1.0e+30 : f32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<16x4096xf32>
  %r = tensor.empty() : tensor<16xf32>
  %o = tensor.empty() : tensor<16x8xf32>
  %lows = linalg.fill ins(%least : f32) outs(%r : tensor<16xf32>) -> tensor<16xf32>
  %m:2 = linalg.generic {indexing_maps = [#all, #all, #all, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%a, %mask : tensor<16x4096xf32>, tensor<16x4096xf32>) outs(%e, %lows : tensor<16x4096xf32>, tensor<16xf32>) {
  ^bb0(%in: f32, %its: f32, %b: f32, %c: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %later = arith.cmpi sgt, %j, %i : index
    %sum = arith.addf %in, %its : f32
    %t = arith.select %later, %low, %sum : f32
    %u = arith.maximumf %c, %t : f32
    linalg.yield %t, %u : f32, f32
  } -> (tensor<16x4096xf32>, tensor<16xf32>)
  %x = linalg.generic {indexing_maps = [#all, #rows, #all], iterator_types = ["parallel", "parallel"]}
      ins(%m#0, %m#1 : tensor<16x4096xf32>, tensor<16xf32>) outs(%e : tensor<16x4096xf32>) {
  ^bb0(%in: f32, %most: f32, %b: f32):
    %d = arith.subf %in, %most : f32
    %t = math.exp %d : f32
    linalg.yield %t : f32
  } -> tensor<16x4096xf32>
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<16x8xf32>) -> tensor<16x8xf32>
  %y = linalg.generic {indexing_maps = [#left, #values, #scores], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %v : tensor<16x4096xf32>, tensor<4096x8xf32>) outs(%z : tensor<16x8xf32>) {
  ^bb0(%l: f32, %r0: f32, %c: f32):
    %p = arith.mulf %l, %r0 : f32
    %t = arith.addf %c, %p : f32
    linalg.yield %t : f32
  } -> tensor<16x8xf32>
  return %y : tensor<16x8xf32>
}

// -----

#all = affine_map<(i, j) -> (i, j)>
#left = affine_map<(i, j, k) -> (i, k)>
#scores = affine_map<(i, j, k) -> (i, j)>
#values = affine_map<(i, j, k) -> (k, j)>

// The masked elements are wanted themselves.
// CHECK-LABEL: func.func @also_returned(
// CHECK-NOT: tensor.extract_slice
func.func @also_returned(%a: tensor<16x4096xf32>, %v: tensor<4096x8xf32>) -> (tensor<16x8xf32>, tensor<16x4096xf32>) attributes {plim.dispatch_function} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x4096xf32>
  %o = tensor.empty() : tensor<16x8xf32>
  %s = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<16x4096xf32>) outs(%e : tensor<16x4096xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %later = arith.cmpi sgt, %j, %i : index
    %t = arith.select %later, %zero, %in : f32
    linalg.yield %t : f32
  } -> tensor<16x4096xf32>
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<16x8xf32>) -> tensor<16x8xf32>
  %y = linalg.generic {indexing_maps = [#left, #values, #scores], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%s, %v : tensor<16x4096xf32>, tensor<4096x8xf32>) outs(%z : tensor<16x8xf32>) {
  ^bb0(%l: f32, %r: f32, %c: f32):
    %p = arith.mulf %l, %r : f32
    %t = arith.addf %c, %p : f32
    linalg.yield %t : f32
  } -> tensor<16x8xf32>
  return %y, %s : tensor<16x8xf32>, tensor<16x4096xf32>
}

// -----

#all = affine_map<(i, j) -> (i, j)>
#left = affine_map<(i, j, k) -> (i, k)>
#scores = affine_map<(i, j, k) -> (i, j)>
#values = affine_map<(i, j, k) -> (k, j)>

// Rows of several heads are rows of one product: their places are remainders. What is seen comes from memory, where it may not be there.
// CHECK-LABEL: func.func @heads(
// CHECK: %[[SAME:.*]] = arith.cmpi eq
// CHECK: arith.select %[[SAME]], %{{.*}}, %c299
// CHECK: scf.if
// CHECK: tensor.extract %arg2
// CHECK: tensor.extract_slice %arg0[0, 0] [16, %{{.*}}] [1, 1]
func.func @heads(%a: tensor<16x4096xf32>, %v: tensor<4096x8xf32>, %pasts: tensor<?xi64>, %at: index, %batch: index) -> tensor<16x8xf32>
    attributes {plim.dispatch_function} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %none = arith.constant 0 : i64
  %c300 = arith.constant 300 : index
  %e = tensor.empty() : tensor<16x4096xf32>
  %o = tensor.empty() : tensor<16x8xf32>
  %count = tensor.dim %pasts, %c0 : tensor<?xi64>
  %s = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<16x4096xf32>) outs(%e : tensor<16x4096xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %row = arith.addi %i, %at : index
    %place = arith.remsi %row, %c300 : index
    %inside = arith.cmpi ult, %batch, %count : index
    %ok = plim.check %inside, "out of range"
    %past = scf.if %ok -> i64 {
      %its = tensor.extract %pasts[%batch] : tensor<?xi64>
      scf.yield %its : i64
    } else {
      scf.yield %none : i64
    }
    %wide = arith.index_cast %place : index to i64
    %column = arith.index_cast %j : index to i64
    %own = arith.addi %wide, %past : i64
    %later = arith.cmpi sgt, %column, %own : i64
    %t = arith.select %later, %zero, %in : f32
    linalg.yield %t : f32
  } -> tensor<16x4096xf32>
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<16x8xf32>) -> tensor<16x8xf32>
  %y = linalg.generic {indexing_maps = [#left, #values, #scores], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%s, %v : tensor<16x4096xf32>, tensor<4096x8xf32>) outs(%z : tensor<16x8xf32>) {
  ^bb0(%l: f32, %r: f32, %c: f32):
    %p = arith.mulf %l, %r : f32
    %t = arith.addf %c, %p : f32
    linalg.yield %t : f32
  } -> tensor<16x8xf32>
  return %y : tensor<16x8xf32>
}
