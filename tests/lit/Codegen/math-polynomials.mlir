// RUN: plimsoll-opt %s -plim-prepare-loops -split-input-file | FileCheck %s

#v = affine_map<(d0) -> (d0)>

// 1 - e^-y with y = |x| (1 + Q(|x|)). The limit lets NaN pass, the shift rounds without a conversion
// that NaN would make undefined, and only products and sums may contract.
// CHECK-LABEL: func.func private @erf(
//   CHECK-DAG: %[[LIMIT:.*]] = arith.constant 4.000000e+00 : f32
//   CHECK-DAG: %[[SHIFT:.*]] = arith.constant 0x4B40007F : f32
//   CHECK-DAG: %[[BITS:.*]] = arith.constant 23 : i32
//       CHECK: %[[A:.*]] = math.absf %[[X:.*]] : f32
//       CHECK: %[[BEYOND:.*]] = arith.cmpf olt, %[[LIMIT]], %[[A]] : f32
//       CHECK: %[[B:.*]] = arith.select %[[BEYOND]], %[[LIMIT]], %[[A]] : f32
//       CHECK: %[[QB:.*]] = arith.mulf %{{.*}}, %[[B]] fastmath<contract> : f32
//       CHECK: %[[Z:.*]] = arith.addf %{{.*}}, %[[SHIFT]] fastmath<contract> : f32
//       CHECK: %[[N:.*]] = arith.subf %[[Z]], %[[SHIFT]] fastmath<contract> : f32
//       CHECK: %[[I:.*]] = arith.bitcast %[[Z]] : f32 to i32
//       CHECK: %[[E:.*]] = arith.shli %[[I]], %[[BITS]] : i32
//       CHECK: arith.bitcast %[[E]] : i32 to f32
//   CHECK-NOT: arith.divf
//       CHECK: %[[R:.*]] = math.copysign %{{.*}}, %[[X]] : f32
//       CHECK: linalg.yield %[[R]] : f32
func.func private @erf(%o: tensor<8xf32>) -> tensor<8xf32> attributes {plim.dispatch_function} {
  %r = linalg.generic {indexing_maps = [#v], iterator_types = ["parallel"]}
      outs(%o : tensor<8xf32>) {
  ^bb0(%x: f32):
    %0 = math.erf %x : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// Of base 2 what is left of the argument is exact.
// CHECK-LABEL: func.func private @exp2(
//   CHECK-NOT: math.exp2
//       CHECK: arith.subf
//       CHECK: arith.mulf %{{.*}}, %{{.*}} fastmath<contract> : vector<4xf32>
//   CHECK-NOT: math.exp2
//       CHECK: return
func.func private @exp2(%x: vector<4xf32>) -> vector<4xf32> attributes {plim.dispatch_function} {
  %r = math.exp2 %x : vector<4xf32>
  return %r : vector<4xf32>
}

// -----

// Vectors too. A power of two in two factors where one would not do.
// CHECK-LABEL: func.func private @vectors(
//   CHECK-NOT: math.exp
//       CHECK: arith.shrui %{{.*}} : vector<4xi32>
//       CHECK: arith.shli %{{.*}} : vector<4xi32>
//       CHECK: arith.shli %{{.*}} : vector<4xi32>
//   CHECK-NOT: math.expm1
//       CHECK: math.copysign %{{.*}} : vector<4xf32>
//       CHECK: return
func.func private @vectors(%x: vector<4xf32>) -> (vector<4xf32>, vector<4xf32>)
    attributes {plim.dispatch_function} {
  %0 = math.exp %x : vector<4xf32>
  %1 = math.expm1 %x : vector<4xf32>
  return %0, %1 : vector<4xf32>, vector<4xf32>
}

// -----

// Half precision goes through f32; f64 is left to the vector library.
// CHECK-LABEL: func.func private @types(
//       CHECK: arith.extf %{{.*}} : f16 to f32
//       CHECK: arith.divf %{{.*}} : f32
//       CHECK: math.copysign %{{.*}} : f32
//       CHECK: arith.truncf %{{.*}} : f32 to f16
//       CHECK: math.tanh %{{.*}} : f64
func.func private @types(%x: f16, %y: f64) -> (f16, f64) attributes {plim.dispatch_function} {
  %0 = math.tanh %x : f16
  %1 = math.tanh %y : f64
  return %0, %1 : f16, f64
}

// -----

#v = affine_map<(d0) -> (d0)>

// Powers that are products, also of f64 and of what is computed in f32; no others.
// CHECK-LABEL: func.func private @powers(
//       CHECK: ^bb0(%[[X:.*]]: f64, %[[Y:.*]]: f16, %{{.*}}: f64):
//       CHECK: %[[SQUARE:.*]] = arith.mulf %[[X]], %[[X]] : f64
//       CHECK: %[[CUBE:.*]] = arith.mulf %[[SQUARE]], %[[X]] : f64
//       CHECK: arith.mulf %[[CUBE]], %[[CUBE]] : f64
//       CHECK: %[[FOURTH:.*]] = arith.mulf %{{.*}}, %{{.*}} : f64
//       CHECK: %[[BACK:.*]] = arith.divf %{{.*}}, %[[FOURTH]] : f64
//       CHECK: math.powf %[[BACK]], %{{.*}} : f64
//   CHECK-NOT: math.powf
//       CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
//   CHECK-NOT: math.powf
func.func private @powers(%a: tensor<8xf64>, %b: tensor<8xf16>, %o: tensor<8xf64>) -> tensor<8xf64>
    attributes {plim.dispatch_function} {
  %r = linalg.generic {indexing_maps = [#v, #v, #v], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<8xf64>, tensor<8xf16>) outs(%o : tensor<8xf64>) {
  ^bb0(%x: f64, %y: f16, %old: f64):
    %one = arith.constant 1.0 : f64
    %three = arith.constant 3.0 : f64
    %four = arith.constant 4.0 : f64
    %back = arith.constant -1.0 : f64
    %half = arith.constant 0.5 : f64
    %two = arith.constant 2.0 : f16
    %0 = math.powf %x, %three : f64
    %1 = math.powf %0, %four : f64
    %2 = math.powf %1, %back : f64
    %3 = math.powf %2, %one : f64
    %4 = math.powf %3, %half : f64
    %5 = math.powf %y, %two : f16
    %6 = arith.extf %5 : f16 to f64
    %7 = arith.addf %4, %6 : f64
    linalg.yield %7 : f64
  } -> tensor<8xf64>
  return %r : tensor<8xf64>
}

// -----

#v = affine_map<(d0) -> (d0)>

// Logarithms, and powers of any f32: those of f64 stay.
// CHECK-LABEL: func.func private @logarithms(
//   CHECK-NOT: math.log
//       CHECK: arith.shrsi %{{.*}} : i32
//   CHECK-NOT: math.log
//       CHECK: math.fma %{{.*}} : f32
//   CHECK-NOT: math.powf %{{.*}} : f32
//       CHECK: math.log2 %{{.*}} : f64
//       CHECK: math.powf %{{.*}} : f64
func.func private @logarithms(%a: tensor<8xf32>, %b: tensor<8xf64>, %o: tensor<8xf64>) -> tensor<8xf64>
    attributes {plim.dispatch_function} {
  %r = linalg.generic {indexing_maps = [#v, #v, #v], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<8xf32>, tensor<8xf64>) outs(%o : tensor<8xf64>) {
  ^bb0(%x: f32, %y: f64, %old: f64):
    %0 = math.log %x : f32
    %1 = math.log2 %0 : f32
    %2 = math.log10 %1 : f32
    %3 = math.log1p %2 : f32
    %4 = math.powf %3, %x : f32
    %5 = math.log2 %y : f64
    %6 = math.powf %5, %y : f64
    %7 = arith.extf %4 : f32 to f64
    %8 = arith.addf %6, %7 : f64
    linalg.yield %8 : f64
  } -> tensor<8xf64>
  return %r : tensor<8xf64>
}

// -----

#v = affine_map<(d0) -> (d0)>

// With AVX-512 exponentials, logarithms and powers of f32 and f64 stay, of vectors too, as functions that are no calls.
// CHECK-LABEL: func.func private @vector_functions(
//       CHECK: math.log %{{.*}} {plim.vector_function} : f32
//       CHECK: math.powf %{{.*}}, %{{.*}} {plim.vector_function} : f64
//       CHECK: arith.extf %{{.*}} : f16 to f32
//       CHECK: math.log2 %{{.*}} {plim.vector_function} : f32
//   CHECK-NOT: math.log1p
//       CHECK: math.exp %{{.*}} {plim.vector_function} : f32
//       CHECK: math.exp2 %{{.*}} {plim.vector_function} : f64
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"host" = #dlti.target_device_spec<"plim.kind" = "cpu", "plim.triple" = "x86_64-unknown-linux-gnu", "plim.vector_bits" = 512 : i64, "plim.features" = ["+avx512f", "+fma"]>>} {
  func.func private @vector_functions(%a: tensor<8xf32>, %b: tensor<8xf64>, %c: tensor<8xf16>, %o: tensor<8xf32>)
      -> (tensor<8xf32>, tensor<8xf64>, tensor<8xf16>, tensor<8xf32>) attributes {plim.dispatch_function} {
    %r:4 = linalg.generic {indexing_maps = [#v, #v, #v, #v], iterator_types = ["parallel"]}
        outs(%a, %b, %c, %o : tensor<8xf32>, tensor<8xf64>, tensor<8xf16>, tensor<8xf32>) {
    ^bb0(%x: f32, %y: f64, %z: f16, %w: f32):
      %0 = math.log %x : f32
      %1 = math.powf %y, %y : f64
      %2 = math.log2 %z : f16
      %3 = math.log1p %w : f32
      %4 = math.exp %3 : f32
      %5 = math.exp2 %1 : f64
      linalg.yield %0, %5, %2, %4 : f32, f64, f16, f32
    } -> (tensor<8xf32>, tensor<8xf64>, tensor<8xf16>, tensor<8xf32>)
    return %r#0, %r#1, %r#2, %r#3 : tensor<8xf32>, tensor<8xf64>, tensor<8xf16>, tensor<8xf32>
  }
}
