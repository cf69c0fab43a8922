// RUN: plimsoll-opt %s -plim-attach-target=tag=x86-64-v4 -plim-vectorize-choices -canonicalize -cse -split-input-file | FileCheck %s --check-prefixes=CHECK,V4
// RUN: plimsoll-opt %s -plim-attach-target=tag=x86-64-v3 -plim-vectorize-choices -canonicalize -cse -split-input-file | FileCheck %s --check-prefixes=CHECK,V3
// RUN: plimsoll-opt %s -plim-attach-target=tag=cortex-m7 -plim-vectorize-choices -canonicalize -cse -split-input-file | FileCheck %s --check-prefix=SCALAR

#whole = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// Four vectors of what is compared and of places, then one, then what is left: with a mask, or one by one. Lanes start from what was chosen
// before the row. The result is made of the element that was chosen, if any was.
// CHECK-LABEL: func.func private @first_largest(
//       CHECK:   scf.for
//       CHECK:     %[[BEST:.*]] = tensor.extract
//          V4:     %[[START:.*]] = vector.broadcast %[[BEST]] : f32 to vector<64xf32>
//          V4:     scf.for {{.*}} to %c960 step %c64 iter_args(%[[V:.*]] = %[[START]], %[[P:.*]] = %{{.*}}) -> (vector<64xf32>, vector<64xi32>)
//          V3:     scf.for {{.*}} to %c992 step %c32 iter_args({{.*}}) -> (vector<32xf32>, vector<32xi32>)
//          V4:       %[[X:.*]] = vector.transfer_read
//          V4:       %[[BETTER:.*]] = arith.cmpf ogt, %[[X]], %[[V]] : vector<64xf32>
//          V4:       arith.select %[[BETTER]], %[[X]], %[[V]]
//          V4:       arith.select %[[BETTER]], %{{.*}}, %[[P]] : vector<64xi1>, vector<64xi32>
//          V4:     vector.extract_strided_slice {{.*}} vector<64xf32> to vector<32xf32>
//          V4:     scf.for {{.*}} -> (vector<16xf32>, vector<16xi32>)
//          V4:     vector.constant_mask [8]
//          V3:     vector.transfer_read {{.*}}, vector<8xf32>
//       CHECK:     %[[ANY:.*]] = arith.cmpi sgt, %{{.*}}, %c-1_i32 : i32
//       CHECK:     scf.if %[[ANY]] -> (i64)
//   CHECK-NOT:   linalg.generic
//       CHECK:   return
//      SCALAR: linalg.generic
func.func private @first_largest(%x: tensor<8x1000xf32>, %v: tensor<8xf32>, %p: tensor<8xi64>) -> (tensor<8xf32>, tensor<8xi64>)
    attributes {plim.dispatch_function} {
  %r:2 = linalg.generic {indexing_maps = [#whole, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x1000xf32>) outs(%v, %p : tensor<8xf32>, tensor<8xi64>) {
  ^bb0(%a: f32, %best: f32, %place: i64):
    %i = linalg.index 1 : index
    %k = arith.index_cast %i : index to i64
    %c = arith.cmpf ogt, %a, %best : f32
    %0 = arith.select %c, %a, %best : f32
    %1 = arith.select %c, %k, %place : i64
    linalg.yield %0, %1 : f32, i64
  } -> (tensor<8xf32>, tensor<8xi64>)
  return %r#0, %r#1 : tensor<8xf32>, tensor<8xi64>
}

// -----

#whole = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// What depends on the order of all elements stays: a NaN that is taken and left again, and a condition on more than the order.
// CHECK-LABEL: func.func private @of_all(
//   CHECK-NOT:   vector
//       CHECK:   linalg.generic
//       CHECK:   linalg.generic
//   CHECK-NOT:   vector
//       CHECK:   return
func.func private @of_all(%x: tensor<8x1000xf32>, %v: tensor<8xf32>, %p: tensor<8xi64>) -> (tensor<8xi64>, tensor<8xi64>)
    attributes {plim.dispatch_function} {
  %one = arith.constant 1.0 : f32
  %r:2 = linalg.generic {indexing_maps = [#whole, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x1000xf32>) outs(%v, %p : tensor<8xf32>, tensor<8xi64>) {
  ^bb0(%a: f32, %best: f32, %place: i64):
    %i = linalg.index 1 : index
    %k = arith.index_cast %i : index to i64
    %c = arith.cmpf ugt, %a, %best : f32
    %0 = arith.select %c, %a, %best : f32
    %1 = arith.select %c, %k, %place : i64
    linalg.yield %0, %1 : f32, i64
  } -> (tensor<8xf32>, tensor<8xi64>)
  %s:2 = linalg.generic {indexing_maps = [#whole, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x1000xf32>) outs(%v, %p : tensor<8xf32>, tensor<8xi64>) {
  ^bb0(%a: f32, %best: f32, %place: i64):
    %i = linalg.index 1 : index
    %k = arith.index_cast %i : index to i64
    %more = arith.addf %best, %one : f32
    %c = arith.cmpf ogt, %a, %more : f32
    %0 = arith.select %c, %a, %best : f32
    %1 = arith.select %c, %k, %place : i64
    linalg.yield %0, %1 : f32, i64
  } -> (tensor<8xf32>, tensor<8xi64>)
  return %r#1, %s#1 : tensor<8xi64>, tensor<8xi64>
}
