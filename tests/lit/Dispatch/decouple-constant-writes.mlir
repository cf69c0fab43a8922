// RUN: plimsoll-opt %s -plim-decouple-constant-writes -split-input-file | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>

// Overwritten without being read: memory of any content will do.
// CHECK-LABEL: func.func @unread(
//       CHECK: %[[E:.*]] = tensor.empty() : tensor<2x2xf32>
//   CHECK-NOT: linalg.fill
//       CHECK: linalg.generic
//  CHECK-SAME: outs(%[[E]] : tensor<2x2xf32>)
func.func @unread(%a: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %c = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<2x2xf32>) outs(%c : tensor<2x2xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}

// -----

// A splat that is read becomes a fill.
// CHECK-LABEL: func.func @splat(
//       CHECK: %[[E:.*]] = tensor.empty() : tensor<4x4xf32>
//       CHECK: %[[S:.*]] = arith.constant 2.000000e+00 : f32
//       CHECK: %[[F:.*]] = linalg.fill ins(%[[S]] : f32) outs(%[[E]] : tensor<4x4xf32>)
//       CHECK: linalg.matmul
//  CHECK-SAME: outs(%[[F]] : tensor<4x4xf32>)
func.func @splat(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c = arith.constant dense<2.0> : tensor<4x4xf32>
  %r = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%c : tensor<4x4xf32>)
      -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

// Any other constant is the read-only input of a copy.
// CHECK-LABEL: func.func @elements(
//   CHECK-DAG: %[[C:.*]] = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
//   CHECK-DAG: %[[E:.*]] = tensor.empty() : tensor<3xi32>
//       CHECK: %[[COPY:.*]] = linalg.copy ins(%[[C]] : tensor<3xi32>) outs(%[[E]] : tensor<3xi32>)
//       CHECK: linalg.reduce
//  CHECK-SAME: outs(%[[COPY]] : tensor<3xi32>)
func.func @elements(%a: tensor<3x5xi32>) -> tensor<3xi32> {
  %c = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
  %r = linalg.reduce {arith.addi} ins(%a : tensor<3x5xi32>) outs(%c : tensor<3xi32>)
      dimensions = [1]
  return %r : tensor<3xi32>
}

// -----

// What is around the slice keeps the constant's values.
// CHECK-LABEL: func.func @insert_splat(
//  CHECK-SAME: %[[A:.*]]: tensor<2xi8>
//       CHECK: %[[F:.*]] = linalg.fill
//       CHECK: tensor.insert_slice %[[A]] into %[[F]][1] [2] [1]
func.func @insert_splat(%a: tensor<2xi8>) -> tensor<4xi8> {
  %c = arith.constant dense<7> : tensor<4xi8>
  %r = tensor.insert_slice %a into %c[1] [2] [1] : tensor<2xi8> into tensor<4xi8>
  return %r : tensor<4xi8>
}

// -----

// CHECK-LABEL: func.func @insert_elements(
//  CHECK-SAME: %[[A:.*]]: tensor<2xindex>
//       CHECK: %[[COPY:.*]] = linalg.copy
//       CHECK: tensor.insert_slice %[[A]] into %[[COPY]][1] [2] [1]
func.func @insert_elements(%a: tensor<2xindex>) -> tensor<4xindex> {
  %c = arith.constant dense<[1, 2, 3, 4]> : tensor<4xindex>
  %r = tensor.insert_slice %a into %c[1] [2] [1] : tensor<2xindex> into tensor<4xindex>
  return %r : tensor<4xindex>
}

// -----

