// RUN: plimsoll-opt %s -plim-separate-destinations | FileCheck %s

// The last 64 uses keep it. The two before get one of their own, in front of the loop that the first of them is in.
// CHECK-LABEL: func.func @chain(
//       CHECK:   %[[LAST:.*]] = tensor.empty() : tensor<8xf32>
//       CHECK:   %[[OWN:.*]] = tensor.empty() : tensor<8xf32>
//  CHECK-NEXT:   scf.for
//       CHECK:     linalg.exp {{.*}} outs(%[[OWN]] :
//       CHECK:   linalg.abs {{.*}} outs(%[[OWN]] :
// CHECK-COUNT-64: linalg.exp {{.*}} outs(%[[LAST]] :
//       CHECK:   return
func.func @chain(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<8xf32>
  %l = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> tensor<8xf32> {
    %a = linalg.exp ins(%t : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %a : tensor<8xf32>
  }
  %v0 = linalg.abs ins(%l : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v1 = linalg.exp ins(%v0 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v2 = linalg.exp ins(%v1 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v3 = linalg.exp ins(%v2 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v4 = linalg.exp ins(%v3 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v5 = linalg.exp ins(%v4 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v6 = linalg.exp ins(%v5 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v7 = linalg.exp ins(%v6 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v8 = linalg.exp ins(%v7 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v9 = linalg.exp ins(%v8 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v10 = linalg.exp ins(%v9 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v11 = linalg.exp ins(%v10 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v12 = linalg.exp ins(%v11 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v13 = linalg.exp ins(%v12 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v14 = linalg.exp ins(%v13 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v15 = linalg.exp ins(%v14 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v16 = linalg.exp ins(%v15 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v17 = linalg.exp ins(%v16 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v18 = linalg.exp ins(%v17 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v19 = linalg.exp ins(%v18 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v20 = linalg.exp ins(%v19 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v21 = linalg.exp ins(%v20 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v22 = linalg.exp ins(%v21 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v23 = linalg.exp ins(%v22 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v24 = linalg.exp ins(%v23 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v25 = linalg.exp ins(%v24 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v26 = linalg.exp ins(%v25 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v27 = linalg.exp ins(%v26 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v28 = linalg.exp ins(%v27 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v29 = linalg.exp ins(%v28 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v30 = linalg.exp ins(%v29 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v31 = linalg.exp ins(%v30 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v32 = linalg.exp ins(%v31 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v33 = linalg.exp ins(%v32 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v34 = linalg.exp ins(%v33 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v35 = linalg.exp ins(%v34 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v36 = linalg.exp ins(%v35 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v37 = linalg.exp ins(%v36 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v38 = linalg.exp ins(%v37 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v39 = linalg.exp ins(%v38 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v40 = linalg.exp ins(%v39 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v41 = linalg.exp ins(%v40 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v42 = linalg.exp ins(%v41 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v43 = linalg.exp ins(%v42 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v44 = linalg.exp ins(%v43 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v45 = linalg.exp ins(%v44 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v46 = linalg.exp ins(%v45 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v47 = linalg.exp ins(%v46 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v48 = linalg.exp ins(%v47 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v49 = linalg.exp ins(%v48 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v50 = linalg.exp ins(%v49 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v51 = linalg.exp ins(%v50 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v52 = linalg.exp ins(%v51 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v53 = linalg.exp ins(%v52 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v54 = linalg.exp ins(%v53 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v55 = linalg.exp ins(%v54 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v56 = linalg.exp ins(%v55 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v57 = linalg.exp ins(%v56 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v58 = linalg.exp ins(%v57 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v59 = linalg.exp ins(%v58 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v60 = linalg.exp ins(%v59 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v61 = linalg.exp ins(%v60 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v62 = linalg.exp ins(%v61 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v63 = linalg.exp ins(%v62 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v64 = linalg.exp ins(%v63 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %v64 : tensor<8xf32>
}

// CHECK-LABEL: func.func @few(
//       CHECK:   tensor.empty()
//   CHECK-NOT:   tensor.empty()
//       CHECK:   return
func.func @few(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %v0 = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v1 = linalg.exp ins(%v0 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v2 = linalg.exp ins(%v1 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v3 = linalg.exp ins(%v2 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v4 = linalg.exp ins(%v3 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v5 = linalg.exp ins(%v4 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v6 = linalg.exp ins(%v5 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v7 = linalg.exp ins(%v6 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v8 = linalg.exp ins(%v7 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v9 = linalg.exp ins(%v8 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v10 = linalg.exp ins(%v9 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v11 = linalg.exp ins(%v10 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v12 = linalg.exp ins(%v11 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v13 = linalg.exp ins(%v12 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v14 = linalg.exp ins(%v13 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v15 = linalg.exp ins(%v14 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v16 = linalg.exp ins(%v15 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v17 = linalg.exp ins(%v16 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v18 = linalg.exp ins(%v17 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v19 = linalg.exp ins(%v18 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v20 = linalg.exp ins(%v19 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v21 = linalg.exp ins(%v20 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v22 = linalg.exp ins(%v21 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v23 = linalg.exp ins(%v22 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v24 = linalg.exp ins(%v23 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v25 = linalg.exp ins(%v24 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v26 = linalg.exp ins(%v25 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v27 = linalg.exp ins(%v26 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v28 = linalg.exp ins(%v27 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v29 = linalg.exp ins(%v28 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v30 = linalg.exp ins(%v29 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v31 = linalg.exp ins(%v30 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v32 = linalg.exp ins(%v31 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v33 = linalg.exp ins(%v32 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v34 = linalg.exp ins(%v33 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v35 = linalg.exp ins(%v34 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v36 = linalg.exp ins(%v35 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v37 = linalg.exp ins(%v36 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v38 = linalg.exp ins(%v37 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v39 = linalg.exp ins(%v38 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v40 = linalg.exp ins(%v39 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v41 = linalg.exp ins(%v40 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v42 = linalg.exp ins(%v41 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v43 = linalg.exp ins(%v42 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v44 = linalg.exp ins(%v43 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v45 = linalg.exp ins(%v44 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v46 = linalg.exp ins(%v45 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v47 = linalg.exp ins(%v46 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v48 = linalg.exp ins(%v47 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v49 = linalg.exp ins(%v48 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v50 = linalg.exp ins(%v49 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v51 = linalg.exp ins(%v50 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v52 = linalg.exp ins(%v51 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v53 = linalg.exp ins(%v52 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v54 = linalg.exp ins(%v53 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v55 = linalg.exp ins(%v54 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v56 = linalg.exp ins(%v55 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v57 = linalg.exp ins(%v56 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v58 = linalg.exp ins(%v57 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v59 = linalg.exp ins(%v58 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v60 = linalg.exp ins(%v59 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v61 = linalg.exp ins(%v60 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v62 = linalg.exp ins(%v61 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v63 = linalg.exp ins(%v62 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %v63 : tensor<8xf32>
}

// Each of what a loop carries begins as one of its own; one that nothing else uses is left.
// CHECK-LABEL: func.func @carried(
//       CHECK:   %[[FIRST:.*]] = tensor.empty() : tensor<8xf32>
//  CHECK-NEXT:   %[[ALONE:.*]] = tensor.empty() : tensor<4xf32>
//  CHECK-NEXT:   %[[OWN:.*]] = tensor.empty() : tensor<8xf32>
//  CHECK-NEXT:   scf.for {{.*}} iter_args(%{{.*}} = %[[OWN]], %{{.*}} = %[[FIRST]], %{{.*}} = %[[ALONE]])
func.func @carried(%x: f32, %n: index) -> (tensor<8xf32>, tensor<8xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<8xf32>
  %alone = tensor.empty() : tensor<4xf32>
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %e, %b = %e, %c = %alone) -> (tensor<8xf32>, tensor<8xf32>, tensor<4xf32>) {
    %s = tensor.insert %x into %a[%i] : tensor<8xf32>
    %t = tensor.insert %x into %b[%i] : tensor<8xf32>
    scf.yield %s, %t, %c : tensor<8xf32>, tensor<8xf32>, tensor<4xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<8xf32>, tensor<8xf32>, tensor<4xf32>
}

// A while loop's next round begins with what came about outside, as it is or through a branch or a view: with a copy of it, since the round
// may write it. What the loop made, and what it carries, needs none.
// CHECK-LABEL: func.func @outside(
//  CHECK-SAME:   %[[X:[a-z0-9]+]]: tensor<8xf32>, %[[Y:[a-z0-9]+]]: tensor<8xf32>
//       CHECK:   } do {
//       CHECK:   ^bb0(%[[CARRIED:.*]]: tensor<8xf32>):
//       CHECK:     %[[CHOICE:.*]] = scf.if
//       CHECK:     %[[MADE:.*]] = linalg.exp
//       CHECK:     %[[OWN:.*]] = scf.if
//   CHECK-DAG:     %[[A:.*]] = bufferization.alloc_tensor() copy(%[[X]])
//   CHECK-DAG:     %[[B:.*]] = bufferization.alloc_tensor() copy(%[[CHOICE]])
//       CHECK:     scf.yield %[[A]], %[[B]], %[[MADE]], %[[OWN]]
func.func @outside(%x: tensor<8xf32>, %y: tensor<8xf32>, %c: i1) -> tensor<8xf32> {
  %r = scf.while (%a = %x, %b = %x, %d = %y, %e = %y) : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> {
    %s = linalg.add ins(%a, %b : tensor<8xf32>, tensor<8xf32>) outs(%a : tensor<8xf32>) -> tensor<8xf32>
    scf.condition(%c) %s : tensor<8xf32>
  } do {
  ^bb0(%carried: tensor<8xf32>):
    %choice = scf.if %c -> tensor<8xf32> {
      scf.yield %carried : tensor<8xf32>
    } else {
      scf.yield %y : tensor<8xf32>
    }
    %made = linalg.exp ins(%y : tensor<8xf32>) outs(%y : tensor<8xf32>) -> tensor<8xf32>
    %own = scf.if %c -> tensor<8xf32> {
      %fresh = tensor.empty() : tensor<8xf32>
      %also = linalg.exp ins(%y : tensor<8xf32>) outs(%fresh : tensor<8xf32>) -> tensor<8xf32>
      scf.yield %also : tensor<8xf32>
    } else {
      scf.yield %carried : tensor<8xf32>
    }
    scf.yield %x, %choice, %made, %own : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
