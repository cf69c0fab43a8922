// The math dialect. Each function on scalars and vectors in a kernel, and on tensors of dynamic extent.
// EACH: OP X WANT
//      acos 0.5,-0.25,0.75,-1 1.0471975511965979,1.8234765819369754,0.7227342478134157,3.141592653589793
//      acosh 1,1.5,2.5,7 0,0.9624236501192069,1.566799236972411,2.6339157938496336
//      asin 0.5,-0.25,0.75,-1 0.5235987755982989,-0.25268025514207865,0.848062078981481,-1.5707963267948966
//      asinh 0.5,-0.25,0.75,-1 0.48121182505960347,-0.24746646154726346,0.6931471805599453,-0.881373587019543
//      atan 0.5,-0.25,3,-7 0.4636476090008061,-0.24497866312686414,1.2490457723982544,-1.4288992721907328
//      atanh 0.5,-0.25,0.75,0 0.5493061443340548,-0.25541281188299536,0.9729550745276566,0
//      cbrt 8,-27,0.5,0 2,-3.0000000000000004,0.7937005259840998,0
//      cos 0.5,-0.25,3,-7 0.8775825618903728,0.9689124217106447,-0.9899924966004454,0.7539022543433046
//      cosh 0.5,-0.25,0.75,-1 1.1276259652063807,1.0314130998795732,1.2946832846768448,1.5430806348152437
//      erf 0.5,-0.25,0.75,-1 0.5204998778130465,-0.2763263901682369,0.7111556336535151,-0.8427007929497149
//      erfc 0.5,-0.25,0.75,-1 0.4795001221869535,1.276326390168237,0.28884436634648486,1.842700792949715
//      exp 0.5,-0.25,3,-7 1.6487212707001282,0.7788007830714049,20.085536923187668,0.0009118819655545162
//      exp2 0.5,-0.25,3,-7 1.4142135623730951,0.8408964152537145,8,0.0078125
//      expm1 0.5,-0.25,0.75,-1 0.6487212707001282,-0.22119921692859512,1.1170000166126748,-0.6321205588285577
//      log 0.5,0.25,1.75,9 -0.6931471805599453,-1.3862943611198906,0.5596157879354227,2.1972245773362196
//      log10 0.5,0.25,1.75,9 -0.3010299956639812,-0.6020599913279624,0.24303804868629442,0.9542425094393249
//      log1p 0.5,0.25,1.75,9 0.4054651081081644,0.22314355131420976,1.0116009116784799,2.302585092994046
//      log2 0.5,0.25,1.75,9 -1,-2,0.8073549220576041,3.169925001442312
//      rsqrt 0.5,0.25,1.75,9 1.414213562373095,2,0.7559289460184544,0.3333333333333333
//      sin 0.5,-0.25,3,-7 0.479425538604203,-0.24740395925452294,0.1411200080598672,-0.6569865987187891
//      sinh 0.5,-0.25,0.75,-1 0.5210953054937474,-0.2526123168081683,0.82231673193583,-1.1752011936438014
//      sqrt 0.5,0.25,1.75,9 0.7071067811865476,0.5,1.3228756555322954,3
//      tan 0.5,-0.25,1.5,-1 0.5463024898437905,-0.25534192122103627,14.101419947171719,-1.5574077246549023
//      tanh 0.5,-0.25,0.75,-1 0.46211715726000974,-0.24491866240370913,0.6351489523872873,-0.7615941559557649
// EACH: T TOL
//      f16 2e-3
//      bf16 1.6e-2
//      f32 1e-6
//      f64 2e-15
// TOLERANCE: $TOL

// INPUT: 4x$T=$X
// INPUT: 4x$T=0
// INPUT: 4x$T=0
// EXPECT: arg[1]: 4x$T=[$WANT]
// EXPECT: arg[2]: 4x$T=[$WANT]
func.func @$OP_$T(%x: memref<?x$T>, %z: memref<?x$T>, %w: memref<4x$T>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x$T>
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<?x$T>
    %r = math.$OP %a : $T
    memref.store %r, %z[%i] : memref<?x$T>
  }
  %u = vector.load %x[%c0] : memref<?x$T>, vector<4x$T>
  %s = math.$OP %u : vector<4x$T>
  vector.store %s, %w[%c0] : memref<4x$T>, vector<4x$T>
  return
}