// Each destination on its own merits: an elementwise op reads it as an input, or not at all.
#m = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @two(
//  CHECK-SAME: %[[A:.*]]: tensor<4xf32>
//   CHECK-DAG: %[[D:.*]] = arith.constant 1.000000e+00 : f64
//   CHECK-DAG: %[[UNREAD:.*]] = tensor.empty() : tensor<4xf32>
//   CHECK-DAG: %[[READ:.*]] = tensor.empty() : tensor<4xf64>
//       CHECK: linalg.generic
//  CHECK-SAME: ins(%[[A]], %[[D]] : tensor<4xf32>, f64) outs(%[[UNREAD]], %[[READ]] : tensor<4xf32>, tensor<4xf64>)
func.func @two(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf64>) {
  %c = arith.constant dense<0.0> : tensor<4xf32>
  %d = arith.constant dense<1.0> : tensor<4xf64>
  %r:2 = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf32>) outs(%c, %d : tensor<4xf32>, tensor<4xf64>) {
  ^bb0(%x: f32, %o: f32, %p: f64):
    %w = arith.extf %x : f32 to f64
    %s = arith.addf %w, %p : f64
    linalg.yield %x, %s : f32, f64
  } -> (tensor<4xf32>, tensor<4xf64>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf64>
}

// -----

