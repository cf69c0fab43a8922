// RUN: plimsoll-opt %s -plim-fuse-siblings -canonicalize -cse -split-input-file | FileCheck %s

// The least, the largest and the sum of rows are taken at once, wherever the second and third stand; a fourth starts anew.
// CHECK-LABEL: func.func @rows
//       CHECK:   %[[R:.*]]:3 = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<4x?xf32>)
//       CHECK:     arith.minimumf
//       CHECK:     arith.maximumf
//       CHECK:     arith.addf
//       CHECK:   linalg.reduce { arith.mulf } ins(%arg0 : tensor<4x?xf32>)
//   CHECK-NOT:   linalg.
//       CHECK:   return
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @rows(%x: tensor<4x?xf32>, %a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %low = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x?xf32>) outs(%a : tensor<4xf32>) {
  ^bb0(%v: f32, %o: f32):
    %t = arith.minimumf %v, %o : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  %doubled = arith.addf %low, %low : tensor<4xf32>
  %e = arith.negf %a : tensor<4xf32>
  %high = linalg.reduce { arith.maximumf } ins(%x : tensor<4x?xf32>) outs(%e : tensor<4xf32>) dimensions = [1]
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<4x?xf32>) outs(%a : tensor<4xf32>) dimensions = [1]
  %product = linalg.reduce { arith.mulf } ins(%x : tensor<4x?xf32>) outs(%a : tensor<4xf32>) dimensions = [1]
  return %doubled, %high, %sum, %product : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Each input is read once, also where another one is only in one of them.
// CHECK-LABEL: func.func @inputs
//       CHECK:   %[[R:.*]]:2 = linalg.generic {{.*}} ins(%arg0, %arg1 : tensor<4x7xf32>, tensor<4x7xf32>)
//       CHECK:   return %[[R]]#1, %[[R]]#0
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @inputs(%x: tensor<4x7xf32>, %w: tensor<4x7xf32>, %a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %m = linalg.reduce { arith.maximumf } ins(%x : tensor<4x7xf32>) outs(%a : tensor<4xf32>) dimensions = [1]
  %s = linalg.generic {indexing_maps = [#id, #id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<4x7xf32>, tensor<4x7xf32>) outs(%a : tensor<4xf32>) {
  ^bb0(%v: f32, %u: f32, %o: f32):
    %d = arith.subf %v, %u : f32
    %t = arith.addf %o, %d : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  return %s, %m : tensor<4xf32>, tensor<4xf32>
}

// -----

// Not columns, not what starts from the other's result, not other rows, not another order.
// CHECK-LABEL: func.func @apart
// CHECK-COUNT-2: linalg.reduce
// CHECK-LABEL: func.func @depends
// CHECK-COUNT-2: linalg.reduce
// CHECK-LABEL: func.func @other
// CHECK-COUNT-2: linalg.reduce
// CHECK-LABEL: func.func @order
//       CHECK:   linalg.reduce
//       CHECK:   linalg.generic
//       CHECK:     arith.subf
func.func @apart(%x: tensor<5x4xf32>, %a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %m = linalg.reduce { arith.maximumf } ins(%x : tensor<5x4xf32>) outs(%a : tensor<4xf32>) dimensions = [0]
  %s = linalg.reduce { arith.addf } ins(%x : tensor<5x4xf32>) outs(%a : tensor<4xf32>) dimensions = [0]
  return %m, %s : tensor<4xf32>, tensor<4xf32>
}

func.func @depends(%x: tensor<5x4xf32>, %a: tensor<5xf32>) -> tensor<5xf32> {
  %m = linalg.reduce { arith.maximumf } ins(%x : tensor<5x4xf32>) outs(%a : tensor<5xf32>) dimensions = [1]
  %s = linalg.reduce { arith.addf } ins(%x : tensor<5x4xf32>) outs(%m : tensor<5xf32>) dimensions = [1]
  return %s : tensor<5xf32>
}

func.func @other(%x: tensor<5x4xf32>, %y: tensor<5x4xf32>, %a: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>) {
  %m = linalg.reduce { arith.maximumf } ins(%x : tensor<5x4xf32>) outs(%a : tensor<5xf32>) dimensions = [1]
  %s = linalg.reduce { arith.addf } ins(%y : tensor<5x4xf32>) outs(%a : tensor<5xf32>) dimensions = [1]
  return %m, %s : tensor<5xf32>, tensor<5xf32>
}

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @order(%x: tensor<5x4xf32>, %a: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>) {
  %m = linalg.reduce { arith.maximumf } ins(%x : tensor<5x4xf32>) outs(%a : tensor<5xf32>) dimensions = [1]
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<5x4xf32>) outs(%a : tensor<5xf32>) {
  ^bb0(%v: f32, %o: f32):
    %t = arith.subf %v, %o : f32
    linalg.yield %t : f32
  } -> tensor<5xf32>
  return %m, %s : tensor<5xf32>, tensor<5xf32>
}
