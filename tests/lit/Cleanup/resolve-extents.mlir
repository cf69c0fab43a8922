// RUN: plimsoll-opt %s -pass-pipeline="builtin.module(func.func(plim-resolve-extents))" | FileCheck %s

// Extents of results are told by those of arguments, each once.

// CHECK-LABEL: func.func @chain(
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32>
func.func @chain(%x: tensor<?x4xf32>, %n: index) -> (index, index, index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %e = tensor.empty(%n) : tensor<?x4xf32>
  // CHECK: %[[ROWS:.*]] = tensor.dim %[[X]]
  // CHECK-NOT: tensor.dim
  %a = linalg.exp ins(%x : tensor<?x4xf32>) outs(%x : tensor<?x4xf32>) -> tensor<?x4xf32>
  %b = linalg.exp ins(%a : tensor<?x4xf32>) outs(%a : tensor<?x4xf32>) -> tensor<?x4xf32>
  %c = tensor.concat dim(0) %b, %a : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %rows = tensor.dim %b, %zero : tensor<?x4xf32>
  %columns = tensor.dim %b, %one : tensor<?x4xf32>
  %sum = tensor.dim %c, %zero : tensor<?x4xf32>
  // CHECK: return %[[ROWS]], %{{.*}}, %{{.*}}
  return %rows, %columns, %sum : index, index, index
}

// An extent that an operation was given may be one that was asked for.

// CHECK-LABEL: func.func @given(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[N:.*]]: index
func.func @given(%x: tensor<?xf32>, %n: index) -> (index, index) {
  %zero = arith.constant 0 : index
  %e = tensor.empty(%n) : tensor<?xf32>
  %asked = tensor.dim %e, %zero : tensor<?xf32>
  %f = tensor.empty(%asked) : tensor<?xf32>
  %again = tensor.dim %f, %zero : tensor<?xf32>
  // CHECK: return %[[N]], %[[N]]
  return %asked, %again : index, index
}

// Also in loops; what a loop carries is asked there, and positions that only a run knows stay.

// CHECK-LABEL: func.func @loop(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[P:.*]]: index
func.func @loop(%x: tensor<?xf32>, %p: index) -> (tensor<?xf32>, index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %ten = arith.constant 10 : index
  // CHECK: scf.for {{.*}} iter_args(%[[T:.*]] = %[[X]])
  %r = scf.for %i = %zero to %ten step %one iter_args(%t = %x) -> (tensor<?xf32>) {
    // CHECK: %[[D:.*]] = tensor.dim %[[T]]
    // CHECK: tensor.empty(%[[D]])
    %a = linalg.exp ins(%t : tensor<?xf32>) outs(%t : tensor<?xf32>) -> tensor<?xf32>
    %d = tensor.dim %a, %zero : tensor<?xf32>
    %e = tensor.empty(%d) : tensor<?xf32>
    %b = linalg.exp ins(%a : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %b : tensor<?xf32>
  }
  // CHECK: %[[LAST:.*]] = tensor.dim %{{.*}}, %[[P]]
  %q = linalg.exp ins(%r : tensor<?xf32>) outs(%r : tensor<?xf32>) -> tensor<?xf32>
  %last = tensor.dim %q, %p : tensor<?xf32>
  // CHECK: return %{{.*}}, %[[LAST]]
  return %r, %last : tensor<?xf32>, index
}
