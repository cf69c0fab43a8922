// RUN: plimsoll-opt %s -plim-fill-borders -split-input-file | FileCheck %s

// Before and behind the inside, dimension by dimension, and nothing where there is no border.
// CHECK-LABEL: func.func private @image(
//  CHECK-SAME:   %[[X:.*]]: tensor<32x32x16xf32>, %[[E:.*]]: tensor<34x35x16xf32>)
//       CHECK:   %[[T:.*]] = tensor.extract_slice %[[E]][0, 0, 0] [1, 35, 16]
//       CHECK:   %[[TF:.*]] = linalg.fill {{.*}} outs(%[[T]] : tensor<1x35x16xf32>)
//       CHECK:   %[[E1:.*]] = tensor.insert_slice %[[TF]] into %[[E]][0, 0, 0] [1, 35, 16]
//       CHECK:   %[[E2:.*]] = tensor.insert_slice %{{.*}} into %[[E1]][33, 0, 0] [1, 35, 16]
//       CHECK:   %[[E3:.*]] = tensor.insert_slice %{{.*}} into %[[E2]][1, 0, 0] [32, 1, 16]
//       CHECK:   %[[E4:.*]] = tensor.insert_slice %{{.*}} into %[[E3]][1, 33, 0] [32, 2, 16]
//   CHECK-NOT:   linalg.fill
//       CHECK:   tensor.insert_slice %[[X]] into %[[E4]][1, 1, 0]
func.func private @image(%x: tensor<32x32x16xf32>, %e: tensor<34x35x16xf32>) -> tensor<34x35x16xf32> attributes {plim.dispatch_function} {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<34x35x16xf32>) -> tensor<34x35x16xf32>
  %p = tensor.insert_slice %x into %f[1, 1, 0] [32, 32, 16] [1, 1, 1] : tensor<32x32x16xf32> into tensor<34x35x16xf32>
  return %p : tensor<34x35x16xf32>
}

// -----

// Rows that only a call knows, of which the first may be missing.
// CHECK-LABEL: func.func private @open(
//  CHECK-SAME:   %[[X:.*]]: tensor<?x64xf32>, %[[E:.*]]: tensor<?x66xf32>, %[[N:.*]]: index)
//   CHECK-DAG:   %[[ALL:.*]] = tensor.dim %[[E]]
//       CHECK:   tensor.extract_slice %[[E]][0, 0] [%[[N]], 66] [1, 1]
//       CHECK:   tensor.insert_slice %{{.*}} into %[[E]][0, 0] [%[[N]], 66]
//       CHECK:   tensor.insert_slice %{{.*}} into %{{.*}}[%{{.*}}, 0] [%{{.*}}, 66]
//       CHECK:   tensor.insert_slice %{{.*}} into %{{.*}}[%[[N]], 0] [%{{.*}}, 1]
//       CHECK:   %[[ROUND:.*]] = tensor.insert_slice %{{.*}} into %{{.*}}[%[[N]], 65] [%{{.*}}, 1]
//       CHECK:   tensor.insert_slice %[[X]] into %[[ROUND]][%[[N]], 1]
func.func private @open(%x: tensor<?x64xf32>, %e: tensor<?x66xf32>, %n: index) -> tensor<?x66xf32> attributes {plim.dispatch_function} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x66xf32>) -> tensor<?x66xf32>
  %p = tensor.insert_slice %x into %f[%n, 1] [%rows, 64] [1, 1] : tensor<?x64xf32> into tensor<?x66xf32>
  return %p : tensor<?x66xf32>
}

// -----

// Short rows with a border of their own, and what is border for the most part: as a whole.
// CHECK-LABEL: func.func private @small(
//       CHECK:   linalg.fill {{.*}} outs(%{{.*}} : tensor<9x9xf32>)
//       CHECK:   linalg.fill {{.*}} outs(%{{.*}} : tensor<64x64xf32>)
func.func private @small(%x: tensor<7x7xf32>, %e: tensor<9x9xf32>, %y: tensor<31x64xf32>, %g: tensor<64x64xf32>)
    -> (tensor<9x9xf32>, tensor<64x64xf32>) attributes {plim.dispatch_function} {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<9x9xf32>) -> tensor<9x9xf32>
  %p = tensor.insert_slice %x into %f[1, 1] [7, 7] [1, 1] : tensor<7x7xf32> into tensor<9x9xf32>
  %h = linalg.fill ins(%zero : f32) outs(%g : tensor<64x64xf32>) -> tensor<64x64xf32>
  %q = tensor.insert_slice %y into %h[16, 0] [31, 64] [1, 1] : tensor<31x64xf32> into tensor<64x64xf32>
  return %p, %q : tensor<9x9xf32>, tensor<64x64xf32>
}
