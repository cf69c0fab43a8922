// RUN: plimsoll-opt %s -plim-merge-dispatches -split-input-file | FileCheck %s

#v = affine_map<(d0) -> (d0)>

// The same but for the name, where it stands in the source, and what the buffer is filled with: one
// function, whose splat is an operand now.
// CHECK-LABEL: func.func private @first(
//  CHECK-SAME: %[[A:.*]]: tensor<4xf32>, %[[S:.*]]: f32, %[[O:.*]]: tensor<4xf32>)
//       CHECK: linalg.fill ins(%[[S]] : f32) outs(%[[O]] : tensor<4xf32>)
//   CHECK-NOT: func.func private
// CHECK-LABEL: func.func @splats(
//       CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
//       CHECK: plim.dispatch @first ins(%{{.*}}, %[[ZERO]] : tensor<4xf32>, f32)
//       CHECK: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
//       CHECK: plim.dispatch @first ins(%{{.*}}, %[[ONE]] : tensor<4xf32>, f32)
//       CHECK: %[[AGAIN:.*]] = arith.constant 0.000000e+00 : f32
//       CHECK: plim.dispatch @first ins(%{{.*}}, %[[AGAIN]] : tensor<4xf32>, f32)
func.func private @first(%a: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32>
    attributes {plim.dispatch_function} {
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%o : tensor<4xf32>) -> tensor<4xf32>
  %r = linalg.add ins(%a, %a : tensor<4xf32>, tensor<4xf32>) outs(%f : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func private @second(%b: tensor<4xf32>, %p: tensor<4xf32>) -> tensor<4xf32>
    attributes {plim.dispatch_function} {
  %z = arith.constant 1.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%p : tensor<4xf32>) -> tensor<4xf32>
  %r = linalg.add ins(%b, %b : tensor<4xf32>, tensor<4xf32>) outs(%f : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func private @third(%b: tensor<4xf32>, %p: tensor<4xf32>) -> tensor<4xf32>
    attributes {plim.dispatch_function} {
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%p : tensor<4xf32>) -> tensor<4xf32>
  %r = linalg.add ins(%b, %b : tensor<4xf32>, tensor<4xf32>) outs(%f : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @splats(%a: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = plim.dispatch @first ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %1 = plim.dispatch @second ins(%0 : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %2 = plim.dispatch @third ins(%1 : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// A splat that is the same in all stays a constant.
// CHECK-LABEL: func.func private @one(
//       CHECK: %[[Z:.*]] = arith.constant 3 : i32
//       CHECK: linalg.fill ins(%[[Z]] : i32)
//   CHECK-NOT: func.func private
// CHECK-LABEL: func.func @same(
// CHECK-COUNT-2: plim.dispatch @one outs
func.func private @one(%o: tensor<4xi32>) -> tensor<4xi32> attributes {plim.dispatch_function} {
  %z = arith.constant 3 : i32
  %f = linalg.fill ins(%z : i32) outs(%o : tensor<4xi32>) -> tensor<4xi32>
  return %f : tensor<4xi32>
}
func.func private @two(%o: tensor<4xi32>) -> tensor<4xi32> attributes {plim.dispatch_function} {
  %z = arith.constant 3 : i32
  %f = linalg.fill ins(%z : i32) outs(%o : tensor<4xi32>) -> tensor<4xi32>
  return %f : tensor<4xi32>
}
func.func @same() -> (tensor<4xi32>, tensor<4xi32>) {
  %e = tensor.empty() : tensor<4xi32>
  %0 = plim.dispatch @one outs(%e : tensor<4xi32>) -> tensor<4xi32>
  %1 = plim.dispatch @two outs(%e : tensor<4xi32>) -> tensor<4xi32>
  return %0, %1 : tensor<4xi32>, tensor<4xi32>
}

// -----

// Another device, other limits, other loops, another constant that the body computes with: these are
// not the same.
// CHECK-COUNT-5: func.func private
func.func private @a(%o: tensor<4xi32>) -> tensor<4xi32> attributes {plim.dispatch_function} {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%o : tensor<4xi32>) {
  ^bb0(%x: i32):
    %c = arith.constant 1 : i32
    %y = arith.addi %x, %c : i32
    linalg.yield %y : i32
  } -> tensor<4xi32>
  return %r : tensor<4xi32>
}
func.func private @b(%o: tensor<4xi32>) -> tensor<4xi32> attributes {plim.dispatch_function} {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%o : tensor<4xi32>) {
  ^bb0(%x: i32):
    %c = arith.constant 2 : i32
    %y = arith.addi %x, %c : i32
    linalg.yield %y : i32
  } -> tensor<4xi32>
  return %r : tensor<4xi32>
}
func.func private @c(%o: tensor<4xi32>) -> tensor<4xi32>
    attributes {plim.dispatch_function, plim.limits = {max_stack_alloca_bytes = 8}} {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%o : tensor<4xi32>) {
  ^bb0(%x: i32):
    %c = arith.constant 1 : i32
    %y = arith.addi %x, %c : i32
    linalg.yield %y : i32
  } -> tensor<4xi32>
  return %r : tensor<4xi32>
}
func.func private @d(%o: tensor<4xi32>) -> tensor<4xi32>
    attributes {plim.dispatch_function, plim.parallel_loops = array<i64: 0>} {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%o : tensor<4xi32>) {
  ^bb0(%x: i32):
    %c = arith.constant 1 : i32
    %y = arith.addi %x, %c : i32
    linalg.yield %y : i32
  } -> tensor<4xi32>
  return %r : tensor<4xi32>
}
func.func private @e(%o: tensor<4xi32>) -> tensor<4xi32> attributes {plim.dispatch_function} {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%o : tensor<4xi32>) {
  ^bb0(%x: i32):
    %c = arith.constant 1 : i32
    %y = arith.addi %x, %c : i32
    linalg.yield %y : i32
  } -> tensor<4xi32>
  return %r : tensor<4xi32>
}
// CHECK-LABEL: func.func @different(
func.func @different(%x: tensor<4xi32>) -> tensor<4xi32> {
  %0 = plim.dispatch @a outs(%x : tensor<4xi32>) {plim.device = "cpu"} -> tensor<4xi32>
  %1 = plim.dispatch @b outs(%0 : tensor<4xi32>) {plim.device = "cpu"} -> tensor<4xi32>
  %2 = plim.dispatch @c outs(%1 : tensor<4xi32>) {plim.device = "cpu"} -> tensor<4xi32>
  %3 = plim.dispatch @d outs(%2 : tensor<4xi32>) {plim.device = "cpu"} -> tensor<4xi32>
  %4 = plim.dispatch @e outs(%3 : tensor<4xi32>) {plim.device = "gpu"} -> tensor<4xi32>
  return %4 : tensor<4xi32>
}

// -----

// Small tensors in which they differ are operands, too; where all agree, and where all elements are one
// value, they stay.
// CHECK-LABEL: func.func private @table(
//  CHECK-SAME:     %[[A:.*]]: tensor<2xf32>, %[[C:.*]]: tensor<2xf32>, %[[O:.*]]: tensor<2xf32>)
//       CHECK:   %[[S:.*]] = arith.constant dense<[5.000000e+00, 6.000000e+00]>
//       CHECK:   linalg.add ins(%[[A]], %[[C]] :
//       CHECK:   linalg.mul ins(%{{.*}}, %[[S]] :
//       CHECK: func.func private @uniform(
// CHECK-LABEL: func.func @tables(
//       CHECK:   %[[FIRST:.*]] = arith.constant dense<[1.000000e+00, 2.000000e+00]>
//       CHECK:   plim.dispatch @table ins(%{{.*}}, %[[FIRST]] : tensor<2xf32>, tensor<2xf32>)
//       CHECK:   %[[SECOND:.*]] = arith.constant dense<[3.000000e+00, 4.000000e+00]>
//       CHECK:   plim.dispatch @table ins(%{{.*}}, %[[SECOND]] : tensor<2xf32>, tensor<2xf32>)
//       CHECK:   plim.dispatch @uniform ins(%{{.*}} : tensor<2xf32>)
func.func private @table(%a: tensor<2xf32>, %o: tensor<2xf32>) -> tensor<2xf32>
    attributes {plim.dispatch_function} {
  %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %s = arith.constant dense<[5.0, 6.0]> : tensor<2xf32>
  %e = tensor.empty() : tensor<2xf32>
  %t = linalg.add ins(%a, %c : tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %r = linalg.mul ins(%t, %s : tensor<2xf32>, tensor<2xf32>) outs(%o : tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}
func.func private @another(%a: tensor<2xf32>, %o: tensor<2xf32>) -> tensor<2xf32>
    attributes {plim.dispatch_function} {
  %c = arith.constant dense<[3.0, 4.0]> : tensor<2xf32>
  %s = arith.constant dense<[5.0, 6.0]> : tensor<2xf32>
  %e = tensor.empty() : tensor<2xf32>
  %t = linalg.add ins(%a, %c : tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %r = linalg.mul ins(%t, %s : tensor<2xf32>, tensor<2xf32>) outs(%o : tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}
func.func private @uniform(%a: tensor<2xf32>, %o: tensor<2xf32>) -> tensor<2xf32>
    attributes {plim.dispatch_function} {
  %c = arith.constant dense<7.0> : tensor<2xf32>
  %s = arith.constant dense<[5.0, 6.0]> : tensor<2xf32>
  %e = tensor.empty() : tensor<2xf32>
  %t = linalg.add ins(%a, %c : tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %r = linalg.mul ins(%t, %s : tensor<2xf32>, tensor<2xf32>) outs(%o : tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}
func.func @tables(%a: tensor<2xf32>) -> tensor<2xf32> {
  %e = tensor.empty() : tensor<2xf32>
  %0 = plim.dispatch @table ins(%a : tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %1 = plim.dispatch @another ins(%0 : tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %2 = plim.dispatch @uniform ins(%1 : tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  return %2 : tensor<2xf32>
}
