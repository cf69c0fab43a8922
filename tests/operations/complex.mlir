// The complex dialect, on scalars in a kernel and in the body of an operation on tensors. Complex numbers are
// no arguments or results: real and imaginary parts are.
// EACH: OP RE IM
//      conj 1,-3,0.25 -2,-0.5,4
//      cos 2.0327230070196656,-1.1163412445261518,26.459286009782883 -3.0518977991518,0.0735369737112366,6.751633562297498
//      exp -1.1312043837568135,0.04369226300728118,-0.8392950226446834 2.4717266720048188,0.02386919206778745,0.971753639388085
//      expm1 -2.1312043837568133,-0.9563077369927189,-1.8392950226446834 2.4717266720048188,0.02386919206778745,0.971753639388085
//      log 0.8047189562170503,1.1123117757621668,1.3882436813277192 1.1071487177940904,2.976443976175166,-1.5083775167989393
//      log1p 1.039720770839918,0.7234594914681627,1.4328829735469824 0.7853981633974483,2.896613990462929,-1.2679114584199251
//      neg -1,3,-0.25 -2,-0.5,4
//      rsqrt 0.5688644810057831,0.047295085825010685,0.36405861269536843 -0.3515775842541429,-0.5714552908736775,0.34201530834605326
//      sign 0.4472135954999579,-0.9863939238321437,0.06237828615518053 0.8944271909999159,0.1643989873053573,-0.9980525784828885
//      sin 3.165778513216168,-0.15913058529843999,6.756164923874848 1.9596010414216063,-0.5158804424525267,-26.44153975975202
//      sqrt 1.272019649514069,0.14384238796180673,1.4590758865580553 0.7861513777574233,1.738013415533538,-1.3707306236949601
//      tan 0.0338128260798967,0.11162105077158349,0.0003214693872494227 1.0147936161466335,0.46946999342588536,-0.999411329295851
//      tanh 1.16673625724092,-0.997316365283202,0.5305789093177913 -0.24345820118572534,0.00416042659289383,-1.007363938772415
// EACH: T TOL
//      f32 2e-6
//      f64 4e-15
// TOLERANCE: $TOL

// INPUT: 3x$T=1,-3,0.25
// INPUT: 3x$T=2,0.5,-4
// INPUT: 3x$T=0
// INPUT: 3x$T=0
// EXPECT: arg[2]: 3x$T=[$RE]
// EXPECT: arg[3]: 3x$T=[$IM]
func.func @$OP_$T(%x0: memref<3x$T>, %x1: memref<3x$T>, %r0: memref<3x$T>, %r1: memref<3x$T>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c3 step %c1 {
    %a = memref.load %x0[%i] : memref<3x$T>
    %b = memref.load %x1[%i] : memref<3x$T>
    %z = complex.create %a, %b : complex<$T>
    %r = complex.$OP %z : complex<$T>
    %re = complex.re %r : complex<$T>
    %im = complex.im %r : complex<$T>
    memref.store %re, %r0[%i] : memref<3x$T>
    memref.store %im, %r1[%i] : memref<3x$T>
  }
  return
}

// INPUT: 3x$T=1,-3,0.25
// INPUT: 3x$T=2,0.5,-4
// EXPECT: result[0]: 3x$T=[$RE]
// EXPECT: result[1]: 3x$T=[$IM]
func.func @$OP_tensor_$T(%x0: tensor<?x$T>, %x1: tensor<?x$T>) -> (tensor<?x$T>, tensor<?x$T>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x0, %c0 : tensor<?x$T>
  %e0 = tensor.empty(%n) : tensor<?x$T>
  %e1 = tensor.empty(%n) : tensor<?x$T>
  %s:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x0, %x1 : tensor<?x$T>, tensor<?x$T>)
      outs(%e0, %e1 : tensor<?x$T>, tensor<?x$T>) {
  ^bb0(%a: $T, %b: $T, %o0: $T, %o1: $T):
    %z = complex.create %a, %b : complex<$T>
    %r = complex.$OP %z : complex<$T>
    %re = complex.re %r : complex<$T>
    %im = complex.im %r : complex<$T>
    linalg.yield %re, %im : $T, $T
  } -> (tensor<?x$T>, tensor<?x$T>)
  return %s#0, %s#1 : tensor<?x$T>, tensor<?x$T>
}

