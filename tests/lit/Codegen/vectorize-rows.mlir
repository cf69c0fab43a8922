// RUN: plimsoll-opt %s -plim-attach-target=tag=x86-64-v4 -plim-vectorize-rows -canonicalize -split-input-file | FileCheck %s --check-prefixes=CHECK,MASK
// RUN: plimsoll-opt %s -plim-attach-target=tag=aarch64-neoverse-v2 -plim-vectorize-rows -canonicalize -split-input-file | FileCheck %s --check-prefixes=CHECK,NEON
// RUN: plimsoll-opt %s -plim-attach-target=tag=x86-64-v4 -plim-vectorize-rows=strict -split-input-file | FileCheck %s --check-prefix=STRICT

// 8192 elements at a time, four vectors at a time, one at a time, what is left; halves of the accumulators are added, and the first value to what they are.
//  CHECK-LABEL: func.func private @sum
//   STRICT-LABEL: func.func private @sum
//         STRICT:   linalg.generic
//         CHECK:   %[[OLD:.*]] = tensor.extract %[[R:.*]][%{{[^,]*}}] : tensor<?xf32>
//         CHECK:   %[[ALL:.*]] = scf.for %{{.*}} step %c8192 iter_args(%[[BEFORE:.*]] = %[[OLD]]) -> (f32)
//          MASK:   scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c64 iter_args(%[[A:.*]] = %{{.*}}) -> (vector<64xf32>)
//          MASK:     %[[X:.*]] = vector.transfer_read {{.*}} {in_bounds = [true]} : tensor<?x?xf32>, vector<64xf32>
//          MASK:     arith.addf %[[A]], %[[X]] : vector<64xf32>
//          MASK:   arith.addf {{.*}} : vector<32xf32>
//          MASK:   arith.addf {{.*}} : vector<16xf32>
//          MASK:   scf.for %{{.*}} step %c16 {{.*}} -> (vector<16xf32>)
//          MASK:   scf.for %{{.*}} step %c16 {{.*}} -> (vector<16xf32>)
//          MASK:     %[[MASK:.*]] = vector.create_mask
//          MASK:     vector.transfer_read {{.*}}, %[[MASK]]
//          MASK:     arith.select %[[MASK]]
//          NEON:   scf.for %{{.*}} step %c16 {{.*}} -> (vector<16xf32>)
//          NEON:   scf.for %{{.*}} step %c4 {{.*}} -> (vector<4xf32>)
//      NEON-NOT:   create_mask
//          NEON:   scf.for %{{.*}} step %c1 {{.*}} -> (f32)
//         CHECK:   %[[NEW:.*]] = arith.addf %[[BEFORE]], %{{.*}} : f32
//         CHECK:   scf.yield %[[NEW]]
//         CHECK: tensor.insert %[[ALL]] into %[[R]]
#whole = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func private @sum(%x: tensor<?x?xf32>, %r: tensor<?xf32>) -> tensor<?xf32> attributes {plim.dispatch_function} {
  %s = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%r : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %o, %a fastmath<reassoc,contract> : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  return %s : tensor<?xf32>
}

// -----

// A product is taken in unrounded wherever it stands in the row, and accumulators are added as they are. Not one that may not.
// CHECK-LABEL: func.func private @squares
//        MASK:   math.fma %[[X:.*]], %[[X]], %{{.*}} : vector<64xf32>
//        MASK:   arith.addf {{.*}}, %{{[^ ]*}} : vector<32xf32>
//       CHECK:   math.fma
//       CHECK:   math.fma
//   CHECK-NOT:   fastmath<{{.*}}contract{{.*}}> : {{.*}}f32{{$}}
//       CHECK:   return
// CHECK-LABEL: func.func private @rounded
//   CHECK-NOT:   math.fma
#whole = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func private @squares(%x: tensor<?x?xf32>, %r: tensor<?xf32>) -> tensor<?xf32> attributes {plim.dispatch_function} {
  %s = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%r : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.mulf %a, %a fastmath<contract> : f32
    %t = arith.addf %o, %p fastmath<reassoc,contract> : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  return %s : tensor<?xf32>
}

