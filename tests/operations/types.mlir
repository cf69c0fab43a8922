// What types can be: arguments and results, elements of buffers inside a function, constants, operands.
// EACH: T V W
//      i1 1 1
//      i2 3 -1
//      i4 -7 -7
//      i8 -7 -7
//      i16 -7 -7
//      i32 -7 -7
//      i64 -7 -7
//      index -7 -7
//      f8E4M3FN 1.5 1.5
//      f8E5M2 1.5 1.5
//      f16 1.5 1.5
//      bf16 1.5 1.5
//      f32 1.5 1.5
//      f64 1.5 1.5
// USE: argument, result: $T

// INPUT: $T=$V
// EXPECT: result[0]: $T=$W
func.func @scalar(%a: $T) -> $T {
  return %a : $T
}

// INPUT: 2x$T=$V
// EXPECT: result[0]: 2x$T=[$W, $W]
func.func @tensor(%a: tensor<?x$T>) -> tensor<?x$T> {
  return %a : tensor<?x$T>
}

// INPUT: 2x$T=$V
// INPUT: 2x$T=0
// EXPECT: arg[1]: 2x$T=[$W, $W]
func.func @memref(%a: memref<?x$T>, %z: memref<?x$T>) {
  memref.copy %a, %z : memref<?x$T> to memref<?x$T>
  return
}

// -----
// Complex numbers are elements there, also of tensors of rank 0, but no scalars.
// EACH: T = complex<f32> complex<f64>
// USE: argument, result: $T

// INPUT: 2x$T=1.5-2j
// INPUT: $T=-0.5
// EXPECT: result[0]: 2x$T=[1.5-2j, 1.5-2j]
// EXPECT: result[1]: $T=-0.5+0j
func.func @tensor(%a: tensor<?x$T>, %b: tensor<$T>) -> (tensor<?x$T>, tensor<$T>) {
  return %a, %b : tensor<?x$T>, tensor<$T>
}

// INPUT: 2x$T=1.5-2j,3j
// INPUT: 2x$T=0
// EXPECT: arg[1]: 2x$T=[1.5-2j, 0+3j]
func.func @memref(%a: memref<?x$T>, %z: memref<?x$T>) {
  memref.copy %a, %z : memref<?x$T> to memref<?x$T>
  return
}

// -----
// EACH: T = complex<f32> complex<f64>
// REFUSED: func.func: is a complex scalar; pass it as a tensor or memref of rank 0
func.func @main(%a: $T) -> $T {
  return %a : $T
}

// -----
// From an i32 or f32 and back, through memory. Booleans and narrow integers keep their sign.
// EACH: T             U    TO                             FROM                              V          W
//      i1             i32  arith.trunci~%a~:~i32~to~i1    arith.extsi~%v~:~i1~to~i32        0,1,-2,7   0,-1,0,-1
//      i2             i32  arith.trunci~%a~:~i32~to~i2    arith.extsi~%v~:~i2~to~i32        0,1,-2,7   0,1,-2,-1
//      i4             i32  arith.trunci~%a~:~i32~to~i4    arith.extsi~%v~:~i4~to~i32        0,1,-8,8   0,1,-8,-8
//      i8             i32  arith.trunci~%a~:~i32~to~i8    arith.extsi~%v~:~i8~to~i32        0,1,-8,128 0,1,-8,-128
//      i16            i32  arith.trunci~%a~:~i32~to~i16   arith.extsi~%v~:~i16~to~i32       0,1,-8,128 0,1,-8,128
//      i32            i64  arith.trunci~%a~:~i64~to~i32   arith.extsi~%v~:~i32~to~i64       0,1,-8,128 0,1,-8,128
//      i64            i32  arith.extsi~%a~:~i32~to~i64    arith.trunci~%v~:~i64~to~i32      0,1,-8,128 0,1,-8,128
//      index          i32  arith.index_cast~%a~:~i32~to~index  arith.index_cast~%v~:~index~to~i32  0,1,-8,128 0,1,-8,128
//      f8E4M3FN       f32  arith.truncf~%a~:~f32~to~f8E4M3FN  arith.extf~%v~:~f8E4M3FN~to~f32  0,1.5,-8,27  0,1.5,-8,28
//      f8E5M2         f32  arith.truncf~%a~:~f32~to~f8E5M2  arith.extf~%v~:~f8E5M2~to~f32  0,1.5,-8,27  0,1.5,-8,28
//      f16            f32  arith.truncf~%a~:~f32~to~f16   arith.extf~%v~:~f16~to~f32        0,1.5,-8,4 0,1.5,-8,4
//      bf16           f32  arith.truncf~%a~:~f32~to~bf16  arith.extf~%v~:~bf16~to~f32       0,1.5,-8,4 0,1.5,-8,4
//      f32            f64  arith.truncf~%a~:~f64~to~f32   arith.extf~%v~:~f32~to~f64        0,1.5,-8,4 0,1.5,-8,4
//      f64            f32  arith.extf~%a~:~f32~to~f64     arith.truncf~%v~:~f64~to~f32      0,1.5,-8,4 0,1.5,-8,4
//      complex<f32>   f32  complex.create~%a,~%a~:~complex<f32>  complex.im~%v~:~complex<f32>  0,1.5,-8,4 0,1.5,-8,4
//      complex<f64>   f64  complex.create~%a,~%a~:~complex<f64>  complex.im~%v~:~complex<f64>  0,1.5,-8,4 0,1.5,-8,4
// USE: storage: $T

