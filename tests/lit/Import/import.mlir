// RUN: plimsoll-opt %s -plim-import | FileCheck %s

// Aggregates fall apart into generic ops.
// CHECK-LABEL: func.func @softmax(
//   CHECK-NOT: linalg.softmax
// CHECK-COUNT-4: linalg.generic
//   CHECK-NOT: linalg.softmax
//       CHECK: return
func.func @softmax(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %e = tensor.empty() : tensor<2x3xf32>
  %r = linalg.softmax dimension(1) ins(%a : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>)
      -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// A splat is a fill of an empty tensor, also of dynamic size.
// CHECK-LABEL: func.func @splat(
//  CHECK-SAME: %[[X:.*]]: f32, %[[N:.*]]: index)
//       CHECK: %[[E:.*]] = tensor.empty(%[[N]]) : tensor<?xf32>
//       CHECK: %[[F:.*]] = linalg.fill ins(%[[X]] : f32) outs(%[[E]] : tensor<?xf32>)
//       CHECK: return %[[F]]
func.func @splat(%x: f32, %n: index) -> tensor<?xf32> {
  %p = tensor.splat %x[%n] : tensor<?xf32>
  return %p : tensor<?xf32>
}

// CHECK-LABEL: func.func @pad(
//  CHECK-SAME: %[[X:.*]]: f32, %[[A:.*]]: tensor<4xf32>
//   CHECK-NOT: tensor.pad
//       CHECK: %[[F:.*]] = linalg.fill ins(%[[X]] : f32)
//       CHECK: tensor.insert_slice %[[A]] into %[[F]][1] [4] [1]
func.func @pad(%x: f32, %a: tensor<4xf32>) -> tensor<7xf32> {
  %p = tensor.pad %a low[1] high[2] {
  ^bb0(%i: index):
    tensor.yield %x : f32
  } : tensor<4xf32> to tensor<7xf32>
  return %p : tensor<7xf32>
}

// CHECK-LABEL: func.func @generate(
//   CHECK-NOT: tensor.generate
//       CHECK: linalg.generic
//       CHECK: linalg.index 0
func.func @generate(%n: index) -> tensor<?xindex> {
  %p = tensor.generate %n {
  ^bb0(%i: index):
    tensor.yield %i : index
  } : tensor<?xindex>
  return %p : tensor<?xindex>
}

// CHECK-LABEL: func.func @concat(
//  CHECK-SAME: %[[A:.*]]: tensor<4xf32> {{.*}}, %[[B:.*]]: tensor<3xf32>
//   CHECK-NOT: tensor.concat
//       CHECK: %[[FIRST:.*]] = tensor.insert_slice %[[A]] into %{{.*}}[0] [4] [1]
//       CHECK: tensor.insert_slice %[[B]] into %[[FIRST]][4] [3] [1]
func.func @concat(%a: tensor<4xf32>, %b: tensor<3xf32>) -> tensor<7xf32> {
  %p = tensor.concat dim(0) %a, %b : (tensor<4xf32>, tensor<3xf32>) -> tensor<7xf32>
  return %p : tensor<7xf32>
}

// Named ops become generic; fills stay.
// CHECK-LABEL: func.func @named(
//       CHECK: linalg.fill
//   CHECK-NOT: linalg.matmul
//       CHECK: linalg.generic
//  CHECK-SAME: iterator_types = ["parallel", "parallel", "reduction"]
func.func @named(%x: f32, %a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %f = linalg.fill ins(%x : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %p = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>)
                     outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %p : tensor<4x4xf32>
}

// Annotations of the author stay on what the op became.
// CHECK-LABEL: func.func @annotated(
//       CHECK: linalg.generic
//  CHECK-SAME: attrs = {{.*}}plim.device = "npu"
func.func @annotated(%a: tensor<4x4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %p = linalg.matmul {plim.device = "npu"} ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>)
                                           outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %p : tensor<4x4xf32>
}

