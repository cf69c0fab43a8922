// RUN: plimsoll-opt %s -plim-lower-checks -split-input-file | FileCheck %s

// One flag for each message, gathered in the loop and looked at before the function returns.
// CHECK-LABEL: func.func @flags(
//  CHECK-SAME: %[[N:.*]]: index, %[[A:.*]]: i1, %[[B:.*]]: i1)
//   CHECK-DAG: %[[FIRST:.*]] = plim.alloc() {{.*}}scope = "global.stack"} : memref<i8>
//   CHECK-DAG: %[[SECOND:.*]] = plim.alloc() {{.*}}scope = "global.stack"} : memref<i8>
//   CHECK-DAG: memref.store %{{.*}}, %[[FIRST]][]
//   CHECK-DAG: memref.store %{{.*}}, %[[SECOND]][]
//       CHECK: scf.for
//       CHECK:   %[[NOT:.*]] = arith.xori %[[A]]
//       CHECK:   %[[BAD:.*]] = arith.extui %[[NOT]] : i1 to i8
//       CHECK:   %[[OLD:.*]] = memref.load %[[FLAG:.*]][]
//       CHECK:   %[[NEW:.*]] = arith.ori %[[OLD]], %[[BAD]]
//       CHECK:   memref.store %[[NEW]], %[[FLAG]][]
//       CHECK:   scf.if %[[A]]
//       CHECK: }
//       CHECK: %[[VALUE:.*]] = memref.load %[[FLAG]][]
//       CHECK: %[[FINE:.*]] = arith.cmpi eq, %[[VALUE]]
//       CHECK: cf.assert %[[FINE]], "one"
//       CHECK: cf.assert %{{.*}}, "two"
//   CHECK-NOT: cf.assert
//       CHECK: return
func.func @flags(%n: index, %a: i1, %b: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %ok = plim.check %a, "one"
    scf.if %ok {
      %again = plim.check %b, "one"
      %other = plim.check %b, "two"
      scf.if %other {
        func.call @use(%again) : (i1) -> ()
      }
    }
  }
  return
}
func.func private @use(i1)

// -----

// CHECK-LABEL: func.func @none(
//  CHECK-NEXT: return
func.func @none() {
  return
}
