// RUN: plimsoll-opt %s -plim-define-arithmetic | FileCheck %s

// CHECK-LABEL: func.func @shifts(
//  CHECK-SAME: %[[X:.*]]: i32, %[[N:.*]]: i32)
//       CHECK: %[[L:.*]] = arith.shli %[[X]], %[[N]]
//       CHECK: %[[IN:.*]] = arith.cmpi ult, %[[N]], %{{.*}} : i32
//       CHECK: arith.select %[[IN]], %[[L]], %{{.*}} : i32
//       CHECK: %[[U:.*]] = arith.shrui %[[X]], %[[N]]
//       CHECK: arith.select %{{.*}}, %[[U]], %{{.*}} : i32
//       CHECK: %[[LEAST:.*]] = arith.minui %[[N]], %{{.*}} : i32
//       CHECK: arith.shrsi %[[X]], %[[LEAST]]
func.func @shifts(%x: i32, %n: i32) -> (i32, i32, i32) {
  %a = arith.shli %x, %n : i32
  %b = arith.shrui %x, %n : i32
  %c = arith.shrsi %x, %n : i32
  return %a, %b, %c : i32, i32, i32
}

// A constant may be short enough, in all lanes.
// CHECK-LABEL: func.func @constants(
//       CHECK: %[[A:.*]] = arith.shli
//       CHECK: %[[B:.*]] = arith.shrui
//       CHECK: %[[C:.*]] = arith.shli
//       CHECK: %[[D:.*]] = arith.select %{{.*}}, %[[C]]
//       CHECK: return %[[A]], %[[B]], %[[D]]
func.func @constants(%x: i32, %v: vector<2xi8>, %w: vector<2xi8>) -> (i32, vector<2xi8>, vector<2xi8>) {
  %c31 = arith.constant 31 : i32
  %short = arith.constant dense<[0, 7]> : vector<2xi8>
  %long = arith.constant dense<[0, 8]> : vector<2xi8>
  %a = arith.shli %x, %c31 : i32
  %b = arith.shrui %v, %short : vector<2xi8>
  %c = arith.shli %w, %long : vector<2xi8>
  return %a, %b, %c : i32, vector<2xi8>, vector<2xi8>
}

// A bit is shifted by nothing, or away.
// CHECK-LABEL: func.func @bit(
//       CHECK: arith.cmpi eq, %{{.*}}, %false
func.func @bit(%x: i1, %n: i1) -> i1 {
  %a = arith.shli %x, %n : i1
  return %a : i1
}

// Not every limit is a float: what is above the last float below it is the limit. NaN is the least number
// first, and zero in the end.
// CHECK-LABEL: func.func @signed(
//  CHECK-SAME: %[[X:.*]]: f32)
//       CHECK: %[[LOW:.*]] = arith.constant -2.14748365E+9 : f32
//       CHECK: %[[HIGH:.*]] = arith.constant 2.14748352E+9 : f32
//       CHECK: %[[ABOVE:.*]] = arith.cmpf ogt, %[[X]], %[[LOW]]
//       CHECK: %[[INSIDE:.*]] = arith.select %[[ABOVE]], %[[X]], %[[LOW]]
//       CHECK: %[[I:.*]] = arith.fptosi %[[INSIDE]]
//       CHECK: %[[MOST:.*]] = arith.constant 2147483647 : i32
//       CHECK: %[[OVER:.*]] = arith.cmpf ogt, %[[X]], %[[HIGH]]
//       CHECK: %[[J:.*]] = arith.select %[[OVER]], %[[MOST]], %[[I]]
//       CHECK: %[[NAN:.*]] = arith.cmpf uno, %[[X]], %[[X]]
//       CHECK: %[[R:.*]] = arith.select %[[NAN]], %{{.*}}, %[[J]]
//       CHECK: return %[[R]]
func.func @signed(%x: f32) -> i32 {
  %a = arith.fptosi %x : f32 to i32
  return %a : i32
}