func.func private @rounded(%x: tensor<?x?xf32>, %r: tensor<?xf32>) -> tensor<?xf32> attributes {plim.dispatch_function} {
  %s = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%r : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.mulf %a, %a : f32
    %t = arith.addf %o, %p fastmath<reassoc,contract> : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  return %s : tensor<?xf32>
}

// -----

// What has an element for each iteration is stored; lanes are those of the widest type; nothing is left of 128.
//  CHECK-LABEL: func.func private @kept
//          MASK:   scf.for %{{.*}} step %c32 iter_args(%{{.*}}, %{{.*}}) -> (tensor<8x128xf32>, vector<32xf64>)
//          MASK:     %[[X:.*]] = vector.transfer_read
//          MASK:     %[[E:.*]] = math.absf %[[X]] : vector<32xf32>
//      MASK-DAG:     vector.transfer_write %[[E]]
//      MASK-DAG:     arith.extf %[[E]] : vector<32xf32> to vector<32xf64>
//      MASK-NOT:   create_mask
#whole = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func private @kept(%x: tensor<8x128xf32>, %e: tensor<8x128xf32>, %r: tensor<8xf64>) -> (tensor<8x128xf32>, tensor<8xf64>) attributes {plim.dispatch_function} {
  %s:2 = linalg.generic {indexing_maps = [#whole, #whole, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x128xf32>) outs(%e, %r : tensor<8x128xf32>, tensor<8xf64>) {
  ^bb0(%a: f32, %k: f32, %o: f64):
    %b = math.absf %a : f32
    %w = arith.extf %b : f32 to f64
    %t = arith.addf %o, %w : f64
    linalg.yield %b, %t : f32, f64
  } -> (tensor<8x128xf32>, tensor<8xf64>)
  return %s#0, %s#1 : tensor<8x128xf32>, tensor<8xf64>
}

// -----

// Left to plain loops: a decay, which depends on the order, a call for each element, a division of integers, columns, rows of three.
// With `strict` maxima and integers are vectors still.
//  CHECK-LABEL: func.func private @left
// STRICT-LABEL: func.func private @left
//   CHECK-COUNT-5: linalg.generic
//    CHECK-NOT: linalg.generic
//   STRICT-COUNT-5: linalg.generic
//   STRICT-NOT: linalg.generic
#whole = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>
#row = affine_map<(i, j) -> (i)>
func.func private @left(%x: tensor<8x128xf32>, %n: tensor<8x128xi32>, %three: tensor<8x3xf32>, %y: tensor<128x8xf32>, %r: tensor<8xf32>, %q: tensor<8xi32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xi32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) attributes {plim.dispatch_function} {
  %half = arith.constant 0.5 : f32
  %decay = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x128xf32>) outs(%r : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.mulf %o, %half : f32
    %t = arith.addf %p, %a : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  %call = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x128xf32>) outs(%r : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = math.sin %a : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  %division = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
      ins(%n : tensor<8x128xi32>) outs(%q : tensor<8xi32>) {
  ^bb0(%a: i32, %o: i32):
    %p = arith.divsi %a, %a : i32
    %t = arith.addi %o, %p : i32
    linalg.yield %t : i32
  } -> tensor<8xi32>
  %columns = linalg.generic {indexing_maps = [#turned, #row], iterator_types = ["parallel", "reduction"]}
      ins(%y : tensor<128x8xf32>) outs(%r : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %o, %a : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  %short = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
      ins(%three : tensor<8x3xf32>) outs(%r : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %o, %a : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  %max = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x128xf32>) outs(%r : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.maximumf %o, %a : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  return %decay, %call, %division, %columns, %short, %max : tensor<8xf32>, tensor<8xf32>, tensor<8xi32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