// -----
// EACH: OP RE IM
//      add 1.5,-1,-1.25 1,1.5,-3.75
//      sub 0.5,-5,1.75 3,-0.5,-4.25
//      mul 2.5,-6.5,0.625 0,-2,6.0625
//      div -1.2,-1.1,-0.5945945945945945 1.6,0.8,2.5675675675675675
//      pow 4.382565059863358,0.33453234870955584,-0.15661111759653662 -1.1243974773611554,0.3322760322637495,0.09217507966806598
//      atan2 1.908166797906673,-0.9697461147264731,1.669494106719837 0.37908687234202215,0.31744013621598494,0.3844235018938148
// EACH: T TOL
//      f32 2e-6
//      f64 4e-15
// TOLERANCE: $TOL

// INPUT: 3x$T=1,-3,0.25
// INPUT: 3x$T=2,0.5,-4
// INPUT: 3x$T=0.5,2,-1.5
// INPUT: 3x$T=-1,1,0.25
// INPUT: 3x$T=0
// INPUT: 3x$T=0
// EXPECT: arg[4]: 3x$T=[$RE]
// EXPECT: arg[5]: 3x$T=[$IM]
func.func @$OP_$T(%x0: memref<3x$T>, %x1: memref<3x$T>, %y0: memref<3x$T>, %y1: memref<3x$T>, %r0: memref<3x$T>, %r1: memref<3x$T>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c3 step %c1 {
    %a = memref.load %x0[%i] : memref<3x$T>
    %b = memref.load %x1[%i] : memref<3x$T>
    %z = complex.create %a, %b : complex<$T>
    %c = memref.load %y0[%i] : memref<3x$T>
    %d = memref.load %y1[%i] : memref<3x$T>
    %w = complex.create %c, %d : complex<$T>
    %r = complex.$OP %z, %w : complex<$T>
    %re = complex.re %r : complex<$T>
    %im = complex.im %r : complex<$T>
    memref.store %re, %r0[%i] : memref<3x$T>
    memref.store %im, %r1[%i] : memref<3x$T>
  }
  return
}

// INPUT: 3x$T=1,-3,0.25
// INPUT: 3x$T=2,0.5,-4
// INPUT: 3x$T=0.5,2,-1.5
// INPUT: 3x$T=-1,1,0.25
// EXPECT: result[0]: 3x$T=[$RE]
// EXPECT: result[1]: 3x$T=[$IM]
func.func @$OP_tensor_$T(%x0: tensor<?x$T>, %x1: tensor<?x$T>, %y0: tensor<?x$T>, %y1: tensor<?x$T>) -> (tensor<?x$T>, tensor<?x$T>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x0, %c0 : tensor<?x$T>
  %e0 = tensor.empty(%n) : tensor<?x$T>
  %e1 = tensor.empty(%n) : tensor<?x$T>
  %s:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x0, %x1, %y0, %y1 : tensor<?x$T>, tensor<?x$T>, tensor<?x$T>, tensor<?x$T>)
      outs(%e0, %e1 : tensor<?x$T>, tensor<?x$T>) {
  ^bb0(%a: $T, %b: $T, %c: $T, %d: $T, %o0: $T, %o1: $T):
    %z = complex.create %a, %b : complex<$T>
    %w = complex.create %c, %d : complex<$T>
    %r = complex.$OP %z, %w : complex<$T>
    %re = complex.re %r : complex<$T>
    %im = complex.im %r : complex<$T>
    linalg.yield %re, %im : $T, $T
  } -> (tensor<?x$T>, tensor<?x$T>)
  return %s#0, %s#1 : tensor<?x$T>, tensor<?x$T>
}

// -----
// EACH: OP WANT
//      abs 2.23606797749979,3.0413812651491097,4.00780488547035
//      angle 1.1071487177940904,2.976443976175166,-1.5083775167989393
//      re 1,-3,0.25
//      im 2,0.5,-4
// EACH: T TOL
//      f32 2e-6
//      f64 4e-15
// TOLERANCE: $TOL

// INPUT: 3x$T=1,-3,0.25
// INPUT: 3x$T=2,0.5,-4
// INPUT: 3x$T=0
// EXPECT: arg[2]: 3x$T=[$WANT]
func.func @$OP_$T(%x0: memref<3x$T>, %x1: memref<3x$T>, %r0: memref<3x$T>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c3 step %c1 {
    %a = memref.load %x0[%i] : memref<3x$T>
    %b = memref.load %x1[%i] : memref<3x$T>
    %z = complex.create %a, %b : complex<$T>
    %r = complex.$OP %z : complex<$T>
    memref.store %r, %r0[%i] : memref<3x$T>
  }
  return
}

