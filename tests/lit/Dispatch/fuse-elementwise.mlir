// RUN: plimsoll-opt %s -plim-fuse-elementwise -cse -split-input-file | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// A chain becomes one op; the buffers between its ops are gone.
// CHECK-LABEL: func.func @chain(
//  CHECK-SAME: %[[A:.*]]: tensor<?xf32>, %{{.*}}: tensor<?xf32>)
//       CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[A]] : tensor<?xf32>) outs(%{{.*}} : tensor<?xf32>)
//       CHECK: %[[E:.*]] = math.exp
//       CHECK: %[[N:.*]] = arith.negf %[[E]]
//       CHECK: %[[S:.*]] = arith.addf %[[N]], %[[N]]
//       CHECK: linalg.yield %[[S]]
//   CHECK-NOT: linalg.generic
//       CHECK: return %[[R]]
func.func @chain(%a: tensor<?xf32>, %c: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<?xf32>) outs(%c : tensor<?xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = math.exp %x : f32
    linalg.yield %y : f32
  } -> tensor<?xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%0 : tensor<?xf32>) outs(%c : tensor<?xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.negf %x : f32
    linalg.yield %y : f32
  } -> tensor<?xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%1 : tensor<?xf32>) outs(%c : tensor<?xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.addf %x, %x : f32
    linalg.yield %y : f32
  } -> tensor<?xf32>
  return %2 : tensor<?xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#t = affine_map<(d0, d1) -> (d1, d0)>

// A transposed read still is one read of each element. The same producer may be read twice by one
// consumer: one of the copies goes as a common subexpression.
// CHECK-LABEL: func.func @transposed(
//       CHECK: linalg.generic
//       CHECK: math.exp
//       CHECK: arith.negf
//   CHECK-NOT: linalg.generic
//       CHECK: return
func.func @transposed(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>, %c: tensor<8x4xf32>)
    -> tensor<8x4xf32> {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4x8xf32>) outs(%b : tensor<4x8xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = math.exp %x : f32
    linalg.yield %y : f32
  } -> tensor<4x8xf32>
  %1 = linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<4x8xf32>) outs(%c : tensor<8x4xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.negf %x : f32
    linalg.yield %y : f32
  } -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
// CHECK-LABEL: func.func @read_twice(
//       CHECK: linalg.generic
//       CHECK: math.exp
//   CHECK-NOT: math.exp
//   CHECK-NOT: linalg.generic
//       CHECK: return
func.func @read_twice(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4x8xf32>) outs(%b : tensor<4x8xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = math.exp %x : f32
    linalg.yield %y : f32
  } -> tensor<4x8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0, %0 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%b : tensor<4x8xf32>) {
  ^bb0(%x: f32, %y: f32, %old: f32):
    %s = arith.mulf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// Each element that a contraction reads, it reads once per column: the producer would run as often.
// What follows the contraction is not fused into it either, by this pass.
// CHECK-LABEL: func.func @contraction(
//       CHECK: %[[E:.*]] = linalg.generic
//       CHECK: math.exp
//       CHECK: %[[M:.*]] = linalg.generic {{.*}} ins(%[[E]], %{{.*}} :
//  CHECK-NEXT: ^bb0
//  CHECK-NEXT: arith.mulf
//  CHECK-NEXT: arith.addf
//  CHECK-NEXT: linalg.yield
//       CHECK: linalg.generic {{.*}} ins(%[[M]] :
//  CHECK-NEXT: ^bb0
//  CHECK-NEXT: arith.negf
//       CHECK: return
func.func @contraction(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %o: tensor<8x8xf32>)
    -> tensor<8x8xf32> {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<8x8xf32>) outs(%o : tensor<8x8xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = math.exp %x : f32
    linalg.yield %y : f32
  } -> tensor<8x8xf32>
  %1 = linalg.generic {indexing_maps = [#a, #b, #c],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%0, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%o : tensor<8x8xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.addf %s, %p : f32
    linalg.yield %q : f32
  } -> tensor<8x8xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%1 : tensor<8x8xf32>) outs(%o : tensor<8x8xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.negf %x : f32
    linalg.yield %y : f32
  } -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// -----

#v = affine_map<(d0) -> (d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>

// Through a broadcast every row would compute the producer again.
// CHECK-LABEL: func.func @broadcast(
//       CHECK: %[[E:.*]] = linalg.generic
//       CHECK: math.exp
//       CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[E]] :
//   CHECK-NOT: math.exp
//       CHECK: return
func.func @broadcast(%a: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %0 = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]}
      ins(%b : tensor<8xf32>) outs(%b : tensor<8xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = math.exp %x : f32
    linalg.yield %y : f32
  } -> tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %0 : tensor<4x8xf32>, tensor<8xf32>) outs(%a : tensor<4x8xf32>) {
  ^bb0(%x: f32, %y: f32, %old: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// A producer that reads its destination would read what the consumer writes.
// CHECK-LABEL: func.func @reads_destination(
//  CHECK-SAME: %[[A:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<8xf32>, %{{.*}}: tensor<8xf32>)
//       CHECK: %[[U:.*]] = linalg.generic {{.*}} ins(%[[A]] : tensor<8xf32>) outs(%[[B]] : tensor<8xf32>)
//       CHECK: linalg.generic {{.*}} ins(%[[U]] : tensor<8xf32>) outs(%{{.*}} : tensor<8xf32>)
//       CHECK: return
func.func @reads_destination(%a: tensor<8xf32>, %b: tensor<8xf32>, %c: tensor<8xf32>)
    -> tensor<8xf32> {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<8xf32>) outs(%b : tensor<8xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.addf %x, %old : f32
    linalg.yield %y : f32
  } -> tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%0 : tensor<8xf32>) outs(%c : tensor<8xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.negf %x : f32
    linalg.yield %y : f32
  } -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// With two users the producer would run twice.
// CHECK-LABEL: func.func @two_users(
//       CHECK: %[[E:.*]] = linalg.generic
//       CHECK: math.exp
//       CHECK: %[[N:.*]] = linalg.generic {{.*}} ins(%[[E]] :
//   CHECK-NOT: math.exp
//       CHECK: return %[[E]], %[[N]]
func.func @two_users(%a: tensor<8xf32>, %c: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<8xf32>) outs(%c : tensor<8xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = math.exp %x : f32
    linalg.yield %y : f32
  } -> tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%0 : tensor<8xf32>) outs(%c : tensor<8xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.negf %x : f32
    linalg.yield %y : f32
  } -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// What an author says of a destination stays, whether or not the op reads it.
