// RUN: plimsoll-opt %s -plim-alternate-updates -cse -canonicalize -split-input-file | FileCheck %s

#id = affine_map<(i) -> (i)>

// A step reads neighbours: pairs of steps go from one place to the other and back, and the loop has what is left.
// CHECK-LABEL: func.func @steps(
// CHECK: %[[PAIRS:.*]]:2 = scf.for %{{.*}} = %c0 to %[[MIDDLE:.*]] step %c2 iter_args(%[[A:.*]] = %arg0, %[[OTHER:.*]] = %arg0)
// CHECK: tensor.extract_slice %[[A]][0] [98] [1]
// CHECK: %[[B:.*]] = tensor.insert_slice %{{.*}} into %[[OTHER]][1] [98] [1]
// CHECK: tensor.extract_slice %[[B]][0] [98] [1]
// CHECK: %[[C:.*]] = tensor.insert_slice %{{.*}} into %[[A]][1] [98] [1]
// CHECK: scf.yield %[[C]], %[[B]]
// CHECK: scf.for %{{.*}} = %[[MIDDLE]] to %arg1 step %c1 iter_args(%[[LAST:.*]] = %[[PAIRS]]#0)
// CHECK: tensor.insert_slice %{{.*}} into %[[LAST]][1] [98] [1]
func.func @steps(%x: tensor<100xf32>, %n: index) -> tensor<100xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %t = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<100xf32> {
    %left = tensor.extract_slice %a[0] [98] [1] : tensor<100xf32> to tensor<98xf32>
    %right = tensor.extract_slice %a[2] [98] [1] : tensor<100xf32> to tensor<98xf32>
    %e = tensor.empty() : tensor<98xf32>
    %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%left, %right : tensor<98xf32>, tensor<98xf32>) outs(%e : tensor<98xf32>) {
    ^bb0(%l: f32, %m: f32, %o: f32):
      %sum = arith.addf %l, %m : f32
      linalg.yield %sum : f32
    } -> tensor<98xf32>
    %b = tensor.insert_slice %s into %a[1] [98] [1] : tensor<98xf32> into tensor<100xf32>
    scf.yield %b : tensor<100xf32>
  }
  return %r : tensor<100xf32>
}

// -----

#id = affine_map<(i) -> (i)>

// Each step writes another part, as into a cache: what is around it is not the same in two places.
// CHECK-LABEL: func.func @other_parts(
// CHECK: scf.for
// CHECK-NOT: scf.for
func.func @other_parts(%x: tensor<100xf32>, %n: index) -> tensor<100xf32> {
  %c1 = arith.constant 1 : index
  %r = scf.for %t = %c1 to %n step %c1 iter_args(%a = %x) -> tensor<100xf32> {
    %left = tensor.extract_slice %a[0] [1] [1] : tensor<100xf32> to tensor<1xf32>
    %e = tensor.empty() : tensor<1xf32>
    %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%left : tensor<1xf32>) outs(%e : tensor<1xf32>) {
    ^bb0(%l: f32, %o: f32):
      %sum = arith.addf %l, %l : f32
      linalg.yield %sum : f32
    } -> tensor<1xf32>
    %b = tensor.insert_slice %s into %a[%t] [1] [1] : tensor<1xf32> into tensor<100xf32>
    scf.yield %b : tensor<100xf32>
  }
  return %r : tensor<100xf32>
}

// -----

#id = affine_map<(i) -> (i)>

// Elements are read in their place alone, and updated there.
// CHECK-LABEL: func.func @in_place(
// CHECK: scf.for
// CHECK-NOT: scf.for
func.func @in_place(%x: tensor<100xf32>, %n: index) -> tensor<100xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %t = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<100xf32> {
    %part = tensor.extract_slice %a[1] [98] [1] : tensor<100xf32> to tensor<98xf32>
    %e = tensor.empty() : tensor<98xf32>
    %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%part : tensor<98xf32>) outs(%e : tensor<98xf32>) {
    ^bb0(%l: f32, %o: f32):
      %sum = arith.addf %l, %l : f32
      linalg.yield %sum : f32
    } -> tensor<98xf32>
    %b = tensor.insert_slice %s into %a[1] [98] [1] : tensor<98xf32> into tensor<100xf32>
    scf.yield %b : tensor<100xf32>
  }
  return %r : tensor<100xf32>
}