// A constant that is only read stays where it is.
// CHECK-LABEL: func.func @input(
//  CHECK-SAME: %[[O:.*]]: tensor<4xf32>
//       CHECK: %[[C:.*]] = arith.constant dense
//   CHECK-NOT: tensor.empty
//       CHECK: linalg.exp ins(%[[C]] : tensor<4xf32>) outs(%[[O]] : tensor<4xf32>)
func.func @input(%o: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %r = linalg.exp ins(%c : tensor<4xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// What a loop starts from, and what one element is put into, are written too.
// CHECK-LABEL: func.func @carried(
//       CHECK: %[[F:.*]] = linalg.fill
//       CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[F]])
//       CHECK: %[[G:.*]] = linalg.fill
//       CHECK: scf.forall {{.*}} shared_outs(%{{.*}} = %[[G]])
//       CHECK: %[[H:.*]] = linalg.copy
//       CHECK: tensor.insert %{{.*}} into %[[H]]
func.func @carried(%n: index, %x: tensor<4xf32>, %v: f32)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %table = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %a = scf.for %i = %c0 to %n step %c1 iter_args(%y = %zero) -> tensor<4xf32> {
    %s = arith.addf %y, %x : tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  %b = scf.forall (%i) in (4) shared_outs(%o = %zero) -> tensor<4xf32> {
    %s = tensor.extract_slice %x[%i] [1] [1] : tensor<4xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
    }
  }
  %c = tensor.insert %v into %table[%n] : tensor<4xf32>
  return %a, %b, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// A resource that is the start of a reduction is read, not copied behind the dispatch's back.
// CHECK-LABEL: func.func @resource(
//       CHECK: %[[C:.*]] = arith.constant dense_resource<table> : tensor<3xi32>
//       CHECK: %[[COPY:.*]] = linalg.copy ins(%[[C]] : tensor<3xi32>)
//       CHECK: linalg.reduce {{.*}} outs(%[[COPY]] : tensor<3xi32>)
func.func @resource(%a: tensor<3x5xi32>) -> tensor<3xi32> {
  %c = arith.constant dense_resource<table> : tensor<3xi32>
  %r = linalg.reduce {arith.addi} ins(%a : tensor<3x5xi32>) outs(%c : tensor<3xi32>)
      dimensions = [1]
  return %r : tensor<3xi32>
}
{-# dialect_resources: { builtin: { table: "0x04000000010000000200000003000000" } } #-}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// What belongs to the caller is treated alike; an elementwise op reads it as an input.
// CHECK-LABEL: func.func @elementwise(
//  CHECK-SAME: %[[A:[^:]*]]: tensor<?x4xf32>, %[[B:[^:]*]]: tensor<?x4xf32> {bufferization.writable = false}
//       CHECK: %[[D:.*]] = tensor.dim %[[B]]
//       CHECK: %[[E:.*]] = tensor.empty(%[[D]]) : tensor<?x4xf32>
//       CHECK: linalg.generic
//  CHECK-SAME: ins(%[[A]], %[[B]] : tensor<?x4xf32>, tensor<?x4xf32>) outs(%[[E]] : tensor<?x4xf32>)
//       CHECK: ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32, %{{.*}}: f32):
//       CHECK: arith.addf %[[X]], %[[Y]] : f32
func.func @elementwise(%a: tensor<?x4xf32>, %b: tensor<?x4xf32> {bufferization.writable = false})
    -> tensor<?x4xf32> {
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x4xf32>) outs(%b : tensor<?x4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o : f32
    linalg.yield %s : f32
  } -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#t = affine_map<(d0, d1) -> (d1, d0)>

// Two destinations of one op, one of them transposed, one an argument and one a parameter.
// CHECK-LABEL: func.func @both(
//  CHECK-SAME: %[[A:[^:]*]]: tensor<2x3xf32> {bufferization.writable = false}
//       CHECK: %[[P:.*]] = bufferization.to_tensor
//       CHECK: linalg.generic {indexing_maps = [#[[$ID:.*]], #[[$T:.*]], #[[$ID]], #[[$T]]]
//  CHECK-SAME: ins(%[[A]], %[[P]] : tensor<2x3xf32>, tensor<3x2xf32>)
memref.global "private" constant @p : memref<3x2xf32>
func.func @both(%a: tensor<2x3xf32> {bufferization.writable = false})
    -> (tensor<2x3xf32>, tensor<3x2xf32>) {
  %g = memref.get_global @p : memref<3x2xf32>
  %p = bufferization.to_tensor %g restrict : memref<3x2xf32> to tensor<3x2xf32>
  %r:2 = linalg.generic {indexing_maps = [#id, #t], iterator_types = ["parallel", "parallel"]}
      outs(%a, %p : tensor<2x3xf32>, tensor<3x2xf32>) {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    %m = arith.mulf %x, %y : f32
    linalg.yield %s, %m : f32, f32
  } -> (tensor<2x3xf32>, tensor<3x2xf32>)
  return %r#0, %r#1 : tensor<2x3xf32>, tensor<3x2xf32>
}

// -----

// A reduction needs what it starts from in memory of its own. One that may be written is left alone.
// CHECK-LABEL: func.func @reduction(
//  CHECK-SAME: %[[A:[^:]*]]: tensor<3x5xi32>, %[[B:[^:]*]]: tensor<3xi32> {bufferization.writable = false}, %[[C:[^:]*]]: tensor<3xi32>)
//       CHECK: %[[COPY:.*]] = linalg.copy ins(%[[B]] : tensor<3xi32>)
//       CHECK: linalg.reduce {{.*}} outs(%[[COPY]] : tensor<3xi32>)
//       CHECK: linalg.reduce {{.*}} outs(%[[C]] : tensor<3xi32>)
func.func @reduction(%a: tensor<3x5xi32>, %b: tensor<3xi32> {bufferization.writable = false},
                     %c: tensor<3xi32>) -> (tensor<3xi32>, tensor<3xi32>) {
  %r = linalg.reduce {arith.addi} ins(%a : tensor<3x5xi32>) outs(%b : tensor<3xi32>)
      dimensions = [1]
  %s = linalg.reduce {arith.addi} ins(%a : tensor<3x5xi32>) outs(%c : tensor<3xi32>)
      dimensions = [1]
  return %r, %s : tensor<3xi32>, tensor<3xi32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#t = affine_map<(d0, d1) -> (d1, d0)>

// An input that is the destination too is read there, if each iteration reads what it alone writes.
// CHECK-LABEL: func.func @in_place(
//       CHECK: linalg.generic
//       CHECK: ^bb0(%[[X:.*]]: f32, %[[O:.*]]: f32):
//       CHECK: arith.mulf %[[O]], %[[X]] : f32
// CHECK-LABEL: func.func @transposed(
//       CHECK: ^bb0(%[[A:.*]]: f32, %[[X:.*]]: f32, %{{.*}}: f32):
//       CHECK: arith.mulf %[[A]], %[[X]] : f32
func.func @in_place(%acc: tensor<4x4xf32>, %x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%acc, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%acc : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
func.func @transposed(%acc: tensor<4x4xf32>, %x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = linalg.generic {indexing_maps = [#t, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%acc, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%acc : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

#m = affine_map<(i) -> (i)>

// What a loop carries is updated in place, if nothing else in the loop needs it.
// CHECK-LABEL: func.func @carried(
//       CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %[[KEPT:.*]] = %{{.*}})
//       CHECK: linalg.generic {{.*}} outs(%[[ACC]] : tensor<4xf32>)
//       CHECK: ^bb0(%[[O:.*]]: f32):
//       CHECK: arith.addf %[[O]], %[[O]]
//       CHECK: %[[E:.*]] = tensor.empty()
//       CHECK: linalg.generic {{.*}} ins(%[[KEPT]] : tensor<4xf32>) outs(%[[E]] : tensor<4xf32>)
func.func @carried(%n: index, %a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %a, %kept = %b)
      -> (tensor<4xf32>, tensor<4xf32>) {
    %e = tensor.empty() : tensor<4xf32>
    %s = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]}
        ins(%acc : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%x: f32, %o: f32):
      %y = arith.addf %x, %x : f32
      linalg.yield %y : f32
    } -> tensor<4xf32>
    %f = tensor.empty() : tensor<4xf32>
    %t = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]}
        ins(%kept : tensor<4xf32>) outs(%f : tensor<4xf32>) {
    ^bb0(%x: f32, %o: f32):
      %y = arith.mulf %x, %x : f32
      linalg.yield %y : f32
    } -> tensor<4xf32>
    %u = linalg.add ins(%t, %kept : tensor<4xf32>, tensor<4xf32>) outs(%f : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %s, %u : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A donated argument is overwritten, whatever read it before; not if something reads it behind.
// CHECK-LABEL: func.func @donated(
//  CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32> {plim.donate = 0 : i64}
//       CHECK: %[[SUM:.*]] = linalg.reduce
//       CHECK: linalg.generic {{.*}} ins(%[[SUM]] : tensor<f32>) outs(%[[X]] : tensor<4xf32>)
#id = affine_map<(i) -> (i)>
#none = affine_map<(i) -> ()>
func.func @donated(%x: tensor<4xf32> {plim.donate = 0}, %z: tensor<f32>) -> tensor<4xf32> {
  %sum = linalg.reduce {arith.addf} ins(%x : tensor<4xf32>) outs(%z : tensor<f32>) dimensions = [0]
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #none, #id], iterator_types = ["parallel"]}
      ins(%x, %sum : tensor<4xf32>, tensor<f32>) outs(%e : tensor<4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %c = arith.mulf %a, %b : f32
      linalg.yield %c : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
// CHECK-LABEL: func.func @donated_and_needed(
//       CHECK: %[[E:.*]] = tensor.empty
//       CHECK: linalg.generic {{.*}} outs(%[[E]] : tensor<4xf32>)
func.func @donated_and_needed(%x: tensor<4xf32> {plim.donate = 0}) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%a: f32, %o: f32):
      %c = arith.mulf %a, %a : f32
      linalg.yield %c : f32
  } -> tensor<4xf32>
  return %r, %x : tensor<4xf32>, tensor<4xf32>
}

// What an argument is filled through is the argument.
// CHECK-LABEL: func.func @reshaped(
//       CHECK: %[[E:.*]] = tensor.empty() : tensor<6xf32>
//       CHECK: linalg.fill ins(%{{.*}} : f32) outs(%[[E]] : tensor<6xf32>)
func.func @reshaped(%x: tensor<2x3xf32> {bufferization.writable = false}) -> tensor<6xf32> {
  %z = arith.constant 0.0 : f32
  %c = tensor.collapse_shape %x [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
  %r = linalg.fill ins(%z : f32) outs(%c : tensor<6xf32>) -> tensor<6xf32>
  return %r : tensor<6xf32>
}