// INPUT: 3x$T=1,-3,0.25
// INPUT: 3x$T=2,0.5,-4
// EXPECT: result[0]: 3x$T=[$WANT]
func.func @$OP_tensor_$T(%x0: tensor<?x$T>, %x1: tensor<?x$T>) -> (tensor<?x$T>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x0, %c0 : tensor<?x$T>
  %e0 = tensor.empty(%n) : tensor<?x$T>
  %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x0, %x1 : tensor<?x$T>, tensor<?x$T>)
      outs(%e0 : tensor<?x$T>) {
  ^bb0(%a: $T, %b: $T, %o0: $T):
    %z = complex.create %a, %b : complex<$T>
    %r = complex.$OP %z : complex<$T>
    linalg.yield %r : $T
  } -> (tensor<?x$T>)
  return %s : tensor<?x$T>
}

// -----
// EACH: OP WANT
//      eq 0,0,0
//      neq 1,1,1
// EACH: T = f32 f64

// INPUT: 3x$T=1,-3,0.25
// INPUT: 3x$T=2,0.5,-4
// INPUT: 3x$T=0.5,2,-1.5
// INPUT: 3x$T=-1,1,0.25
// INPUT: 3xi1=0
// EXPECT: arg[4]: 3xi1=[$WANT]
func.func @$OP_$T(%x0: memref<3x$T>, %x1: memref<3x$T>, %y0: memref<3x$T>, %y1: memref<3x$T>, %r0: memref<3xi1>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c3 step %c1 {
    %a = memref.load %x0[%i] : memref<3x$T>
    %b = memref.load %x1[%i] : memref<3x$T>
    %z = complex.create %a, %b : complex<$T>
    %c = memref.load %y0[%i] : memref<3x$T>
    %d = memref.load %y1[%i] : memref<3x$T>
    %w = complex.create %c, %d : complex<$T>
    %r = complex.$OP %z, %w : complex<$T>
    memref.store %r, %r0[%i] : memref<3xi1>
  }
  return
}

// INPUT: 3x$T=1,-3,0.25
// INPUT: 3x$T=2,0.5,-4
// INPUT: 3x$T=0.5,2,-1.5
// INPUT: 3x$T=-1,1,0.25
// EXPECT: result[0]: 3xi1=[$WANT]
func.func @$OP_tensor_$T(%x0: tensor<?x$T>, %x1: tensor<?x$T>, %y0: tensor<?x$T>, %y1: tensor<?x$T>) -> (tensor<?xi1>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x0, %c0 : tensor<?x$T>
  %e0 = tensor.empty(%n) : tensor<?xi1>
  %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x0, %x1, %y0, %y1 : tensor<?x$T>, tensor<?x$T>, tensor<?x$T>, tensor<?x$T>)
      outs(%e0 : tensor<?xi1>) {
  ^bb0(%a: $T, %b: $T, %c: $T, %d: $T, %o0: i1):
    %z = complex.create %a, %b : complex<$T>
    %w = complex.create %c, %d : complex<$T>
    %r = complex.$OP %z, %w : complex<$T>
    linalg.yield %r : i1
  } -> (tensor<?xi1>)
  return %s : tensor<?xi1>
}

// -----
// An integer power, a constant and a cast that keeps the bits.
// EACH: RE IM
//      -11,-24.75,-11.984375 -2,13.375,63.25
// EACH: T TOL
//      f32 2e-6
//      f64 4e-15
// TOLERANCE: $TOL

// INPUT: 3x$T=1,-3,0.25
// INPUT: 3x$T=2,0.5,-4
// INPUT: 3x$T=0
// INPUT: 3x$T=0
// EXPECT: arg[2]: 3x$T=[$RE]
// EXPECT: arg[3]: 3x$T=[$IM]
func.func @powi_$T(%x0: memref<3x$T>, %x1: memref<3x$T>, %r0: memref<3x$T>, %r1: memref<3x$T>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c3 step %c1 {
    %a = memref.load %x0[%i] : memref<3x$T>
    %b = memref.load %x1[%i] : memref<3x$T>
    %z = complex.create %a, %b : complex<$T>
    %k = arith.constant 3 : i32
    %r = complex.powi %z, %k : complex<$T>, i32
    %re = complex.re %r : complex<$T>
    %im = complex.im %r : complex<$T>
    memref.store %re, %r0[%i] : memref<3x$T>
    memref.store %im, %r1[%i] : memref<3x$T>
  }
  return
}

