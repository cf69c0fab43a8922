// RUN: plimsoll-opt %s -plim-separate-destinations | FileCheck %s

// The last use keeps it, the others get one of their own in front of them.
// CHECK-LABEL: func.func @chain(
//       CHECK:   %[[LAST:.*]] = tensor.empty() : tensor<8xf32>
//       CHECK:   %[[OWN:.*]] = tensor.empty() : tensor<8xf32>
//       CHECK:   %[[A:.*]] = linalg.exp {{.*}} outs(%[[OWN]] :
//       CHECK:   linalg.abs ins(%[[A]] {{.*}} outs(%[[LAST]] :
func.func @chain(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %a = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %b = linalg.abs ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %b : tensor<8xf32>
}

// Of one that is used once in a loop nothing changes; of others each iteration has its own.
// CHECK-LABEL: func.func @in_loops(
//       CHECK:   %[[OUTER:.*]] = tensor.empty(%{{.*}}) : tensor<?xf32>
//       CHECK:   scf.for
//   CHECK-NOT:   tensor.empty
//       CHECK:     linalg.exp {{.*}} outs(%[[OUTER]] :
//       CHECK:   %[[SHARED:.*]] = tensor.empty(%{{.*}}) : tensor<?xf32>
//       CHECK:   scf.for
//       CHECK:     %[[OWN:.*]] = tensor.empty(%{{.*}}) : tensor<?xf32>
//       CHECK:     linalg.exp {{.*}} outs(%[[OWN]] :
//       CHECK:     linalg.abs {{.*}} outs(%[[SHARED]] :
func.func @in_loops(%x: tensor<?xf32>, %n: index, %c1: index) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> tensor<?xf32> {
    %a = linalg.exp ins(%t : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %a : tensor<?xf32>
  }
  %f = tensor.empty(%c1) : tensor<?xf32>
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%t = %r) -> tensor<?xf32> {
    %a = linalg.exp ins(%t : tensor<?xf32>) outs(%f : tensor<?xf32>) -> tensor<?xf32>
    %b = linalg.abs ins(%a : tensor<?xf32>) outs(%f : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %b : tensor<?xf32>
  }
  return %r, %s : tensor<?xf32>, tensor<?xf32>
}