// INPUT: 4x$T=$X
// EXPECT: result[0]: 4x$T=[$WANT]
func.func @$OP_tensor_$T(%x: tensor<?x$T>) -> tensor<?x$T> {
  %r = math.$OP %x : tensor<?x$T>
  return %r : tensor<?x$T>
}

// -----
// Exact ones, with their special values.
// EACH: OP X WANT
//      absf 1.5,-2,-0.0,-inf 1.5,2,0,inf
//      ceil 1.5,-1.5,-0.5,inf 2,-1,-0.0,inf
//      floor 1.5,-1.5,-0.5,inf 1,-2,-1,inf
//      round 2.5,-2.5,0.5,-0.25 3,-3,1,-0.0
//      roundeven 2.5,-3.5,0.5,-0.25 2,-4,0,-0.0
//      trunc 2.5,-3.5,0.5,-0.25 2,-3,0,-0.0
// EACH: T = f16 bf16 f32 f64

// INPUT: 4x$T=$X
// INPUT: 4x$T=0
// INPUT: 4x$T=0
// EXPECT: arg[1]: 4x$T=[$WANT]
// EXPECT: arg[2]: 4x$T=[$WANT]
func.func @$OP_$T(%x: memref<?x$T>, %z: memref<?x$T>, %w: memref<4x$T>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x$T>
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<?x$T>
    %r = math.$OP %a : $T
    memref.store %r, %z[%i] : memref<?x$T>
  }
  %u = vector.load %x[%c0] : memref<?x$T>, vector<4x$T>
  %s = math.$OP %u : vector<4x$T>
  vector.store %s, %w[%c0] : memref<4x$T>, vector<4x$T>
  return
}

// INPUT: 4x$T=$X
// EXPECT: result[0]: 4x$T=[$WANT]
func.func @$OP_tensor_$T(%x: tensor<?x$T>) -> tensor<?x$T> {
  %r = math.$OP %x : tensor<?x$T>
  return %r : tensor<?x$T>
}

// -----
// Two arguments.
// EACH: OP X Y WANT
//      atan2 1,-1,0,2 2,-2,-1,0 0.4636476090008061,-2.677945044588987,3.141592653589793,1.5707963267948966
//      copysign 1.5,-2,3,-4 -1,2,-0.0,0.0 -1.5,2,-3,4
//      powf 2,2.5,9,-2 3,2,0.5,3 8,6.25,3,-8
// EACH: T TOL
//      f16 2e-3
//      bf16 1.6e-2
//      f32 1e-6
//      f64 2e-15
// TOLERANCE: $TOL

// INPUT: 4x$T=$X
// INPUT: 4x$T=$Y
// INPUT: 4x$T=0
// INPUT: 4x$T=0
// EXPECT: arg[2]: 4x$T=[$WANT]
// EXPECT: arg[3]: 4x$T=[$WANT]
func.func @$OP_$T(%x: memref<?x$T>, %y: memref<?x$T>, %z: memref<?x$T>, %w: memref<4x$T>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x$T>
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<?x$T>
    %b = memref.load %y[%i] : memref<?x$T>
    %r = math.$OP %a, %b : $T
    memref.store %r, %z[%i] : memref<?x$T>
  }
  %u = vector.load %x[%c0] : memref<?x$T>, vector<4x$T>
  %v = vector.load %y[%c0] : memref<?x$T>, vector<4x$T>
  %s = math.$OP %u, %v : vector<4x$T>
  vector.store %s, %w[%c0] : memref<4x$T>, vector<4x$T>
  return
}

// INPUT: 4x$T=$X
// INPUT: 4x$T=$Y
// EXPECT: result[0]: 4x$T=[$WANT]
func.func @$OP_tensor_$T(%x: tensor<?x$T>, %y: tensor<?x$T>) -> tensor<?x$T> {
  %r = math.$OP %x, %y : tensor<?x$T>
  return %r : tensor<?x$T>
}