// On buffers nothing is touched: these are kernels of the author.
// CHECK-LABEL: func.func @named_on_buffers(
//  CHECK-SAME: attributes {plim.kernel}
//       CHECK: linalg.matmul
func.func @named_on_buffers(%a: memref<4x4xf32>, %c: memref<4x4xf32>) {
  linalg.matmul ins(%a, %a : memref<4x4xf32>, memref<4x4xf32>) outs(%c : memref<4x4xf32>)
  return
}

// Without tensors, with at most one scalar result: a kernel.
// CHECK-LABEL: func.func @kernel(
//  CHECK-SAME: -> f32 attributes {plim.kernel}
func.func @kernel(%a: memref<?xf32>, %s: f32) -> f32 {
  return %s : f32
}

// One that another function calls keeps the signature that the call was written for.
// CHECK-LABEL: func.func @called(
//   CHECK-NOT: plim.kernel
//       CHECK: return
func.func @called(%a: memref<?xf32>, %s: f32) -> f32 {
  return %s : f32
}

// CHECK-LABEL: func.func @two_results(
//   CHECK-NOT: plim.kernel
//       CHECK: return
func.func @two_results(%s: f32) -> (f32, f32) {
  return %s, %s : f32, f32
}

// CHECK-LABEL: func.func @buffer_result(
//   CHECK-NOT: plim.kernel
//       CHECK: return
func.func @buffer_result(%a: memref<4xf32>) -> memref<4xf32> {
  return %a : memref<4xf32>
}

// CHECK-LABEL: func.func @calls(
//   CHECK-NOT: plim.kernel
//       CHECK: return
func.func @calls(%a: memref<?xf32>, %s: f32) -> f32 {
  %r = call @called(%a, %s) : (memref<?xf32>, f32) -> f32
  return %r : f32
}

// The caller's tensors are not written to; scalars and buffers carry no such mark.
// CHECK-LABEL: func.func @arguments(
//  CHECK-SAME: tensor<4xf32> {bufferization.writable = false}, %{{[^:]*}}: f32, %{{[^:]*}}: memref<4xf32>)
func.func @arguments(%t: tensor<4xf32>, %s: f32, %m: memref<4xf32>) -> tensor<4xf32> {
  return %t : tensor<4xf32>
}

// Types that no caller sees are nobody's business.
// CHECK-LABEL: func.func private @inside(
func.func private @inside(%a: memref<4x?xi5>, %b: i7, %c: memref<4xf32, 3>) {
  return
}

