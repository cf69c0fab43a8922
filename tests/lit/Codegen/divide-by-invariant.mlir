// RUN: plimsoll-opt %s -plim-divide-by-invariant -split-input-file | FileCheck %s

#full = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>

// The divisor is the row's. Zeros and infinities keep the first quotient.
// CHECK-LABEL: func.func private @rows(
//       CHECK: ^bb0(%[[X:.*]]: f32, %[[D:.*]]: f32, %{{.*}}: f32):
//       CHECK: %[[TINY:.*]] = arith.cmpf olt, %{{.*}}, %{{.*}} : f32
//       CHECK: %[[S:.*]] = arith.select %[[TINY]], %{{.*}}, %{{.*}} : f32
//       CHECK: %[[DS:.*]] = arith.mulf %[[D]], %[[S]] : f32
//       CHECK: %[[R:.*]] = arith.divf %{{.*}}, %[[DS]] : f32
//       CHECK: %[[XS:.*]] = arith.mulf %[[X]], %[[S]] : f32
//       CHECK: %[[A:.*]] = arith.mulf %[[XS]], %[[R]] : f32
//       CHECK: %[[N:.*]] = arith.negf %[[A]] : f32
//       CHECK: %[[E:.*]] = math.fma %[[N]], %[[DS]], %[[XS]] : f32
//       CHECK: %[[Q:.*]] = math.fma %[[E]], %[[R]], %[[A]] : f32
//       CHECK: %[[Y:.*]] = arith.select %{{.*}}, %[[Q]], %[[A]] : f32
//       CHECK: linalg.yield %[[Y]] : f32
func.func private @rows(%x: tensor<?x64xf32>, %d: tensor<?xf32>, %o: tensor<?x64xf32>)
    -> tensor<?x64xf32> attributes {plim.dispatch_function} {
  %r = linalg.generic {indexing_maps = [#full, #row, #full],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %d : tensor<?x64xf32>, tensor<?xf32>) outs(%o : tensor<?x64xf32>) {
  ^bb0(%xi: f32, %di: f32, %old: f32):
    %q = arith.divf %xi, %di : f32
    linalg.yield %q : f32
  } -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}

// -----

#full = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// What the body computes from invariants is one; so is a constant, but for a power of two.
// CHECK-LABEL: func.func private @computed(
//       CHECK: %[[ROOT:.*]] = math.sqrt
//       CHECK: arith.mulf %[[ROOT]], %{{.*}} : f64
//       CHECK: math.fma
//       CHECK: math.fma
//       CHECK: math.fma
//       CHECK: math.fma
//       CHECK: arith.divf %{{.*}}, %{{.*}} : f64
//   CHECK-NOT: math.fma
//       CHECK: linalg.yield
func.func private @computed(%x: tensor<?x?xf64>, %d: tensor<?xf64>, %o: tensor<?x?xf64>)
    -> tensor<?x?xf64> attributes {plim.dispatch_function} {
  %three = arith.constant 3.0 : f64
  %eight = arith.constant 8.0 : f64
  %r = linalg.generic {indexing_maps = [#full, #row, #full],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %d : tensor<?x?xf64>, tensor<?xf64>) outs(%o : tensor<?x?xf64>) {
  ^bb0(%xi: f64, %di: f64, %old: f64):
    %root = math.sqrt %di : f64
    %a = arith.divf %xi, %root : f64
    %b = arith.divf %a, %three : f64
    %c = arith.divf %b, %eight : f64
    linalg.yield %c : f64
  } -> tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}

// -----

#full = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>

// Left: a divisor that changes along the row, an invariant quotient, half precision, what is read
// from the result, and a short row.
// CHECK-LABEL: func.func private @left(
//   CHECK-NOT: math.fma
func.func private @left(%x: tensor<8x64xf32>, %d: tensor<64xf32>, %e: tensor<8xf32>,
                        %h: tensor<8xf16>, %o: tensor<8x64xf32>, %p: tensor<8x64xf16>)
    -> (tensor<8x64xf32>, tensor<8x64xf16>) attributes {plim.dispatch_function} {
  %r:2 = linalg.generic {indexing_maps = [#full, #column, #row, #row, #full, #full],
                         iterator_types = ["parallel", "parallel"]}
      ins(%x, %d, %e, %h : tensor<8x64xf32>, tensor<64xf32>, tensor<8xf32>, tensor<8xf16>)
      outs(%o, %p : tensor<8x64xf32>, tensor<8x64xf16>) {
  ^bb0(%xi: f32, %di: f32, %ei: f32, %hi: f16, %old: f32, %half: f16):
    %a = arith.divf %xi, %di : f32
    %b = arith.divf %ei, %ei : f32
    %c = arith.divf %half, %hi : f16
    %s = arith.addf %a, %b : f32
    %q = arith.divf %s, %old : f32
    linalg.yield %q, %c : f32, f16
  } -> (tensor<8x64xf32>, tensor<8x64xf16>)
  return %r#0, %r#1 : tensor<8x64xf32>, tensor<8x64xf16>
}

// -----

#full = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// CHECK-LABEL: func.func private @short(
//   CHECK-NOT: math.fma
func.func private @short(%x: tensor<?x4xf32>, %d: tensor<?xf32>, %o: tensor<?x4xf32>)
    -> tensor<?x4xf32> attributes {plim.dispatch_function} {
  %r = linalg.generic {indexing_maps = [#full, #row, #full],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %d : tensor<?x4xf32>, tensor<?xf32>) outs(%o : tensor<?x4xf32>) {
  ^bb0(%xi: f32, %di: f32, %old: f32):
    %q = arith.divf %xi, %di : f32
    linalg.yield %q : f32
  } -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
