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
// CHECK-LABEL: func.func @memory
// CHECK-COUNT-2: linalg.reduce
// CHECK-LABEL: func.func @call
// CHECK-COUNT-2: linalg.reduce
// CHECK-LABEL: func.func @nested
// CHECK-COUNT-2: linalg.reduce
// CHECK-LABEL: func.func @guarded
// CHECK-COUNT-2: linalg.reduce
// CHECK-LABEL: func.func @function
// CHECK-COUNT-2: linalg.generic
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

// What the second starts from is read behind a store: in front of it something else would be read.
func.func @memory(%x: tensor<5x4xf32>, %a: tensor<5xf32>, %m: memref<f32>, %k: f32) -> (tensor<5xf32>, tensor<5xf32>) {
  %p = linalg.reduce { arith.maximumf } ins(%x : tensor<5x4xf32>) outs(%a : tensor<5xf32>) dimensions = [1]
  memref.store %k, %m[] : memref<f32>
  %v = memref.load %m[] : memref<f32>
  %i = linalg.fill ins(%v : f32) outs(%a : tensor<5xf32>) -> tensor<5xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<5x4xf32>) outs(%i : tensor<5xf32>) dimensions = [1]
  return %p, %s : tensor<5xf32>, tensor<5xf32>
}

func.func private @draw() -> f32
func.func @call(%x: tensor<5x4xf32>, %a: tensor<5xf32>) -> (tensor<5xf32>, f32, tensor<5xf32>) {
  %p = linalg.reduce { arith.maximumf } ins(%x : tensor<5x4xf32>) outs(%a : tensor<5xf32>) dimensions = [1]
  %u = func.call @draw() : () -> f32
  %v = func.call @draw() : () -> f32
  %i = linalg.fill ins(%v : f32) outs(%a : tensor<5xf32>) -> tensor<5xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<5x4xf32>) outs(%i : tensor<5xf32>) dimensions = [1]
  return %p, %u, %s : tensor<5xf32>, f32, tensor<5xf32>
}

func.func @nested(%x: tensor<5x4xf32>, %a: tensor<5xf32>, %m: memref<f32>, %k: f32, %c: i1) -> (tensor<5xf32>, tensor<5xf32>) {
  %p = linalg.reduce { arith.maximumf } ins(%x : tensor<5x4xf32>) outs(%a : tensor<5xf32>) dimensions = [1]
  memref.store %k, %m[] : memref<f32>
  %v = scf.if %c -> f32 {
    %w = memref.load %m[] : memref<f32>
    scf.yield %w : f32
  } else {
    scf.yield %k : f32
  }
  %i = linalg.fill ins(%v : f32) outs(%a : tensor<5xf32>) -> tensor<5xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<5x4xf32>) outs(%i : tensor<5xf32>) dimensions = [1]
  return %p, %s : tensor<5xf32>, tensor<5xf32>
}

// A division that is guarded.
func.func @guarded(%x: tensor<5x4xi32>, %a: tensor<5xi32>, %n: i32, %isNotZero: i1) -> (tensor<5xi32>, tensor<5xi32>) {
  %p = linalg.reduce { arith.maxsi } ins(%x : tensor<5x4xi32>) outs(%a : tensor<5xi32>) dimensions = [1]
  cf.assert %isNotZero, "it is zero"
  %v = arith.divui %n, %n : i32
  %i = linalg.fill ins(%v : i32) outs(%a : tensor<5xi32>) -> tensor<5xi32>
  %s = linalg.reduce { arith.addi } ins(%x : tensor<5x4xi32>) outs(%i : tensor<5xi32>) dimensions = [1]
  return %p, %s : tensor<5xi32>, tensor<5xi32>
}

// One that calls a function for each element.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @function(%x: tensor<5x4xf32>, %a: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>) {
  %p = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<5x4xf32>) outs(%a : tensor<5xf32>) {
  ^bb0(%v: f32, %o: f32):
    %l = math.log %v : f32
    %t = arith.addf %l, %o : f32
    linalg.yield %t : f32
  } -> tensor<5xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<5x4xf32>) outs(%a : tensor<5xf32>) {
  ^bb0(%v: f32, %o: f32):
    %t = arith.addf %v, %o : f32
    linalg.yield %t : f32
  } -> tensor<5xf32>
  return %p, %s : tensor<5xf32>, tensor<5xf32>
}

func.func @order(%x: tensor<5x4xf32>, %a: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>) {
  %m = linalg.reduce { arith.maximumf } ins(%x : tensor<5x4xf32>) outs(%a : tensor<5xf32>) dimensions = [1]
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<5x4xf32>) outs(%a : tensor<5xf32>) {
  ^bb0(%v: f32, %o: f32):
    %t = arith.subf %v, %o : f32
    linalg.yield %t : f32
  } -> tensor<5xf32>
  return %m, %s : tensor<5xf32>, tensor<5xf32>
}