// INPUT: 4x$U=$V
// EXPECT: arg[0]: 4x$U=[$W]
func.func @buffer(%x: memref<?x$U>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x$U>
  %t = memref.alloc(%n) : memref<?x$T>
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<?x$U>
    %v = $TO
    memref.store %v, %t[%i] : memref<?x$T>
  }
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %t[%i] : memref<?x$T>
    %r = $FROM
    memref.store %r, %x[%i] : memref<?x$U>
  }
  memref.dealloc %t : memref<?x$T>
  return
}

// INPUT: 4x$U=$V
// INPUT: index=2
// EXPECT: result[0]: 4x$U=[$W]
// EXPECT: result[1]: $U=0
func.func @tensor(%x: tensor<?x$U>, %k: index) -> (tensor<?x$U>, tensor<$U>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x$U>
  %e = tensor.empty(%n) : tensor<?x$T>
  %t = linalg.map ins(%x : tensor<?x$U>) outs(%e : tensor<?x$T>) (%a: $U, %o: $T) {
    %v = $TO
    linalg.yield %v : $T
  }
  // Written in the middle, read at the beginning.
  %s = tensor.extract_slice %t[1] [2] [1] : tensor<?x$T> to tensor<2x$T>
  %u = tensor.insert_slice %s into %t[%k] [2] [1] : tensor<2x$T> into tensor<?x$T>
  %f = tensor.empty(%n) : tensor<?x$U>
  %y = linalg.map ins(%t : tensor<?x$T>) outs(%f : tensor<?x$U>) (%v: $T, %o: $U) {
    %r = $FROM
    linalg.yield %r : $U
  }
  %v = tensor.extract %u[%c0] : tensor<?x$T>
  %r = $FROM
  %one = tensor.from_elements %r : tensor<$U>
  return %y, %one : tensor<?x$U>, tensor<$U>
}

// -----
// A constant, and a sum.
// EACH: T             U    LIST         FROM                              ADD           V        W
//      i1             i32  true,false   arith.extsi~%v~:~i1~to~i32        arith.addi    -1,0     0,0
//      i2             i32  -1,1         arith.extsi~%v~:~i2~to~i32        arith.addi    -1,1     -2,-2
//      i4             i32  -7,7         arith.extsi~%v~:~i4~to~i32        arith.addi    -7,7     2,-2
//      i8             i32  -7,100       arith.extsi~%v~:~i8~to~i32        arith.addi    -7,100   -14,-56
//      i16            i32  -7,100       arith.extsi~%v~:~i16~to~i32       arith.addi    -7,100   -14,200
//      i32            i64  -7,100       arith.extsi~%v~:~i32~to~i64       arith.addi    -7,100   -14,200
//      i64            i32  -7,100       arith.trunci~%v~:~i64~to~i32      arith.addi    -7,100   -14,200
//      index          i32  -7,100       arith.index_cast~%v~:~index~to~i32  arith.addi  -7,100   -14,200
//      f8E4M3FN       f32  -7.5,1.875   arith.extf~%v~:~f8E4M3FN~to~f32   arith.addf    -7.5,1.875  -15,3.75
//      f8E5M2         f32  -7.0,1.75    arith.extf~%v~:~f8E5M2~to~f32     arith.addf    -7,1.75  -14,3.5
//      f16            f32  -7.5,2.0     arith.extf~%v~:~f16~to~f32        arith.addf    -7.5,2   -15,4
//      bf16           f32  -7.5,2.0     arith.extf~%v~:~bf16~to~f32       arith.addf    -7.5,2   -15,4
//      f32            f64  -7.5,2.0     arith.extf~%v~:~f32~to~f64        arith.addf    -7.5,2   -15,4
//      f64            f32  -7.5,2.0     arith.truncf~%v~:~f64~to~f32      arith.addf    -7.5,2   -15,4
//      complex<f32>   f32  (0.0,-7.5),(0.0,2.0)  complex.im~%v~:~complex<f32>  complex.add  -7.5,2   -15,4
//      complex<f64>   f64  (0.0,-7.5),(0.0,2.0)  complex.im~%v~:~complex<f64>  complex.add  -7.5,2   -15,4
// EACH: WHAT
//      constant
//      computed
// USE: $WHAT: $T