#id = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @constrained(
//       CHECK: %[[P:.*]] = plim.alloc() {scope = "global.sram"}
//       CHECK: linalg.generic {{.*}} outs(%[[P]] : tensor<4xf32>)
//       CHECK: %[[Q:.*]] = plim.alloc() {max_bytes = 64 : i64}
//       CHECK: %[[F:.*]] = linalg.fill {{.*}} outs(%[[Q]] : tensor<4xf32>)
//       CHECK: linalg.generic {{.*}} outs(%[[F]] : tensor<4xf32>)
func.func @constrained(%a: tensor<4xf32>, %zero: f32) -> tensor<4xf32> {
  %p = plim.alloc() {scope = "global.sram"} : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf32>) outs(%p : tensor<4xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = math.exp %x : f32
    linalg.yield %y : f32
  } -> tensor<4xf32>
  %q = plim.alloc() {max_bytes = 64 : i64} : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%q : tensor<4xf32>) -> tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%0 : tensor<4xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.negf %x : f32
    linalg.yield %y : f32
  } -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// An annotated op stays what it is.
// CHECK-LABEL: func.func @devices(
//       CHECK: linalg.exp {plim.device = "npu"}
//       CHECK: linalg.generic
//   CHECK-NOT: = linalg
//       CHECK: return
func.func @devices(%x: tensor<?xf32>, %e: tensor<?xf32>) -> tensor<?xf32> {
  %a = linalg.exp {plim.device = "npu"} ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%v: f32, %o: f32):
    %n = arith.negf %v : f32
    linalg.yield %n : f32
  } -> tensor<?xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%b : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%v: f32, %o: f32):
    %n = math.absf %v : f32
    linalg.yield %n : f32
  } -> tensor<?xf32>
  return %c : tensor<?xf32>
}

// -----

// What each turn of a loop needs is computed once, in front of it; what a branch needs, in the branch.
// CHECK-LABEL: func.func @turns(
//       CHECK: math.exp
//       CHECK: scf.for
//   CHECK-NOT:   math.exp
//       CHECK:   arith.addf
//       CHECK: scf.if
//       CHECK:   math.absf
//       CHECK:   arith.negf
#id = affine_map<(i) -> (i)>
func.func @turns(%x: tensor<9xf32>, %y: tensor<9xf32>, %n: index, %c: i1) -> (tensor<9xf32>, tensor<9xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<9xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<9xf32>) outs(%e : tensor<9xf32>) {
  ^bb0(%v: f32, %o: f32):
    %w = math.exp %v : f32
    linalg.yield %w : f32
  } -> tensor<9xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %y) -> (tensor<9xf32>) {
    %t = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%a, %s : tensor<9xf32>, tensor<9xf32>) outs(%e : tensor<9xf32>) {
    ^bb0(%v: f32, %u: f32, %o: f32):
      %w = arith.addf %v, %u : f32
      linalg.yield %w : f32
    } -> tensor<9xf32>
    scf.yield %t : tensor<9xf32>
  }
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<9xf32>) outs(%e : tensor<9xf32>) {
  ^bb0(%v: f32, %o: f32):
    %w = math.absf %v : f32
    linalg.yield %w : f32
  } -> tensor<9xf32>
  %q = scf.if %c -> (tensor<9xf32>) {
    %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%b : tensor<9xf32>) outs(%e : tensor<9xf32>) {
    ^bb0(%v: f32, %o: f32):
      %w = arith.negf %v : f32
      linalg.yield %w : f32
    } -> tensor<9xf32>
    scf.yield %t : tensor<9xf32>
  } else {
    scf.yield %y : tensor<9xf32>
  }
  return %r, %q : tensor<9xf32>, tensor<9xf32>
}
