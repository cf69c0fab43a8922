// RUN: plimsoll-opt %s -plim-attach-target=tag=x86-64-v3 -plim-outline-foralls -split-input-file | FileCheck %s

// What is shared comes last; small constants are made inside.
// CHECK-LABEL: func.func private @lines_forall(
//  CHECK-SAME:     %[[N:.*]]: index, %[[X:.*]]: tensor<?x?xf32>, %[[O:.*]]: tensor<?xf32>) -> tensor<?xf32>
//  CHECK-SAME:     plim.dispatch_function
//       CHECK:   arith.constant 2.0
//       CHECK:   %[[R:.*]] = scf.forall (%[[I:.*]]) in (%[[N]]) shared_outs(%{{.*}} = %[[O]])
//       CHECK:     tensor.extract %[[X]][%[[I]], %[[I]]]
//       CHECK:   return %[[R]]
// CHECK-LABEL: func.func @lines(
//   CHECK-NOT:   scf.forall
//       CHECK:   plim.dispatch @lines_forall ins(%{{.*}}, %{{.*}} : index, tensor<?x?xf32>) outs(%{{.*}} : tensor<?xf32>) {plim.device = "host"}
func.func @lines(%x: tensor<?x?xf32>, %n: index, %o: tensor<?xf32>) -> tensor<?xf32> {
  %two = arith.constant 2.0 : f32
  %r = scf.forall (%i) in (%n) shared_outs(%s = %o) -> (tensor<?xf32>) {
    %v = tensor.extract %x[%i, %i] : tensor<?x?xf32>
    %w = arith.mulf %v, %two : f32
    %e = tensor.from_elements %w : tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %e into %s[%i] [1] [1] : tensor<1xf32> into tensor<?xf32>
    }
  }
  return %r : tensor<?xf32>
}

// Tiles of which the last one is shorter; what an iteration reads of what it writes.
// CHECK-LABEL: func.func private @tiles_forall(
// CHECK-LABEL: func.func @tiles(
//       CHECK:   plim.dispatch @tiles_forall
func.func @tiles(%o: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %r = scf.forall (%i) = (0) to (%n) step (16) shared_outs(%s = %o) -> (tensor<?xf32>) {
    %k = affine.min affine_map<(i)[n] -> (16, n - i)>(%i)[%n]
    %a = tensor.extract_slice %s[%i] [%k] [1] : tensor<?xf32> to tensor<?xf32>
    %b = linalg.exp ins(%a : tensor<?xf32>) outs(%a : tensor<?xf32>) -> tensor<?xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %b into %s[%i] [%k] [1] : tensor<?xf32> into tensor<?xf32>
    }
  }
  return %r : tensor<?xf32>
}

// -----

// An iteration writes where the next one does, reads what another one may have written, or writes anywhere.
// CHECK-LABEL: func.func @overlap(
//   CHECK-NOT:   plim.dispatch
//       CHECK:   return
func.func @overlap(%x: tensor<2xf32>, %o: tensor<100xf32>, %p: tensor<?xindex>) -> (tensor<100xf32>, tensor<100xf32>, tensor<100xf32>) {
  %c99 = arith.constant 99 : index
  %r = scf.forall (%i) in (99) shared_outs(%s = %o) -> (tensor<100xf32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %s[%i] [2] [1] : tensor<2xf32> into tensor<100xf32>
    }
  }
  %t = scf.forall (%i) in (100) shared_outs(%s = %o) -> (tensor<100xf32>) {
    %j = arith.subi %c99, %i : index
    %e = tensor.extract_slice %s[%j] [1] [1] : tensor<100xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %e into %s[%i] [1] [1] : tensor<1xf32> into tensor<100xf32>
    }
  }
  %u = scf.forall (%i) in (50) shared_outs(%s = %o) -> (tensor<100xf32>) {
    %j = tensor.extract %p[%i] : tensor<?xindex>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %s[%j] [2] [1] : tensor<2xf32> into tensor<100xf32>
    }
  }
  return %r, %t, %u : tensor<100xf32>, tensor<100xf32>, tensor<100xf32>
}

// What is called may have effects.
// CHECK-LABEL: func.func @calls(
//   CHECK-NOT:   plim.dispatch
//       CHECK:   return
func.func private @other(%x: tensor<2xf32>) -> tensor<2xf32>
func.func @calls(%o: tensor<100xf32>) -> tensor<100xf32> {
  %r = scf.forall (%i) = (0) to (100) step (2) shared_outs(%s = %o) -> (tensor<100xf32>) {
    %a = tensor.extract_slice %s[%i] [2] [1] : tensor<100xf32> to tensor<2xf32>
    %b = func.call @other(%a) : (tensor<2xf32>) -> tensor<2xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %b into %s[%i] [2] [1] : tensor<2xf32> into tensor<100xf32>
    }
  }
  return %r : tensor<100xf32>
}