// INPUT: 3x$T=1,-3,0.25
// INPUT: 3x$T=2,0.5,-4
// EXPECT: result[0]: 3x$T=[$RE]
// EXPECT: result[1]: 3x$T=[$IM]
func.func @powi_tensor_$T(%x0: tensor<?x$T>, %x1: tensor<?x$T>) -> (tensor<?x$T>, tensor<?x$T>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x0, %c0 : tensor<?x$T>
  %e0 = tensor.empty(%n) : tensor<?x$T>
  %e1 = tensor.empty(%n) : tensor<?x$T>
  %s:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x0, %x1 : tensor<?x$T>, tensor<?x$T>)
      outs(%e0, %e1 : tensor<?x$T>, tensor<?x$T>) {
  ^bb0(%a: $T, %b: $T, %o0: $T, %o1: $T):
    %z = complex.create %a, %b : complex<$T>
    %k = arith.constant 3 : i32
    %r = complex.powi %z, %k : complex<$T>, i32
    %re = complex.re %r : complex<$T>
    %im = complex.im %r : complex<$T>
    linalg.yield %re, %im : $T, $T
  } -> (tensor<?x$T>, tensor<?x$T>)
  return %s#0, %s#1 : tensor<?x$T>, tensor<?x$T>
}

// -----
// EACH: RE IM
//      4.5,-0.5,-7.875 -1,6.25,-2.5
// EACH: T TOL
//      f32 2e-6
//      f64 4e-15
// TOLERANCE: $TOL

// INPUT: 3x$T=1,-3,0.25
// INPUT: 3x$T=2,0.5,-4
// INPUT: 3x$T=0
// INPUT: 3x$T=0
// EXPECT: arg[2]: 3x$T=[$RE]
// EXPECT: arg[3]: 3x$T=[$IM]
func.func @constant_$T(%x0: memref<3x$T>, %x1: memref<3x$T>, %r0: memref<3x$T>, %r1: memref<3x$T>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c3 step %c1 {
    %a = memref.load %x0[%i] : memref<3x$T>
    %b = memref.load %x1[%i] : memref<3x$T>
    %z = complex.create %a, %b : complex<$T>
    %k = complex.constant [0.5 : $T, -2.0 : $T] : complex<$T>
    %r = complex.mul %z, %k : complex<$T>
    %re = complex.re %r : complex<$T>
    %im = complex.im %r : complex<$T>
    memref.store %re, %r0[%i] : memref<3x$T>
    memref.store %im, %r1[%i] : memref<3x$T>
  }
  return
}

// INPUT: 3x$T=1,-3,0.25
// INPUT: 3x$T=2,0.5,-4
// EXPECT: result[0]: 3x$T=[$RE]
// EXPECT: result[1]: 3x$T=[$IM]
func.func @constant_tensor_$T(%x0: tensor<?x$T>, %x1: tensor<?x$T>) -> (tensor<?x$T>, tensor<?x$T>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x0, %c0 : tensor<?x$T>
  %e0 = tensor.empty(%n) : tensor<?x$T>
  %e1 = tensor.empty(%n) : tensor<?x$T>
  %s:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x0, %x1 : tensor<?x$T>, tensor<?x$T>)
      outs(%e0, %e1 : tensor<?x$T>, tensor<?x$T>) {
  ^bb0(%a: $T, %b: $T, %o0: $T, %o1: $T):
    %z = complex.create %a, %b : complex<$T>
    %k = complex.constant [0.5 : $T, -2.0 : $T] : complex<$T>
    %r = complex.mul %z, %k : complex<$T>
    %re = complex.re %r : complex<$T>
    %im = complex.im %r : complex<$T>
    linalg.yield %re, %im : $T, $T
  } -> (tensor<?x$T>, tensor<?x$T>)
  return %s#0, %s#1 : tensor<?x$T>, tensor<?x$T>
}

// -----
// EACH: T U
//      f32 i64
//      f16 i32
// EACH: RE IM
//      1,-3,0.25 2,0.5,-4

// INPUT: 3x$T=1,-3,0.25
// INPUT: 3x$T=2,0.5,-4
// INPUT: 3x$T=0
// INPUT: 3x$T=0
// EXPECT: arg[2]: 3x$T=[$RE]
// EXPECT: arg[3]: 3x$T=[$IM]
func.func @bitcast_$T(%x0: memref<3x$T>, %x1: memref<3x$T>, %r0: memref<3x$T>, %r1: memref<3x$T>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c3 step %c1 {
    %a = memref.load %x0[%i] : memref<3x$T>
    %b = memref.load %x1[%i] : memref<3x$T>
    %z = complex.create %a, %b : complex<$T>
    %bits = complex.bitcast %z : complex<$T> to $U
    %r = complex.bitcast %bits : $U to complex<$T>
    %re = complex.re %r : complex<$T>
    %im = complex.im %r : complex<$T>
    memref.store %re, %r0[%i] : memref<3x$T>
    memref.store %im, %r1[%i] : memref<3x$T>
  }
  return
}

