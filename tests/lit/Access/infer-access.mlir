// RUN: plimsoll-opt %s -plim-infer-access -split-input-file | FileCheck %s

#v = affine_map<(d0) -> (d0)>

// Every element is overwritten, none is used: write-only. Scalars have no access.
// CHECK-LABEL: func.func private @overwrite(
//  CHECK-SAME: tensor<4xf32> {plim.access = #plim.access<readonly>}, %{{[^:]*}}: f32, %{{[^:]*}}: tensor<4xf32> {plim.access = #plim.access<writeonly>})
func.func private @overwrite(%a: tensor<4xf32>, %s: f32, %o: tensor<4xf32>) -> tensor<4xf32>
    attributes {plim.dispatch_function} {
  %r = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf32>) outs(%o : tensor<4xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.mulf %x, %s : f32
    linalg.yield %y : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
// CHECK-LABEL: func.func @f(
//       CHECK: plim.dispatch @overwrite
//  CHECK-SAME: accesses = [#plim.access<readonly>, #plim.access<writeonly>]
func.func @f(%a: tensor<4xf32>, %s: f32, %o: tensor<4xf32>) -> tensor<4xf32> {
  %r = plim.dispatch @overwrite ins(%a, %s : tensor<4xf32>, f32) outs(%o : tensor<4xf32>)
      -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// A fill makes the old contents unseen.
// CHECK-LABEL: func.func private @filled(
//  CHECK-SAME: #plim.access<readonly>
//  CHECK-SAME: #plim.access<writeonly>
func.func private @filled(%a: tensor<4x4xf32>, %o: tensor<4x4xf32>) -> tensor<4x4xf32>
    attributes {plim.dispatch_function} {
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%o : tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>)
      -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
func.func @f(%a: tensor<4x4xf32>, %o: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = plim.dispatch @filled ins(%a : tensor<4x4xf32>) outs(%o : tensor<4x4xf32>)
      -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

// An accumulation reads what was there.
// CHECK-LABEL: func.func private @accumulate(
//  CHECK-SAME: #plim.access<readonly>
//  CHECK-SAME: #plim.access<readwrite>
func.func private @accumulate(%a: tensor<4x4xf32>, %o: tensor<4x4xf32>) -> tensor<4x4xf32>
    attributes {plim.dispatch_function} {
  %r = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%o : tensor<4x4xf32>)
      -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
// CHECK-LABEL: func.func @f(
//       CHECK: accesses = [#plim.access<readonly>, #plim.access<readwrite>]
func.func @f(%a: tensor<4x4xf32>, %o: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = plim.dispatch @accumulate ins(%a : tensor<4x4xf32>) outs(%o : tensor<4x4xf32>)
      -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

// A slice leaves the rest of its destination as it was.
// CHECK-LABEL: func.func private @part(
//  CHECK-SAME: #plim.access<readonly>
//  CHECK-SAME: #plim.access<readwrite>
func.func private @part(%a: tensor<2xf32>, %o: tensor<4xf32>) -> tensor<4xf32>
    attributes {plim.dispatch_function} {
  %r = tensor.insert_slice %a into %o[1] [2] [1] : tensor<2xf32> into tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @f(%a: tensor<2xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  %r = plim.dispatch @part ins(%a : tensor<2xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

#v = affine_map<(d0) -> (d0)>

// Asking for an extent is no read; using the output as an input is one.
// CHECK-LABEL: func.func private @extent(
//  CHECK-SAME: #plim.access<writeonly>
func.func private @extent(%o: tensor<?xindex>) -> tensor<?xindex>
    attributes {plim.dispatch_function} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %o, %c0 : tensor<?xindex>
  %r = linalg.fill ins(%n : index) outs(%o : tensor<?xindex>) -> tensor<?xindex>
  return %r : tensor<?xindex>
}
// CHECK-LABEL: func.func private @both(
//  CHECK-SAME: #plim.access<readwrite>
func.func private @both(%o: tensor<4xf32>) -> tensor<4xf32> attributes {plim.dispatch_function} {
  %r = linalg.exp ins(%o : tensor<4xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
// CHECK-LABEL: func.func private @captured(
//  CHECK-SAME: #plim.access<readwrite>
func.func private @captured(%o: tensor<4xf32>) -> tensor<4xf32>
    attributes {plim.dispatch_function} {
  %r = linalg.generic {indexing_maps = [#v], iterator_types = ["parallel"]}
      outs(%o : tensor<4xf32>) {
  ^bb0(%old: f32):
    %c0 = arith.constant 0 : index
    %x = tensor.extract %o[%c0] : tensor<4xf32>
    linalg.yield %x : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
// CHECK-LABEL: func.func private @untouched(
//  CHECK-SAME: #plim.access<readwrite>
func.func private @untouched(%o: tensor<4xf32>) -> tensor<4xf32>
    attributes {plim.dispatch_function} {
  return %o : tensor<4xf32>
}
func.func @f(%n: tensor<?xindex>, %o: tensor<4xf32>) -> (tensor<?xindex>, tensor<4xf32>) {
  %m = plim.dispatch @extent outs(%n : tensor<?xindex>) -> tensor<?xindex>
  %p = plim.dispatch @both outs(%o : tensor<4xf32>) -> tensor<4xf32>
  %q = plim.dispatch @captured outs(%p : tensor<4xf32>) -> tensor<4xf32>
  %r = plim.dispatch @untouched outs(%q : tensor<4xf32>) -> tensor<4xf32>
  return %m, %r : tensor<?xindex>, tensor<4xf32>
}

// -----

#v = affine_map<(d0) -> (d0)>

// Each output has its own access.
// CHECK-LABEL: func.func private @two(
//  CHECK-SAME: tensor<4xf32> {plim.access = #plim.access<writeonly>}
//  CHECK-SAME: tensor<4xf64> {plim.access = #plim.access<readwrite>}
func.func private @two(%a: tensor<4xf32>, %o: tensor<4xf32>, %p: tensor<4xf64>)
    -> (tensor<4xf32>, tensor<4xf64>) attributes {plim.dispatch_function} {
  %r:2 = linalg.generic {indexing_maps = [#v, #v, #v], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf32>) outs(%o, %p : tensor<4xf32>, tensor<4xf64>) {
  ^bb0(%x: f32, %old: f32, %sum: f64):
    %w = arith.extf %x : f32 to f64
    %s = arith.addf %w, %sum : f64
    linalg.yield %x, %s : f32, f64
  } -> (tensor<4xf32>, tensor<4xf64>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf64>
}
func.func @f(%a: tensor<4xf32>, %o: tensor<4xf32>, %p: tensor<4xf64>)
    -> (tensor<4xf32>, tensor<4xf64>) {
  %r:2 = plim.dispatch @two ins(%a : tensor<4xf32>) outs(%o, %p : tensor<4xf32>, tensor<4xf64>)
      -> tensor<4xf32>, tensor<4xf64>
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf64>
}

// -----

// Arguments of other functions: through views, loops, branches and calls.
// CHECK-LABEL: func.func @arguments(
//  CHECK-SAME: %{{[^:]*}}: memref<?xf32> {plim.access = #plim.access<readonly>},
//  CHECK-SAME: %{{[^:]*}}: memref<8xf32> {plim.access = #plim.access<writeonly>},
//  CHECK-SAME: %{{[^:]*}}: memref<4xf32> {plim.access = #plim.access<readwrite>},
//  CHECK-SAME: %{{[^:]*}}: memref<4xf32> {plim.access = #plim.access<readonly>}, %{{[^:]*}}: i1)
func.func @arguments(%in: memref<?xf32>, %out: memref<8xf32>, %sum: memref<4xf32>,
                     %unused: memref<4xf32>, %c: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %in, %c0 : memref<?xf32>
  %half = memref.subview %out[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  %dense = memref.cast %half : memref<4xf32, strided<[1], offset: 4>> to memref<4xf32, strided<[1], offset: ?>>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%m = %sum) -> memref<4xf32> {
    %x = memref.load %in[%i] : memref<?xf32>
    memref.store %x, %dense[%i] : memref<4xf32, strided<[1], offset: ?>>
    func.call @accumulate(%m, %x) : (memref<4xf32>, f32) -> ()
    scf.yield %m : memref<4xf32>
  }
  return
}
// CHECK-LABEL: func.func private @accumulate(
//  CHECK-SAME: memref<4xf32> {plim.access = #plim.access<readwrite>}
func.func private @accumulate(%m: memref<4xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %old = memref.load %m[%c0] : memref<4xf32>
  %new = arith.addf %old, %x : f32
  memref.store %new, %m[%c0] : memref<4xf32>
  return
}

// -----

// Recursion: what a turn does to either argument it does to both.
// CHECK-LABEL: func.func private @swap(
//  CHECK-SAME: memref<4xf32> {plim.access = #plim.access<writeonly>}
//  CHECK-SAME: memref<4xf32> {plim.access = #plim.access<writeonly>}
func.func private @swap(%a: memref<4xf32>, %b: memref<4xf32>, %x: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %more = arith.cmpi ugt, %n, %c0 : index
  scf.if %more {
    memref.store %x, %a[%c0] : memref<4xf32>
    %less = arith.subi %n, %c1 : index
    func.call @swap(%b, %a, %x, %less) : (memref<4xf32>, memref<4xf32>, f32, index) -> ()
  }
  return
}

// -----

// Tensors read from memory, and put back there. What is declared stays.
// CHECK-LABEL: func.func @mixed(
//  CHECK-SAME: memref<4xf32> {plim.access = #plim.access<readonly>}
//  CHECK-SAME: memref<4xf32> {plim.access = #plim.access<writeonly>}
//  CHECK-SAME: memref<4xf32> {plim.access = #plim.access<readwrite>}
//  CHECK-SAME: tensor<4xf32>)
func.func @mixed(%a: memref<4xf32>, %b: memref<4xf32>,
                 %c: memref<4xf32> {plim.access = #plim.access<readwrite>},
                 %t: tensor<4xf32> {plim.access = #plim.access<readonly>}) {
  %v = bufferization.to_tensor %a restrict : memref<4xf32> to tensor<4xf32>
  bufferization.materialize_in_destination %v in restrict writable %b
      : (tensor<4xf32>, memref<4xf32>) -> ()
  return
}