// -----
// Integers.
// EACH: OP X WANT
//      absi 5,-7,0,-127 5,7,0,127
//      ctpop 5,7,0,127 2,3,0,7
//      cttz 1,8,6,64 0,3,1,6
// EACH: T = i8 i16 i32 i64 index

// INPUT: 4x$T=$X
// INPUT: 4x$T=0
// INPUT: 4x$T=0
// EXPECT: arg[1]: 4x$T=[$WANT]
// EXPECT: arg[2]: 4x$T=[$WANT]
func.func @$OP_$T(%x: memref<?x$T>, %z: memref<?x$T>, %w: memref<4x$T>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x$T>
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<?x$T>
    %r = math.$OP %a : $T
    memref.store %r, %z[%i] : memref<?x$T>
  }
  %u = vector.load %x[%c0] : memref<?x$T>, vector<4x$T>
  %s = math.$OP %u : vector<4x$T>
  vector.store %s, %w[%c0] : memref<4x$T>, vector<4x$T>
  return
}

// INPUT: 4x$T=$X
// EXPECT: result[0]: 4x$T=[$WANT]
func.func @$OP_tensor_$T(%x: tensor<?x$T>) -> tensor<?x$T> {
  %r = math.$OP %x : tensor<?x$T>
  return %r : tensor<?x$T>
}

// -----
// EACH: T WANT
//      i8 7,0,3,8
//      i16 15,0,11,16
//      i32 31,0,27,32
//      i64 63,0,59,64
//      index 63,0,59,64

// INPUT: 4x$T=1,-1,16,0
// INPUT: 4x$T=0
// INPUT: 4x$T=0
// EXPECT: arg[1]: 4x$T=[$WANT]
// EXPECT: arg[2]: 4x$T=[$WANT]
func.func @ctlz_$T(%x: memref<?x$T>, %z: memref<?x$T>, %w: memref<4x$T>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x$T>
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<?x$T>
    %r = math.ctlz %a : $T
    memref.store %r, %z[%i] : memref<?x$T>
  }
  %u = vector.load %x[%c0] : memref<?x$T>, vector<4x$T>
  %s = math.ctlz %u : vector<4x$T>
  vector.store %s, %w[%c0] : memref<4x$T>, vector<4x$T>
  return
}

// INPUT: 4x$T=1,-1,16,0
// EXPECT: result[0]: 4x$T=[$WANT]
func.func @ctlz_tensor_$T(%x: tensor<?x$T>) -> tensor<?x$T> {
  %r = math.ctlz %x : tensor<?x$T>
  return %r : tensor<?x$T>
}

// -----
// EACH: OP X Y WANT
//      ipowi 3,-2,7,1 3,5,0,-1 27,-32,1,1
// EACH: T = i8 i16 i32 i64

// INPUT: 4x$T=$X
// INPUT: 4x$T=$Y
// INPUT: 4x$T=0
// INPUT: 4x$T=0
// EXPECT: arg[2]: 4x$T=[$WANT]
// EXPECT: arg[3]: 4x$T=[$WANT]
func.func @$OP_$T(%x: memref<?x$T>, %y: memref<?x$T>, %z: memref<?x$T>, %w: memref<4x$T>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x$T>
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<?x$T>
    %b = memref.load %y[%i] : memref<?x$T>
    %r = math.$OP %a, %b : $T
    memref.store %r, %z[%i] : memref<?x$T>
  }
  %u = vector.load %x[%c0] : memref<?x$T>, vector<4x$T>
  %v = vector.load %y[%c0] : memref<?x$T>, vector<4x$T>
  %s = math.$OP %u, %v : vector<4x$T>
  vector.store %s, %w[%c0] : memref<4x$T>, vector<4x$T>
  return
}

// INPUT: 4x$T=$X
// INPUT: 4x$T=$Y
// EXPECT: result[0]: 4x$T=[$WANT]
func.func @$OP_tensor_$T(%x: tensor<?x$T>, %y: tensor<?x$T>) -> tensor<?x$T> {
  %r = math.$OP %x, %y : tensor<?x$T>
  return %r : tensor<?x$T>
}