// CHECK-LABEL: func.func @exact(
//  CHECK-SAME: %[[X:.*]]: vector<2x4xbf16>)
//       CHECK: %[[WIDE:.*]] = arith.extf %[[X]] : vector<2x4xbf16> to vector<2x4xf32>
//       CHECK: %[[LOW:.*]] = arith.constant dense<0.000000e+00>
//       CHECK: %[[HIGH:.*]] = arith.constant dense<2.550000e+02>
//       CHECK: arith.cmpf ogt, %[[WIDE]], %[[LOW]]
//       CHECK: arith.cmpf olt, %{{.*}}, %[[HIGH]]
//       CHECK: %[[R:.*]] = arith.fptoui
//       CHECK: return %[[R]]
func.func @exact(%x: vector<2x4xbf16>) -> vector<2x4xi8> {
  %a = arith.fptoui %x : vector<2x4xbf16> to vector<2x4xi8>
  return %a : vector<2x4xi8>
}

// Bounds of the source are those of the conversion where they are no further apart, in either order. A NaN is 0.
// CHECK-LABEL: func.func @clamped(
//  CHECK-SAME: %[[X:.*]]: f32)
//   CHECK-DAG: %[[LOW:.*]] = arith.constant -1.270000e+02 : f32
//   CHECK-DAG: %[[HIGH:.*]] = arith.constant 1.270000e+02 : f32
//       CHECK: %[[ABOVE:.*]] = arith.cmpf ogt, %[[X]], %{{.*}}
//       CHECK: %[[A:.*]] = arith.select %[[ABOVE]], %[[X]], %{{.*}}
//       CHECK: %[[BELOW:.*]] = arith.cmpf olt, %[[A]], %{{.*}}
//       CHECK: %[[B:.*]] = arith.select %[[BELOW]], %[[A]], %{{.*}}
//       CHECK: %[[I:.*]] = arith.fptosi %[[B]]
//       CHECK: %[[NAN:.*]] = arith.cmpf uno, %[[X]], %[[X]]
//       CHECK: %[[R:.*]] = arith.select %[[NAN]], %{{.*}}, %[[I]]
//       CHECK: return %[[R]]
func.func @clamped(%x: f32) -> i8 {
  %low = arith.constant -127.0 : f32
  %high = arith.constant 127.0 : f32
  %min = arith.minimumf %high, %x : f32
  %max = arith.maximumf %min, %low : f32
  %a = arith.fptosi %max : f32 to i8
  return %a : i8
}

// NaN would be 1; bounds that are further apart than the integer's, or that swallow NaN.
// CHECK-LABEL: func.func @otherBounds(
// CHECK-COUNT-3: arith.minimumf
//       CHECK: %[[ONE:.*]] = arith.maximumf
//       CHECK: arith.cmpf ogt, %[[ONE]]
//       CHECK: %[[TWO:.*]] = arith.maximumf
//       CHECK: arith.cmpf ogt, %[[TWO]]
//       CHECK: %[[THREE:.*]] = arith.maxnumf
//       CHECK: arith.cmpf ogt, %[[THREE]]
func.func @otherBounds(%x: f32) -> (i8, i8, i8) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %low = arith.constant -200.0 : f32
  %high = arith.constant 100.0 : f32
  %min1 = arith.minimumf %high, %x : f32
  %min2 = arith.minimumf %high, %x : f32
  %min3 = arith.minimumf %high, %x : f32
  %max1 = arith.maximumf %min1, %one : f32
  %a = arith.fptoui %max1 : f32 to i8
  %max2 = arith.maximumf %min2, %low : f32
  %b = arith.fptosi %max2 : f32 to i8
  %max3 = arith.maxnumf %min3, %zero : f32
  %c = arith.fptoui %max3 : f32 to i8
  return %a, %b, %c : i8, i8, i8
}