// INPUT: 3x$T=1,-3,0.25
// INPUT: 3x$T=2,0.5,-4
// EXPECT: result[0]: 3x$T=[$RE]
// EXPECT: result[1]: 3x$T=[$IM]
func.func @bitcast_tensor_$T(%x0: tensor<?x$T>, %x1: tensor<?x$T>) -> (tensor<?x$T>, tensor<?x$T>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x0, %c0 : tensor<?x$T>
  %e0 = tensor.empty(%n) : tensor<?x$T>
  %e1 = tensor.empty(%n) : tensor<?x$T>
  %s:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x0, %x1 : tensor<?x$T>, tensor<?x$T>)
      outs(%e0, %e1 : tensor<?x$T>, tensor<?x$T>) {
  ^bb0(%a: $T, %b: $T, %o0: $T, %o1: $T):
    %z = complex.create %a, %b : complex<$T>
    %bits = complex.bitcast %z : complex<$T> to $U
    %r = complex.bitcast %bits : $U to complex<$T>
    %re = complex.re %r : complex<$T>
    %im = complex.im %r : complex<$T>
    linalg.yield %re, %im : $T, $T
  } -> (tensor<?x$T>, tensor<?x$T>)
  return %s#0, %s#1 : tensor<?x$T>, tensor<?x$T>
}

// -----
// Half precision.
// EACH: T = f16 bf16
// EACH: RE IM
//      2.5,-6.5,0.625 0,-2,6.0625
// TOLERANCE: 2e-2

// INPUT: 3x$T=1,-3,0.25
// INPUT: 3x$T=2,0.5,-4
// INPUT: 3x$T=0.5,2,-1.5
// INPUT: 3x$T=-1,1,0.25
// INPUT: 3x$T=0
// INPUT: 3x$T=0
// EXPECT: arg[4]: 3x$T=[$RE]
// EXPECT: arg[5]: 3x$T=[$IM]
func.func @mul_half_$T(%x0: memref<3x$T>, %x1: memref<3x$T>, %y0: memref<3x$T>, %y1: memref<3x$T>, %r0: memref<3x$T>, %r1: memref<3x$T>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c3 step %c1 {
    %a = memref.load %x0[%i] : memref<3x$T>
    %b = memref.load %x1[%i] : memref<3x$T>
    %z = complex.create %a, %b : complex<$T>
    %c = memref.load %y0[%i] : memref<3x$T>
    %d = memref.load %y1[%i] : memref<3x$T>
    %w = complex.create %c, %d : complex<$T>
    %r = complex.mul %z, %w : complex<$T>
    %re = complex.re %r : complex<$T>
    %im = complex.im %r : complex<$T>
    memref.store %re, %r0[%i] : memref<3x$T>
    memref.store %im, %r1[%i] : memref<3x$T>
  }
  return
}

// INPUT: 3x$T=1,-3,0.25
// INPUT: 3x$T=2,0.5,-4
// INPUT: 3x$T=0.5,2,-1.5
// INPUT: 3x$T=-1,1,0.25
// EXPECT: result[0]: 3x$T=[$RE]
// EXPECT: result[1]: 3x$T=[$IM]
func.func @mul_half_tensor_$T(%x0: tensor<?x$T>, %x1: tensor<?x$T>, %y0: tensor<?x$T>, %y1: tensor<?x$T>) -> (tensor<?x$T>, tensor<?x$T>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x0, %c0 : tensor<?x$T>
  %e0 = tensor.empty(%n) : tensor<?x$T>
  %e1 = tensor.empty(%n) : tensor<?x$T>
  %s:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x0, %x1, %y0, %y1 : tensor<?x$T>, tensor<?x$T>, tensor<?x$T>, tensor<?x$T>)
      outs(%e0, %e1 : tensor<?x$T>, tensor<?x$T>) {
  ^bb0(%a: $T, %b: $T, %c: $T, %d: $T, %o0: $T, %o1: $T):
    %z = complex.create %a, %b : complex<$T>
    %w = complex.create %c, %d : complex<$T>
    %r = complex.mul %z, %w : complex<$T>
    %re = complex.re %r : complex<$T>
    %im = complex.im %r : complex<$T>
    linalg.yield %re, %im : $T, $T
  } -> (tensor<?x$T>, tensor<?x$T>)
  return %s#0, %s#1 : tensor<?x$T>, tensor<?x$T>
}