// -----
// EACH: T = f16 bf16 f32 f64
// TOLERANCE: 1e-2

// INPUT: 3x$T=2,-3,0.5
// INPUT: 3xi32=3,2,-2
// INPUT: 3x$T=0
// INPUT: 3x$T=0
// EXPECT: arg[2]: 3x$T=[8, 9, 4]
// EXPECT: arg[3]: 3x$T=[8, 9, 4]
func.func @fpowi_$T(%x: memref<3x$T>, %y: memref<3xi32>, %z: memref<3x$T>, %w: memref<3x$T>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c3 step %c1 {
    %a = memref.load %x[%i] : memref<3x$T>
    %b = memref.load %y[%i] : memref<3xi32>
    %r = math.fpowi %a, %b : $T, i32
    memref.store %r, %z[%i] : memref<3x$T>
  }
  %u = vector.load %x[%c0] : memref<3x$T>, vector<3x$T>
  %v = vector.load %y[%c0] : memref<3xi32>, vector<3xi32>
  %s = math.fpowi %u, %v : vector<3x$T>, vector<3xi32>
  vector.store %s, %w[%c0] : memref<3x$T>, vector<3x$T>
  return
}

// INPUT: 3x$T=2,-3,0.5
// INPUT: 3xi32=3,2,-2
// EXPECT: result[0]: 3x$T=[8, 9, 4]
func.func @fpowi_tensor_$T(%x: tensor<?x$T>, %y: tensor<?xi32>) -> tensor<?x$T> {
  %r = math.fpowi %x, %y : tensor<?x$T>, tensor<?xi32>
  return %r : tensor<?x$T>
}

// INPUT: 3x$T=2,-3,0.5
// INPUT: 3x$T=3,2,-2
// INPUT: 3x$T=1,0,-1
// INPUT: 3x$T=0
// INPUT: 3x$T=0
// EXPECT: arg[3]: 3x$T=[7, -6, -2]
// EXPECT: arg[4]: 3x$T=[7, -6, -2]
func.func @fma_$T(%x: memref<3x$T>, %y: memref<3x$T>, %o: memref<3x$T>, %z: memref<3x$T>, %w: memref<3x$T>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c3 step %c1 {
    %a = memref.load %x[%i] : memref<3x$T>
    %b = memref.load %y[%i] : memref<3x$T>
    %c = memref.load %o[%i] : memref<3x$T>
    %r = math.fma %a, %b, %c : $T
    memref.store %r, %z[%i] : memref<3x$T>
  }
  %u = vector.load %x[%c0] : memref<3x$T>, vector<3x$T>
  %v = vector.load %y[%c0] : memref<3x$T>, vector<3x$T>
  %d = vector.load %o[%c0] : memref<3x$T>, vector<3x$T>
  %s = math.fma %u, %v, %d : vector<3x$T>
  vector.store %s, %w[%c0] : memref<3x$T>, vector<3x$T>
  return
}

// INPUT: 3x$T=2,-3,0.5
// INPUT: 3x$T=3,2,-2
// INPUT: 3x$T=1,0,-1
// EXPECT: result[0]: 3x$T=[7, -6, -2]
func.func @fma_tensor_$T(%x: tensor<?x$T>, %y: tensor<?x$T>, %z: tensor<?x$T>) -> tensor<?x$T> {
  %r = math.fma %x, %y, %z : tensor<?x$T>
  return %r : tensor<?x$T>
}

// INPUT: 3x$T=2,-3,0.5
// INPUT: $T=-1
// INPUT: $T=1.5
// INPUT: 3x$T=0
// INPUT: 3x$T=0
// EXPECT: arg[3]: 3x$T=[1.5, -1, 0.5]
// EXPECT: arg[4]: 3x$T=[1.5, -1, 0.5]
func.func @clampf_$T(%x: memref<3x$T>, %low: $T, %high: $T, %z: memref<3x$T>, %w: memref<3x$T>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c3 step %c1 {
    %a = memref.load %x[%i] : memref<3x$T>
    %r = math.clampf %a to [%low, %high] : $T
    memref.store %r, %z[%i] : memref<3x$T>
  }
  %u = vector.load %x[%c0] : memref<3x$T>, vector<3x$T>
  %l = vector.broadcast %low : $T to vector<3x$T>
  %h = vector.broadcast %high : $T to vector<3x$T>
  %s = math.clampf %u to [%l, %h] : vector<3x$T>
  vector.store %s, %w[%c0] : memref<3x$T>, vector<3x$T>
  return
}

