// RUN: plimsoll-opt %s -plim-poll-stops -canonicalize -split-input-file | FileCheck %s

// A loop of a length that nobody knows becomes one over chunks, and what is inside stays a loop for the
// vectoriser. The end of the last chunk is that of the loop, so nothing is computed beyond it.
// CHECK-LABEL: func.func @innermost(
//  CHECK-SAME: %[[X:.*]]: memref<?xf32>, %[[N:.*]]: index)
//   CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : index
//   CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : index
//   CHECK-DAG: %[[SHIFT:.*]] = arith.constant 16 : index
//   CHECK-DAG: %[[LENGTH:.*]] = arith.constant 65536 : index
//       CHECK: %[[EMPTY:.*]] = arith.cmpi sle, %[[N]], %[[ZERO]]
//       CHECK: %[[BEFORE:.*]] = arith.subi %[[N]], %[[ONE]]
//       CHECK: %[[INDEX:.*]] = arith.select %[[EMPTY]], %[[ZERO]], %[[BEFORE]]
//       CHECK: %[[LAST:.*]] = arith.shrui %[[INDEX]], %[[SHIFT]]
//       CHECK: %[[CHUNKS:.*]] = arith.addi %[[LAST]], %[[ONE]]
//       CHECK: scf.for %[[CHUNK:.*]] = %[[ZERO]] to %[[CHUNKS]] step %[[ONE]] {
//  CHECK-NEXT:   plim.poll
//       CHECK:   %[[FIRST:.*]] = arith.muli %[[CHUNK]], %[[LENGTH]]
//       CHECK:   %[[ISLAST:.*]] = arith.cmpi eq, %[[CHUNK]], %[[LAST]]
//       CHECK:   %[[NEXT:.*]] = arith.addi %[[FIRST]], %[[LENGTH]]
//       CHECK:   %[[END:.*]] = arith.select %[[ISLAST]], %[[N]], %[[NEXT]]
//       CHECK:   scf.for %[[I:.*]] = %[[FIRST]] to %[[END]] step %[[ONE]] {
//  CHECK-NEXT:     memref.load %[[X]][%[[I]]]
func.func @innermost(%x: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %x[%i] : memref<?xf32>
    memref.store %u, %x[%i] : memref<?xf32>
  }
  return
}

// -----

// What is carried around goes through both loops.
// CHECK-LABEL: func.func @carries(
//       CHECK: %[[R:.*]] = scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}) -> (i32)
//       CHECK:   plim.poll
//       CHECK:   %[[S:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[A]]) -> (i32)
//       CHECK:   scf.yield %[[S]] : i32
//       CHECK: return %[[R]]
func.func @carries(%n: i32, %step: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %r = scf.for %i = %c0 to %n step %step iter_args(%x = %c0) -> i32 : i32 {
    %y = arith.xori %x, %i : i32
    scf.yield %y : i32
  }
  return %r : i32
}

// -----

// Loops that end soon are left alone: by their number of iterations, by a bound of it, by their type, by what a pass said of them.
// CHECK-LABEL: func.func @short(
//   CHECK-NOT: plim.poll
//       CHECK: return
func.func @short(%x: memref<?xf32>, %n: index, %b: index, %m: i8) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %f = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c64 step %c1 {
    scf.for %j = %c0 to %c64 step %c1 {
      memref.store %f, %x[%i] : memref<?xf32>
    }
  }
  %part = arith.minsi %n, %c64 : index
  scf.for %i = %c0 to %part step %c1 {
    memref.store %f, %x[%i] : memref<?xf32>
  }
  %end = arith.addi %b, %part : index
  scf.for %i = %b to %end step %c1 {
    memref.store %f, %x[%i] : memref<?xf32>
  }
  %i1 = arith.constant 1 : i8
  scf.for %i = %i1 to %m step %i1 : i8 {
    memref.store %f, %x[%c0] : memref<?xf32>
  }
  scf.for %i = %b to %n step %c1 {
    memref.store %f, %x[%i] : memref<?xf32>
  } {plim.most_iterations = 7 : i64}
  return
}