// INPUT: 2xindex=0,1
// EXPECT: result[0]: 2x$U=[$V]
// EXPECT: result[1]: 2x$U=[$W]
func.func @tensor(%x: tensor<2xindex>) -> (tensor<2x$U>, tensor<2x$U>) {
  %t = arith.constant dense<[$LIST]> : tensor<2x$T>
  %e = tensor.empty() : tensor<2x$U>
  %y = linalg.map ins(%x : tensor<2xindex>) outs(%e : tensor<2x$U>) (%i: index, %o: $U) {
    %v = tensor.extract %t[%i] : tensor<2x$T>
    %r = $FROM
    linalg.yield %r : $U
  }
  %z = linalg.map ins(%x : tensor<2xindex>) outs(%e : tensor<2x$U>) (%i: index, %o: $U) {
    %w = tensor.extract %t[%i] : tensor<2x$T>
    %v = $ADD %w, %w : $T
    %r = $FROM
    linalg.yield %r : $U
  }
  return %y, %z : tensor<2x$U>, tensor<2x$U>
}

// INPUT: 2x$U=0
// INPUT: 2x$U=0
// EXPECT: arg[0]: 2x$U=[$V]
// EXPECT: arg[1]: 2x$U=[$W]
memref.global "private" constant @table : memref<2x$T> = dense<[$LIST]>
func.func @kernel(%y: memref<2x$U>, %z: memref<2x$U>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %t = memref.get_global @table : memref<2x$T>
  scf.for %i = %c0 to %c2 step %c1 {
    %w = memref.load %t[%i] : memref<2x$T>
    %s = func.call @from(%w) : ($T) -> $U
    memref.store %s, %y[%i] : memref<2x$U>
    %v = $ADD %w, %w : $T
    %r = $FROM
    memref.store %r, %z[%i] : memref<2x$U>
  }
  return
}
func.func private @from(%v: $T) -> $U {
  %r = $FROM
  return %r : $U
}

// -----
// What combines numbers of 8 bits does so in f32, where the author says.
// EACH: T = f8E5M2
// REFUSED: vector.reduction: 'vector.reduction' is not supported on '$T': what combines numbers does so in f32; convert them with arith.extf
func.func @main(%x: memref<4x$T>) -> $T {
  %c0 = arith.constant 0 : index
  %v = vector.load %x[%c0] : memref<4x$T>, vector<4x$T>
  %r = vector.reduction <add>, %v : vector<4x$T> into $T
  return %r : $T
}

// -----
// EACH: T = f8E5M2
// REFUSED: arith.truncf: 'arith.truncf' is not supported on '$T': conversions round to nearest even
func.func @main(%a: f32) -> $T {
  %r = arith.truncf %a toward_zero : f32 to $T
  return %r : $T
}

// -----
// EACH: T = f8E3M4
// REFUSED: memref.alloc: 'memref.alloc' is not supported on '$T': floats are f8E4M3FN, f8E5M2, f16, bf16, f32 and f64
func.func @main() {
  %m = memref.alloc() : memref<4x$T>
  memref.dealloc %m : memref<4x$T>
  return
}

// -----
// EACH: T = f8E5M2
// REFUSED: tosa.max_pool2d: 'tosa.max_pool2d' is not supported on '$T': pooling begins with the smallest f16 or f32
func.func @main(%a: tensor<1x4x4x2x$T>) -> tensor<1x2x2x2x$T> {
  %r = tosa.max_pool2d %a {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x4x4x2x$T>) -> tensor<1x2x2x2x$T>
  return %r : tensor<1x2x2x2x$T>
}

// -----
// Named and TOSA operations on numbers of 8 bits.
// EACH: T = f8E4M3FN f8E5M2

// INPUT: 2x3x$T=1,-2,3,-4,-5,-6
// EXPECT: result[0]: 2x1x$T=[[3], [-4]]
// EXPECT: result[1]: 2x3x$T=[[1, 0, 2], [0, 0, 0]]
// EXPECT: result[2]: 2xi32=[2, 0]
func.func @tosa_$T(%a: tensor<2x3x$T>) -> (tensor<2x1x$T>, tensor<2x3x$T>, tensor<2xi32>) {
  %r = tosa.reduce_max %a {axis = 1 : i32} : (tensor<2x3x$T>) -> tensor<2x1x$T>
  %c = tosa.clamp %a {min_val = 0.0 : $T, max_val = 2.0 : $T} : (tensor<2x3x$T>) -> tensor<2x3x$T>
  %i = tosa.argmax %a {axis = 1 : i32} : (tensor<2x3x$T>) -> tensor<2xi32>
  return %r, %c, %i : tensor<2x1x$T>, tensor<2x3x$T>, tensor<2xi32>
}

// INPUT: 1x2x2x$T=1,2,3,4
// EXPECT: result[0]: 1x2x2xf16=[[[7, 10], [15, 22]]]
func.func @matmul_$T(%a: tensor<1x2x2x$T>) -> tensor<1x2x2xf16> {
  %z = "tosa.const"() {values = dense<0.0> : tensor<1x$T>} : () -> tensor<1x$T>
  %r = tosa.matmul %a, %a, %z, %z : (tensor<1x2x2x$T>, tensor<1x2x2x$T>, tensor<1x$T>, tensor<1x$T>) -> tensor<1x2x2xf16>
  return %r : tensor<1x2x2xf16>
}