// INPUT: 3x$T=2,-3,0.5
// INPUT: 3x$T=-1
// INPUT: 3x$T=1.5
// EXPECT: result[0]: 3x$T=[1.5, -1, 0.5]
func.func @clampf_tensor_$T(%x: tensor<?x$T>, %low: tensor<?x$T>, %high: tensor<?x$T>) -> tensor<?x$T> {
  %r = math.clampf %x to [%low, %high] : tensor<?x$T>
  return %r : tensor<?x$T>
}

// INPUT: 2x$T=0.5,-1
// EXPECT: result[0]: 2x$T=[0.479425538604203, -0.841470984807897]
// EXPECT: result[1]: 2x$T=[0.877582561890373, 0.54030230586814]
func.func @sincos_tensor_$T(%x: tensor<?x$T>) -> (tensor<?x$T>, tensor<?x$T>) {
  %s, %c = math.sincos %x : tensor<?x$T>
  return %s, %c : tensor<?x$T>, tensor<?x$T>
}

// INPUT: 2x$T=0.5,-1
// INPUT: 2x$T=0
// INPUT: 2x$T=0
// INPUT: 2x$T=0
// INPUT: 2x$T=0
// EXPECT: arg[1]: 2x$T=[0.479425538604203, -0.841470984807897]
// EXPECT: arg[2]: 2x$T=[0.877582561890373, 0.54030230586814]
// EXPECT: arg[3]: 2x$T=[0.479425538604203, -0.841470984807897]
// EXPECT: arg[4]: 2x$T=[0.877582561890373, 0.54030230586814]
func.func @sincos_$T(%x: memref<2x$T>, %sin: memref<2x$T>, %cos: memref<2x$T>, %vsin: memref<2x$T>,
                     %vcos: memref<2x$T>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %c2 step %c1 {
    %a = memref.load %x[%i] : memref<2x$T>
    %s, %c = math.sincos %a : $T
    memref.store %s, %sin[%i] : memref<2x$T>
    memref.store %c, %cos[%i] : memref<2x$T>
  }
  %u = vector.load %x[%c0] : memref<2x$T>, vector<2x$T>
  %vs, %vc = math.sincos %u : vector<2x$T>
  vector.store %vs, %vsin[%c0] : memref<2x$T>, vector<2x$T>
  vector.store %vc, %vcos[%c0] : memref<2x$T>, vector<2x$T>
  return
}

// -----
// EACH: OP       WANT
//      isfinite 1,0,0,1
//      isinf    0,1,0,0
//      isnan    0,0,1,0
//      isnormal 1,0,0,0
// EACH: T = f16 bf16 f32 f64

// INPUT: 4x$T=-1,-inf,nan,0
// INPUT: 4xi1=0
// INPUT: 4xi1=0
// EXPECT: arg[1]: 4xi1=[$WANT]
// EXPECT: arg[2]: 4xi1=[$WANT]
func.func @$OP_$T(%x: memref<4x$T>, %z: memref<4xi1>, %w: memref<4xi1>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %a = memref.load %x[%i] : memref<4x$T>
    %r = math.$OP %a : $T
    memref.store %r, %z[%i] : memref<4xi1>
  }
  %u = vector.load %x[%c0] : memref<4x$T>, vector<4x$T>
  %s = math.$OP %u : vector<4x$T>
  vector.store %s, %w[%c0] : memref<4xi1>, vector<4xi1>
  return
}

// INPUT: 4x$T=-1,-inf,nan,0
// EXPECT: result[0]: 4xi1=[$WANT]
func.func @$OP_tensor_$T(%x: tensor<?x$T>) -> tensor<?xi1> {
  %r = math.$OP %x : tensor<?x$T>
  return %r : tensor<?xi1>
}