// -----

// With another step it might come back: it counts.
// CHECK-LABEL: func.func @counted(
//  CHECK-SAME: %[[N:.*]]: i8, %[[STEP:.*]]: i8)
//       CHECK: scf.for %[[CHUNK:.*]] =
//       CHECK:   plim.poll
//       CHECK:   scf.for %[[I:.*]] = %c0_i8 to %{{.*}} step %c1_i8 : i8
//       CHECK:     %[[OFFSET:.*]] = arith.muli %[[I]], %[[STEP]]
//       CHECK:     %[[VALUE:.*]] = arith.addi %{{.*}}, %[[OFFSET]]
//       CHECK:     memref.store %[[VALUE]]
func.func @counted(%x: memref<i8>, %n: i8, %step: i8) {
  %c0 = arith.constant 0 : i8
  scf.for %i = %c0 to %n step %step : i8 {
    memref.store %i, %x[] : memref<i8>
  }
  return
}

// -----

// Iterations that take long look themselves.
// CHECK-LABEL: func.func @long_body(
//       CHECK: scf.for
//  CHECK-NEXT:   plim.poll
//       CHECK:   scf.for
//   CHECK-NOT: plim.poll
//       CHECK: return
func.func @long_body(%x: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1024 = arith.constant 1024 : index
  %f = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %c1024 step %c1 {
      memref.store %f, %x[%j] : memref<?xf32>
    }
  }
  return
}

// -----

// How long the inner loops are nobody knows: the one around them looks now and then, and the one around that
// each time.
// CHECK-LABEL: func.func @nest(
//       CHECK: scf.for
//  CHECK-NEXT:   plim.poll
//       CHECK:   scf.for
//  CHECK-NEXT:     plim.poll
//       CHECK:     scf.for
//   CHECK-NOT:       plim.poll
//       CHECK:       scf.for
//  CHECK-NEXT:         plim.poll
//       CHECK:         scf.for
//  CHECK-NEXT:           memref.store
func.func @nest(%x: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      scf.for %k = %c0 to %n step %c1 {
        memref.store %f, %x[%k] : memref<?xf32>
      }
    }
  }
  return
}

// -----

// CHECK-LABEL: func.func @while(
//       CHECK: scf.while
//       CHECK: do {
//       CHECK:   plim.poll
func.func @while(%n: i64) -> i64 {
  %c1 = arith.constant 1 : i64
  %r = scf.while (%x = %n) : (i64) -> i64 {
    %goes = arith.cmpi ne, %x, %c1 : i64
    scf.condition(%goes) %x : i64
  } do {
  ^bb0(%x: i64):
    %y = arith.muli %x, %x : i64
    scf.yield %y : i64
  }
  return %r : i64
}

// -----

// The runtime hands out workgroups, and looks in between. Inside it does not.
// CHECK-LABEL: func.func private @dispatch(
//  CHECK-SAME: %[[BEGIN:[^:]*]]: index, %[[END:[^:]*]]: index)
//       CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END]]
//       CHECK:   scf.for
//  CHECK-NEXT:     plim.poll
//       CHECK:     scf.for
//   CHECK-NOT: plim.poll
//       CHECK: return
func.func private @dispatch(%x: memref<?xf32>, %n: index, %begin: index, %end: index)
    attributes {plim.dispatch_function} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %begin to %end step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %u = memref.load %x[%j] : memref<?xf32>
      memref.store %u, %x[%i] : memref<?xf32>
    }
  }
  return
}

// -----

// Rows are short enough.
// CHECK-LABEL: func.func private @rows(
//   CHECK-NOT: plim.poll
//       CHECK: return
func.func private @rows(%x: memref<?xf32>, %begin: index, %end: index)
    attributes {plim.dispatch_function} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  scf.for %i = %begin to %end step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %u = memref.load %x[%j] : memref<?xf32>
      memref.store %u, %x[%i] : memref<?xf32>
    }
  }
  return
}