ml_program.global private @const(dense<[1.0, 2.0]> : tensor<2xf32>) : tensor<2xf32>
ml_program.global private mutable @var(dense<0.0> : tensor<2xf32>) : tensor<2xf32>
ml_program.global private mutable @raw : tensor<2xi8>
ml_program.global private @param(#ml_program.extern<tensor<2xf32>>) : tensor<2xf32>

// CHECK-NOT: ml_program
// CHECK-NOT: @const
// CHECK-DAG: memref.global "private" @var : memref<2xf32> = dense<0.000000e+00>
// CHECK-DAG: memref.global "private" @raw : memref<2xi8> = uninitialized
// CHECK-DAG: memref.global "private" constant @param : memref<2xf32>{{$}}

// A load of a constant is the constant.
// CHECK-LABEL: func.func @load_constant(
//       CHECK: %[[C:.*]] = arith.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
//       CHECK: return %[[C]]
func.func @load_constant() -> tensor<2xf32> {
  %c = ml_program.global_load_const @const : tensor<2xf32>
  return %c : tensor<2xf32>
}

// What was loaded stays when the global is stored to.
// CHECK-LABEL: func.func @load_and_store(
//  CHECK-SAME: %[[X:.*]]: tensor<2xf32>
//       CHECK: %[[FROM:.*]] = memref.get_global @var
//       CHECK: %[[OLD:.*]] = bufferization.to_tensor %[[FROM]] restrict
//       CHECK: %[[COPY:.*]] = bufferization.alloc_tensor() copy(%[[OLD]])
//       CHECK: %[[TO:.*]] = memref.get_global @var
//       CHECK: bufferization.materialize_in_destination %[[X]] in restrict writable %[[TO]]
//       CHECK: return %[[COPY]]
func.func @load_and_store(%x: tensor<2xf32>) -> tensor<2xf32> {
  %v = ml_program.global_load @var : tensor<2xf32>
  ml_program.global_store @var = %x : tensor<2xf32>
  return %v : tensor<2xf32>
}

// CHECK-LABEL: func.func @store_uninitialised(
//       CHECK: memref.get_global @raw
//       CHECK: bufferization.materialize_in_destination
func.func @store_uninitialised(%x: tensor<2xi8>) {
  ml_program.global_store @raw = %x : tensor<2xi8>
  return
}

// A parameter is read in place.
// CHECK-LABEL: func.func @load_parameter(
//       CHECK: %[[FROM:.*]] = memref.get_global @param
//       CHECK: %[[T:.*]] = bufferization.to_tensor %[[FROM]] restrict : memref
//   CHECK-NOT: alloc_tensor
//       CHECK: return %[[T]]
func.func @load_parameter() -> tensor<2xf32> {
  %p = ml_program.global_load_const @param : tensor<2xf32>
  return %p : tensor<2xf32>
}

// The largest type that is accepted: 2^46 bytes.
// CHECK-LABEL: func.func @largest(
func.func @largest(%a: tensor<70368744177664xi8>) {
  return
}

// A constant with a place of its own stays one buffer.
//       CHECK: memref.global "private" constant @pinned : memref<2xf32> = dense<3.000000e+00> {plim.scope = "global.flash"}
// CHECK-LABEL: func.func @load_pinned(
//       CHECK: memref.get_global @pinned
//   CHECK-NOT: arith.constant dense
ml_program.global private @pinned(dense<3.0> : tensor<2xf32>) : tensor<2xf32> {plim.scope = "global.flash"}
func.func @load_pinned() -> tensor<2xf32> {
  %p = ml_program.global_load_const @pinned : tensor<2xf32>
  return %p : tensor<2xf32>
}

// -----

// A donated argument may be written; the call checks that the result has its extents.
// CHECK-LABEL: func.func @donated(
//  CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?xf32> {plim.donate = 0 : i64}, %[[Y:[a-z0-9]+]]: tensor<?xf32> {bufferization.writable = false}
//   CHECK-DAG: %[[DX:.*]] = tensor.dim %[[X]]
//   CHECK-DAG: %[[DY:.*]] = tensor.dim %[[Y]]
//       CHECK: %[[FITS:.*]] = arith.cmpi eq, %[[DX]], %[[DY]]
//       CHECK: cf.assert %[[FITS]], "{{.*}}result #0 of 'donated' has other extents than argument #0, which is donated to it"
func.func @donated(%x: tensor<?xf32> {plim.donate = 0}, %y: tensor<?xf32>) -> tensor<?xf32> {
  return %y : tensor<?xf32>
}

// A load may name another global in an attribute of its own.
// CHECK-LABEL: func.func @names_two(
//       CHECK:   %[[FIRST:.*]] = arith.constant dense<[1.000000e+00, 2.000000e+00]>
//       CHECK:   return %[[FIRST]]
ml_program.global private @mentioned(dense<[3.0, 4.0]> : tensor<2xf32>) : tensor<2xf32>
ml_program.global private @loaded(dense<[1.0, 2.0]> : tensor<2xf32>) : tensor<2xf32>
func.func @names_two() -> tensor<2xf32> {
  %0 = "ml_program.global_load_const"() <{global = @loaded}> {like = @mentioned} : () -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
