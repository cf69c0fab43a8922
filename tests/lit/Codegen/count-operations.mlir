// RUN: plimsoll-opt %s -plim-count-operations -split-input-file | FileCheck %s

// A product and a sum for each of 4 x 8 x 2 iterations; what fills does nothing.
// CHECK-LABEL: func.func @matmul(
//  CHECK-SAME:   plim.operations = 128 : i64
func.func @matmul(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>, %out: tensor<4x2xf32>) -> tensor<4x2xf32>
    attributes {plim.dispatch_function} {
  %zero = arith.constant 0.0 : f32
  %fill = linalg.fill ins(%zero : f32) outs(%out : tensor<4x2xf32>) -> tensor<4x2xf32>
  %r = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x2xf32>) outs(%fill : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

// -----

// Neither conversions nor comparisons, choices, constants and indices: one root.
#id = affine_map<(i) -> (i)>
// CHECK-LABEL: func.func @root(
//  CHECK-SAME:   plim.operations = 10 : i64
func.func @root(%a: tensor<10xf16>, %out: tensor<10xf32>) -> tensor<10xf32> attributes {plim.dispatch_function} {
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<10xf16>) outs(%out : tensor<10xf32>) {
  ^bb0(%x: f16, %o: f32):
    %zero = arith.constant 0.0 : f32
    %i = linalg.index 0 : index
    %j = arith.addi %i, %i : index
    %w = arith.extf %x : f16 to f32
    %p = arith.cmpf ogt, %w, %zero : f32
    %q = math.sqrt %w : f32
    %s = arith.select %p, %q, %zero : f32
    linalg.yield %s : f32
  } -> tensor<10xf32>
  return %r : tensor<10xf32>
}

// -----

// What a call alone knows, loops, and functions that are no dispatches.
#id = affine_map<(i) -> (i)>
// CHECK-LABEL: func.func @open(
//   CHECK-NOT:   plim.operations
func.func @open(%a: tensor<?xf32>, %out: tensor<?xf32>) -> tensor<?xf32> attributes {plim.dispatch_function} {
  %r = linalg.exp ins(%a : tensor<?xf32>) outs(%out : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

func.func @loop(%n: index, %a: memref<4xf32>) attributes {plim.dispatch_function} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %a[%i] : memref<4xf32>
    %y = arith.addf %x, %x : f32
    memref.store %y, %a[%i] : memref<4xf32>
  }
  return
}

func.func @branch(%c: i1, %x: f32, %a: memref<f32>) attributes {plim.dispatch_function} {
  %r = scf.if %c -> f32 {
    %y = arith.addf %x, %x : f32
    scf.yield %y : f32
  } else {
    %y = math.exp %x : f32
    scf.yield %y : f32
  }
  memref.store %r, %a[] : memref<f32>
  return
}

func.func @complex(%a: tensor<4xcomplex<f32>>, %out: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
    attributes {plim.dispatch_function} {
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<4xcomplex<f32>>) outs(%out : tensor<4xcomplex<f32>>) {
  ^bb0(%x: complex<f32>, %o: complex<f32>):
    %y = complex.mul %x, %x : complex<f32>
    linalg.yield %y : complex<f32>
  } -> tensor<4xcomplex<f32>>
  return %r : tensor<4xcomplex<f32>>
}

func.func @program(%a: tensor<4xf32>, %out: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.exp ins(%a : tensor<4xf32>) outs(%out : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
