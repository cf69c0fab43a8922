// TOSA. Its operations are on tensors only; what is on shapes must be known when the module is loaded.
// EACH: OP X WANT
//      abs 1.5,-2,0,-7 1.5,2,0,7
//      ceil 1.5,-1.5,0.25,3 2,-1,1,3
//      floor 1.5,-1.5,0.25,3 1,-2,0,3
//      exp 0.5,0.25,2,9 1.6487212707001282,1.2840254166877414,7.38905609893065,8103.083927575384
//      log 0.5,0.25,2,9 -0.6931471805599453,-1.3862943611198906,0.6931471805599453,2.1972245773362196
//      reciprocal 0.5,0.25,2,9 2,4,0.5,0.1111111111111111
//      rsqrt 0.5,0.25,2,9 1.414213562373095,2,0.7071067811865475,0.3333333333333333
//      sigmoid 0.5,0.25,2,9 0.6224593312018546,0.5621765008857981,0.8807970779778823,0.9998766054240137
//      sin 0.5,0.25,2,9 0.479425538604203,0.24740395925452294,0.9092974268256817,0.4121184852417566
//      cos 0.5,0.25,2,9 0.8775825618903728,0.9689124217106447,-0.4161468365471424,-0.9111302618846769
//      tanh 0.5,0.25,2,9 0.46211715726000974,0.24491866240370913,0.9640275800758169,0.999999969540041
//      erf 0.5,0.25,2,9 0.5204998778130465,0.2763263901682369,0.9953222650189527,1
//      identity 0.5,0.25,2,9 0.5,0.25,2,9
// EACH: T TOL
//      f16 2e-3
//      f32 1e-6
// TOLERANCE: $TOL

// INPUT: 4x$T=$X
// EXPECT: result[0]: 4x$T=[$WANT]
func.func @$OP_$T(%x: tensor<?x$T>) -> tensor<?x$T> {
  %r = tosa.$OP %x : (tensor<?x$T>) -> tensor<?x$T>
  return %r : tensor<?x$T>
}

// -----
// EACH: OP X WANT T
//      abs 5,-7,0 5,7,0 i32
//      bitwise_not 5,-7,0 -6,6,-1 i32
//      bitwise_not 5,-7,0 -6,6,-1 i8
//      clz 1,0,-1 31,32,0 i32
//      logical_not 1,0,1 0,1,0 i1

// INPUT: 3x$T=$X
// EXPECT: result[0]: 3x$T=[$WANT]
func.func @$OP_$T(%x: tensor<?x$T>) -> tensor<?x$T> {
  %r = tosa.$OP %x : (tensor<?x$T>) -> tensor<?x$T>
  return %r : tensor<?x$T>
}

// -----
// The second operand is stretched.
// EACH: OP X Y WANT T
//      add 7,-2,9,1 2,-3 9,0,6,-2 f32
//      add 7,-2,9,1 2,-3 9,0,6,-2 i32
//      sub 7,-2,9,1 2,-3 5,-4,12,4 f32
//      sub 7,-2,9,1 2,-3 5,-4,12,4 i32
//      pow 3,2,9,4 2,0.5 9,4,3,2 f32
//      maximum 7,-2,9,1 2,-3 7,2,9,1 f32
//      maximum 7,-2,9,1 2,-3 7,2,9,1 i32
//      minimum 7,-2,9,1 2,-3 2,-2,-3,-3 f32
//      minimum 7,-2,9,1 2,-3 2,-2,-3,-3 i32
//      intdiv 7,-9,9,1 2,-3 3,-4,-3,0 i32
//      bitwise_and 7,-2,9,1 6,3 6,6,1,1 i32
//      bitwise_or 7,-2,9,1 6,3 7,-2,11,3 i32
//      bitwise_xor 7,-2,9,1 6,3 1,-8,10,2 i8
//      logical_left_shift 7,-2,9,1 1,3 14,-4,72,8 i32
//      logical_right_shift 7,8,9,1 1,3 3,4,1,0 i32
//      logical_and 1,0,1,0 1,0 1,0,0,0 i1
//      logical_or 1,0,1,0 1,0 1,1,1,0 i1
//      logical_xor 1,0,1,0 1,0 0,1,1,0 i1
// TOLERANCE: 1e-6

// INPUT: 2x2x$T=$X
// INPUT: 2x1x$T=$Y
// EXPECT: result[0]: 2x2x$T=[$WANT]
func.func @$OP_$T(%x: tensor<2x2x$T>, %y: tensor<2x1x$T>) -> tensor<2x2x$T> {
  %r = tosa.$OP %x, %y : (tensor<2x2x$T>, tensor<2x1x$T>) -> tensor<2x2x$T>
  return %r : tensor<2x2x$T>
}

// INPUT: 2x2x$T=$X
// INPUT: 2x1x$T=$Y
// EXPECT: result[0]: 2x2x$T=[$WANT]
func.func @$OP_dynamic_$T(%x: tensor<?x2x$T>, %y: tensor<?x1x$T>) -> tensor<?x2x$T> {
  %r = tosa.$OP %x, %y : (tensor<?x2x$T>, tensor<?x1x$T>) -> tensor<?x2x$T>
  return %r : tensor<?x2x$T>
}

// -----
// EACH: OP WANT
//      equal 0,1,0
//      greater 0,0,1
//      greater_equal 0,1,1
// EACH: T = f16 f32 i32

// INPUT: 3x$T=1,-2,9
// INPUT: 3x$T=2,-2,-3
// EXPECT: result[0]: 3xi1=[$WANT]
func.func @$OP_$T(%x: tensor<?x$T>, %y: tensor<?x$T>) -> tensor<?xi1> {
  %r = tosa.$OP %x, %y : (tensor<?x$T>, tensor<?x$T>) -> tensor<?xi1>
  return %r : tensor<?xi1>
}

// -----
// EACH: OP WANT
//      reduce_max 3,6
//      reduce_min 1,-4
//      reduce_sum 6,7
//      reduce_product 6,-120
// EACH: T = f16 f32 i32

// INPUT: 2x3x$T=1,2,3,-4,5,6
// EXPECT: result[0]: 2x1x$T=[$WANT]
func.func @$OP_$T(%x: tensor<?x3x$T>) -> tensor<?x1x$T> {
  %r = tosa.$OP %x {axis = 1 : i32} : (tensor<?x3x$T>) -> tensor<?x1x$T>
  return %r : tensor<?x1x$T>
}

// -----
// EACH: OP WANT
//      reduce_all 1,0
//      reduce_any 1,1

// INPUT: 2x2xi1=1,1,0,1
// EXPECT: result[0]: 2x1xi1=[$WANT]
func.func @$OP(%x: tensor<?x2xi1>) -> tensor<?x1xi1> {
  %r = tosa.$OP %x {axis = 1 : i32} : (tensor<?x2xi1>) -> tensor<?x1xi1>
  return %r : tensor<?x1xi1>
}

// -----
// TOLERANCE: 1e-6

// INPUT: 3xi32=-7,9,-9
// INPUT: 3xi32=1,2,1
// EXPECT: result[0]: 3xi32=[-4, 2, -5]
func.func @arithmetic_right_shift(%x: tensor<?xi32>, %y: tensor<?xi32>) -> tensor<?xi32> {
  %r = tosa.arithmetic_right_shift %x, %y {round = false} : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
  return %r : tensor<?xi32>
}

// INPUT: 3xi32=100,-50,7
// EXPECT: result[0]: 3xi32=[50, -25, 4]
func.func @apply_scale(%x: tensor<3xi32>) -> tensor<3xi32> {
  %e = tensor.empty() : tensor<3xi32>
  %m = arith.constant 1073741824 : i32
  %s = arith.constant 31 : i8
  %r = linalg.map ins(%x : tensor<3xi32>) outs(%e : tensor<3xi32>) (%v: i32, %o: i32) {
    %t = tosa.apply_scale %v, %m, %s {rounding_mode = SINGLE_ROUND} : (i32, i32, i8) -> i32
    linalg.yield %t : i32
  }
  return %r : tensor<3xi32>
}

// INPUT: 2x3xf32=1,5,3,9,8,7
// EXPECT: result[0]: 2xi32=[1, 0]
func.func @argmax(%x: tensor<?x3xf32>) -> tensor<?xi32> {
  %r = tosa.argmax %x {axis = 1 : i32} : (tensor<?x3xf32>) -> tensor<?xi32>
  return %r : tensor<?xi32>
}

// INPUT: 1x2x2x1xf32=1,2,3,6
// EXPECT: result[0]: 1x1x1x1xf32=[3]
func.func @avg_pool2d(%x: tensor<1x2x2x1xf32>) -> tensor<1x1x1x1xf32> {
  %zp = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %r = tosa.avg_pool2d %x, %zp, %zp {kernel = array<i64: 2, 2>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, acc_type = f32}
      : (tensor<1x2x2x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %r : tensor<1x1x1x1xf32>
}

// INPUT: 1x2x2x1xi8=1,2,3,6
// EXPECT: result[0]: 1x1x1x1xi8=[3]
func.func @avg_pool2d_i8(%x: tensor<1x2x2x1xi8>) -> tensor<1x1x1x1xi8> {
  %zp = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %r = tosa.avg_pool2d %x, %zp, %zp {kernel = array<i64: 2, 2>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, acc_type = i32}
      : (tensor<1x2x2x1xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x1x1x1xi8>
  return %r : tensor<1x1x1x1xi8>
}

// INPUT: 1x2x2x1xf32=1,2,7,6
// EXPECT: result[0]: 1x1x1x1xf32=[7]
func.func @max_pool2d(%x: tensor<1x2x2x1xf32>) -> tensor<1x1x1x1xf32> {
  %r = tosa.max_pool2d %x {kernel = array<i64: 2, 2>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>}
      : (tensor<1x2x2x1xf32>) -> tensor<1x1x1x1xf32>
  return %r : tensor<1x1x1x1xf32>
}

// INPUT: 4xf32=1.5,-2.5,300,0
// EXPECT: result[0]: 4xi8=[2, -2, 127, 0]
// EXPECT: result[1]: 4xi1=[1, 1, 1, 0]
func.func @cast(%x: tensor<?xf32>) -> (tensor<?xi8>, tensor<?xi1>) {
  %r = tosa.cast %x : (tensor<?xf32>) -> tensor<?xi8>
  %b = tosa.cast %x : (tensor<?xf32>) -> tensor<?xi1>
  return %r, %b : tensor<?xi8>, tensor<?xi1>
}

// INPUT: 4xf32=1.5,-2.5,300,0
// EXPECT: result[0]: 4xf32=[1.5, -1, 2, 0]
func.func @clamp(%x: tensor<?xf32>) -> tensor<?xf32> {
  %r = tosa.clamp %x {min_val = -1.0 : f32, max_val = 2.0 : f32} : (tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// INPUT: 1x2xf32=1,2
// INPUT: 2x2xf32=3,4,5,6
// EXPECT: result[0]: 3x2xf32=[1, 2, 3, 4, 5, 6]
func.func @concat(%x: tensor<?x2xf32>, %y: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %r = tosa.concat %x, %y {axis = 0 : i32} : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  return %r : tensor<?x2xf32>
}

// EXPECT: result[0]: 2xf32=[1, 2]
func.func @const() -> tensor<2xf32> {
  %r = "tosa.const"() {values = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// INPUT: 1x2x2x1xf32=1,2,3,4
// INPUT: 1x1x2x1xf32=1,-1
// INPUT: 1xf32=10
// EXPECT: result[0]: 1x2x1x1xf32=[9, 9]
func.func @conv2d(%x: tensor<1x2x2x1xf32>, %w: tensor<1x1x2x1xf32>, %b: tensor<1xf32>) -> tensor<1x2x1x1xf32> {
  %zp = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %r = tosa.conv2d %x, %w, %b, %zp, %zp {acc_type = f32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>}
      : (tensor<1x2x2x1xf32>, tensor<1x1x2x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x1x1xf32>
  return %r : tensor<1x2x1x1xf32>
}

// INPUT: 1x2x2x1xi8=1,2,3,4
// INPUT: 1x1x2x1xi8=1,-1
// INPUT: 1xi32=10
// EXPECT: result[0]: 1x2x1x1xi32=[6, 18]
func.func @conv2d_i8(%x: tensor<1x2x2x1xi8>, %w: tensor<1x1x2x1xi8>, %b: tensor<1xi32>) -> tensor<1x2x1x1xi32> {
  %zp = "tosa.const"() {values = dense<2> : tensor<1xi8>} : () -> tensor<1xi8>
  %wzp = "tosa.const"() {values = dense<-3> : tensor<1xi8>} : () -> tensor<1xi8>
  %r = tosa.conv2d %x, %w, %b, %zp, %wzp {acc_type = i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>}
      : (tensor<1x2x2x1xi8>, tensor<1x1x2x1xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x2x1x1xi32>
  return %r : tensor<1x2x1x1xi32>
}

// INPUT: 1x1x2x2x1xf32=1,2,3,4
// INPUT: 1x1x1x2x1xf32=1,-1
// INPUT: 1xf32=10
// EXPECT: result[0]: 1x1x2x1x1xf32=[9, 9]
func.func @conv3d(%x: tensor<1x1x2x2x1xf32>, %w: tensor<1x1x1x2x1xf32>, %b: tensor<1xf32>) -> tensor<1x1x2x1x1xf32> {
  %zp = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %r = tosa.conv3d %x, %w, %b, %zp, %zp {acc_type = f32, pad = array<i64: 0, 0, 0, 0, 0, 0>, stride = array<i64: 1, 1, 1>, dilation = array<i64: 1, 1, 1>}
      : (tensor<1x1x2x2x1xf32>, tensor<1x1x1x2x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2x1x1xf32>
  return %r : tensor<1x1x2x1x1xf32>
}

// INPUT: 1x2x2x1xf32=1,2,3,4
// INPUT: 1x2x1x1xf32=1,-1
// INPUT: 1xf32=10
// EXPECT: result[0]: 1x2x1x1xf32=[9, 9]
func.func @depthwise_conv2d(%x: tensor<1x2x2x1xf32>, %w: tensor<1x2x1x1xf32>, %b: tensor<1xf32>) -> tensor<1x2x1x1xf32> {
  %zp = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %r = tosa.depthwise_conv2d %x, %w, %b, %zp, %zp {acc_type = f32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>}
      : (tensor<1x2x2x1xf32>, tensor<1x2x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x1x1xf32>
  return %r : tensor<1x2x1x1xf32>
}

// INPUT: 1x1x2x1xf32=1,2
// INPUT: 1x1x2x1xf32=1,10
// INPUT: 1xf32=100
// EXPECT: result[0]: 1x1x3x1xf32=[101, 112, 120]
func.func @transpose_conv2d(%x: tensor<1x1x2x1xf32>, %w: tensor<1x1x2x1xf32>, %b: tensor<1xf32>) -> tensor<1x1x3x1xf32> {
  %zp = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %r = tosa.transpose_conv2d %x, %w, %b, %zp, %zp {acc_type = f32, out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x1x2x1xf32>, tensor<1x1x2x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x3x1xf32>
  return %r : tensor<1x1x3x1xf32>
}

// INPUT: 1x3x2xf32=1,2,3,4,5,6
// INPUT: 1x2xi32=2,0
// EXPECT: result[0]: 1x2x2xf32=[5, 6, 1, 2]
func.func @gather(%x: tensor<1x3x2xf32>, %i: tensor<1x2xi32>) -> tensor<1x2x2xf32> {
  %r = tosa.gather %x, %i : (tensor<1x3x2xf32>, tensor<1x2xi32>) -> tensor<1x2x2xf32>
  return %r : tensor<1x2x2xf32>
}

// INPUT: 1x2x3xf32=1,2,3,4,5,6
// INPUT: 1x3x1xf32=1,0,2
// EXPECT: result[0]: 1x2x1xf32=[7, 16]
func.func @matmul(%x: tensor<1x2x3xf32>, %y: tensor<1x3x1xf32>) -> tensor<1x2x1xf32> {
  %zp = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %r = tosa.matmul %x, %y, %zp, %zp : (tensor<1x2x3xf32>, tensor<1x3x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x1xf32>
  return %r : tensor<1x2x1xf32>
}

// INPUT: 3xf32=1,2,3
// INPUT: 3xf32=4,5,6
// EXPECT: result[0]: 3xf32=[4, 10, 18]
func.func @mul(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %s = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %r = tosa.mul %x, %y, %s : (tensor<?xf32>, tensor<?xf32>, tensor<1xi8>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// INPUT: 3xi32=100,200,-7
// INPUT: 3xi32=4,5,6
// EXPECT: result[0]: 3xi32=[200, 500, -21]
func.func @mul_shift(%x: tensor<?xi32>, %y: tensor<?xi32>) -> tensor<?xi32> {
  %s = "tosa.const"() {values = dense<1> : tensor<1xi8>} : () -> tensor<1xi8>
  %r = tosa.mul %x, %y, %s : (tensor<?xi32>, tensor<?xi32>, tensor<1xi8>) -> tensor<?xi32>
  return %r : tensor<?xi32>
}

// INPUT: 3xf32=1,-2,0
// EXPECT: result[0]: 3xf32=[-1, 2, -0.0]
func.func @negate(%x: tensor<?xf32>) -> tensor<?xf32> {
  %zp = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %r = tosa.negate %x, %zp, %zp : (tensor<?xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// INPUT: 3xi8=1,-2,-128
// EXPECT: result[0]: 3xi8=[-1, 2, 127]
func.func @negate_i8(%x: tensor<?xi8>) -> tensor<?xi8> {
  %zp = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %r = tosa.negate %x, %zp, %zp : (tensor<?xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<?xi8>
  return %r : tensor<?xi8>
}

// INPUT: 1x2xf32=1,2
// EXPECT: result[0]: 2x3xf32=[7, 7, 7, 1, 2, 7]
func.func @pad(%x: tensor<1x2xf32>) -> tensor<2x3xf32> {
  %p = tosa.const_shape {values = dense<[1, 0, 0, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %v = "tosa.const"() {values = dense<7.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %r = tosa.pad %x, %p, %v : (tensor<1x2xf32>, !tosa.shape<4>, tensor<1xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// INPUT: 4xi8=10,-20,127,0
// EXPECT: result[0]: 4xi8=[8, -7, 67, 3]
func.func @rescale(%x: tensor<4xi8>) -> tensor<4xi8> {
  %m = "tosa.const"() {values = dense<1073741824> : tensor<1xi32>} : () -> tensor<1xi32>
  %s = "tosa.const"() {values = dense<31> : tensor<1xi8>} : () -> tensor<1xi8>
  %a = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %b = "tosa.const"() {values = dense<3> : tensor<1xi8>} : () -> tensor<1xi8>
  %r = tosa.rescale %x, %m, %s, %a, %b {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false}
      : (tensor<4xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<4xi8>
  return %r : tensor<4xi8>
}

// INPUT: 2x3xf32=1,2,3,4,5,6
// EXPECT: result[0]: 3x2xf32=[1, 2, 3, 4, 5, 6]
func.func @reshape(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %s = tosa.const_shape {values = dense<[3, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r = tosa.reshape %x, %s : (tensor<2x3xf32>, !tosa.shape<2>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

// INPUT: 1x1x2x1xf32=1,3
// EXPECT: result[0]: 1x1x3x1xf32=[1, 2, 3]
func.func @resize(%x: tensor<1x1x2x1xf32>) -> tensor<1x1x3x1xf32> {
  %scale = tosa.const_shape {values = dense<[1, 1, 2, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %offset = tosa.const_shape {values = dense<0> : tensor<2xindex>} : () -> !tosa.shape<2>
  %border = tosa.const_shape {values = dense<0> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r = tosa.resize %x, %scale, %offset, %border {mode = BILINEAR}
      : (tensor<1x1x2x1xf32>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x1x3x1xf32>
  return %r : tensor<1x1x3x1xf32>
}

// INPUT: 2x3xf32=1,2,3,4,5,6
// EXPECT: result[0]: 2x3xf32=[3, 2, 1, 6, 5, 4]
func.func @reverse(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %r = tosa.reverse %x {axis = 1 : i32} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}

// INPUT: 3xi1=1,0,1
// INPUT: 3xf32=1,2,3
// INPUT: 3xf32=4,5,6
// EXPECT: result[0]: 3xf32=[1, 5, 3]
func.func @select(%c: tensor<?xi1>, %x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %r = tosa.select %c, %x, %y : (tensor<?xi1>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// INPUT: 2x3xf32=1,2,3,4,5,6
// EXPECT: result[0]: 1x2xf32=[5, 6]
func.func @slice(%x: tensor<2x3xf32>) -> tensor<1x2xf32> {
  %s = tosa.const_shape {values = dense<[1, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %n = tosa.const_shape {values = dense<[1, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r = tosa.slice %x, %s, %n : (tensor<2x3xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x2xf32>
  return %r : tensor<1x2xf32>
}

// INPUT: 3xi8=-128,0,127
// EXPECT: result[0]: 3xi8=[5, 5, 5]
func.func @table(%x: tensor<?xi8>) -> tensor<?xi8> {
  %t = "tosa.const"() {values = dense<5> : tensor<256xi8>} : () -> tensor<256xi8>
  %r = tosa.table %x, %t : (tensor<?xi8>, tensor<256xi8>) -> tensor<?xi8>
  return %r : tensor<?xi8>
}

// INPUT: 1x2xf32=1,2
// EXPECT: result[0]: 2x4xf32=[1, 2, 1, 2, 1, 2, 1, 2]
func.func @tile(%x: tensor<1x2xf32>) -> tensor<2x4xf32> {
  %m = tosa.const_shape {values = dense<2> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r = tosa.tile %x, %m : (tensor<1x2xf32>, !tosa.shape<2>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// INPUT: 2x3xf32=1,2,3,4,5,6
// EXPECT: result[0]: 3x2xf32=[1, 4, 2, 5, 3, 6]
func.func @transpose(%x: tensor<2x?xf32>) -> tensor<?x2xf32> {
  %r = tosa.transpose %x {perms = array<i32: 1, 0>} : (tensor<2x?xf32>) -> tensor<?x2xf32>
  return %r : tensor<?x2xf32>
}

// -----
// TOLERANCE: 1e-5
// INPUT: 1x1x4xf32=1,2,3,4
// INPUT: 1x1x4xf32=0
// EXPECT: result[0]: 1x1x4xf32=[10, -2, -2, -2]
// EXPECT: result[1]: 1x1x4xf32=[0, 2, 0, -2]
func.func @fft2d(%re: tensor<1x1x4xf32>, %im: tensor<1x1x4xf32>) -> (tensor<1x1x4xf32>, tensor<1x1x4xf32>) {
  %a, %b = tosa.fft2d %re, %im {inverse = false} : (tensor<1x1x4xf32>, tensor<1x1x4xf32>) -> (tensor<1x1x4xf32>, tensor<1x1x4xf32>)
  return %a, %b : tensor<1x1x4xf32>, tensor<1x1x4xf32>
}

// INPUT: 1x1x4xf32=1,2,3,4
// EXPECT: result[0]: 1x1x3xf32=[10, -2, -2]
// EXPECT: result[1]: 1x1x3xf32=[0, 2, 0]
func.func @rfft2d(%re: tensor<1x1x4xf32>) -> (tensor<1x1x3xf32>, tensor<1x1x3xf32>) {
  %a, %b = tosa.rfft2d %re : (tensor<1x1x4xf32>) -> (tensor<1x1x3xf32>, tensor<1x1x3xf32>)
  return %a, %b : tensor<1x1x3xf32>, tensor<1x1x3xf32>
}

// -----
// INPUT: 1x3x2xf32=1,2,3,4,5,6
// INPUT: 1x2xi32=2,0
// INPUT: 1x2x2xf32=10,20,30,40
// EXPECT: result[0]: 1x3x2xf32=[30, 40, 3, 4, 10, 20]
func.func @scatter(%x: tensor<1x3x2xf32>, %i: tensor<1x2xi32>, %s: tensor<1x2x2xf32>) -> tensor<1x3x2xf32> {
  %r = tosa.scatter %x, %i, %s : (tensor<1x3x2xf32>, tensor<1x2xi32>, tensor<1x2x2xf32>) -> tensor<1x3x2xf32>
  return %r : tensor<1x3x2xf32>
}

// The batches and rows are known at the call.
// INPUT: 2x3x2xf32=1,2,3,4,5,6,7,8,9,10,11,12
// INPUT: 2x1xi32=2,0
// INPUT: 2x1x2xf32=10,20,30,40
// EXPECT: result[0]: 2x3x2xf32=[1, 2, 3, 4, 10, 20, 30, 40, 9, 10, 11, 12]
func.func @scatter_dynamic(%x: tensor<?x?x2xf32>, %i: tensor<?x?xi32>, %s: tensor<?x?x2xf32>) -> tensor<?x?x2xf32> {
  %r = tosa.scatter %x, %i, %s : (tensor<?x?x2xf32>, tensor<?x?xi32>, tensor<?x?x2xf32>) -> tensor<?x?x2xf32>
  return %r : tensor<?x?x2xf32>
}

// INPUT: 1x3x2xf32=1,2,3,4,5,6
// INPUT: 1x1xi32=3
// INPUT: 1x1x2xf32=10,20
// FAILS: in steps of 1 leaves dimension 1 of tensor<1x3x2xf32>, which has 3
func.func @scatter_outside(%x: tensor<1x3x2xf32>, %i: tensor<1x1xi32>, %s: tensor<1x1x2xf32>) -> tensor<1x3x2xf32> {
  %r = tosa.scatter %x, %i, %s : (tensor<1x3x2xf32>, tensor<1x1xi32>, tensor<1x1x2xf32>) -> tensor<1x3x2xf32>
  return %r : tensor<1x3x2xf32>
}

// -----
// INPUT: i1=1
// INPUT: 2xf32=1,3
// EXPECT: result[0]: 2xf32=[2, 6]
// CASE:
// INPUT: i1=0
// INPUT: 2xf32=1,3
// EXPECT: result[0]: 2xf32=[0, 0]
func.func @cond_if(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %r = tosa.cond_if %c (%x0 = %x) : tensor<i1> (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: tensor<2xf32>):
    %s = tosa.add %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    tosa.yield %s : tensor<2xf32>
  } else {
  ^bb0(%a: tensor<2xf32>):
    %s = tosa.sub %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    tosa.yield %s : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}

// -----
// INPUT: i32=3
// INPUT: 2xf32=1,3
// EXPECT: result[0]: 2xf32=[8, 24]
func.func @while_loop(%n: tensor<i32>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %zero = "tosa.const"() {values = dense<0> : tensor<i32>} : () -> tensor<i32>
  %one = "tosa.const"() {values = dense<1> : tensor<i32>} : () -> tensor<i32>
  %i, %r = tosa.while_loop (%j = %zero, %a = %x) : (tensor<i32>, tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>) {
    %more = tosa.greater %n, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>
    tosa.yield %more : tensor<i1>
  } do {
  ^bb0(%j: tensor<i32>, %a: tensor<2xf32>):
    %k = tosa.add %j, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %s = tosa.add %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    tosa.yield %k, %s : tensor<i32>, tensor<2xf32>
  }
  return %r : tensor<2xf32>
}

// -----
// Variables keep their values between calls.
// INPUT: i32=4
// EXPECT: result[0]: i32=5
// EXPECT: result[1]: i32=4
tosa.variable @counter = dense<5> : tensor<i32>
func.func @variable(%x: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %old = tosa.variable_read @counter : tensor<i32>
  tosa.variable_write @counter, %x : tensor<i32>
  %new = tosa.variable_read @counter : tensor<i32>
  return %old, %new : tensor<i32>, tensor<i32>
}

// -----
// REFUSED: tosa.custom: 'tosa.custom' is not supported
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %r = tosa.custom %x {operator_name = "mine", domain_name = "here", implementation_attrs = ""} : (tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// -----
// What is computed on shapes.
// EACH: OP
//      add_shape
//      sub_shape
//      mul_shape
//      div_ceil_shape
//      div_floor_shape
//      max_shape
//      min_shape
//      mod_shape
// REFUSED: tosa.$OP: 'tosa.$OP' is not supported: a shape must be a tosa.const_shape
func.func @main(%x: tensor<6xf32>) -> tensor<2x3xf32> {
  %n = tosa.const_shape {values = dense<[2, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %s = tosa.$OP %n, %n : (!tosa.shape<2>, !tosa.shape<2>) -> !tosa.shape<2>
  %r = tosa.reshape %x, %s : (tensor<6xf32>, !tosa.shape<2>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----
// EACH: OP
//      exp2_shape
//      log2_ceil_shape
//      log2_floor_shape
// REFUSED: tosa.$OP: 'tosa.$OP' is not supported: a shape must be a tosa.const_shape
func.func @main(%x: tensor<6xf32>) -> tensor<2x3xf32> {
  %n = tosa.const_shape {values = dense<[2, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %s = tosa.$OP %n : (!tosa.shape<2>) -> !tosa.shape<2>
  %r = tosa.reshape %x, %s : (tensor<6xf32>, !tosa.shape<2>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----
// REFUSED: tosa.concat_shape: 'tosa.concat_shape' is not supported: a shape must be a tosa.const_shape
func.func @main(%x: tensor<6xf32>) -> tensor<2x3xf32> {
  %n = tosa.const_shape {values = dense<2> : tensor<1xindex>} : () -> !tosa.shape<1>
  %t = tosa.const_shape {values = dense<3> : tensor<1xindex>} : () -> !tosa.shape<1>
  %s = tosa.concat_shape %n, %t : (!tosa.shape<1>, !tosa.shape<1>) -> !tosa.shape<2>
  %r = tosa.reshape %x, %s : (tensor<6xf32>, !tosa.shape<2>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----
// REFUSED: tosa.dim: 'tosa.dim' is not supported: a shape must be a tosa.const_shape
func.func @main(%x: tensor<6xf32>, %y: tensor<?x6xf32>) -> tensor<6xf32> {
  %n = tosa.dim %y {axis = 0 : i32} : (tensor<?x6xf32>) -> !tosa.shape<1>
  %r = tosa.reshape %x, %n : (tensor<6xf32>, !tosa.shape<1>) -> tensor<6xf32>
  return %r : tensor<6xf32>
}

// -----
// REFUSED: tosa.slice_shape: 'tosa.slice_shape' is not supported
func.func @main(%x: tensor<6xf32>) -> tensor<2x3xf32> {
  %t = tosa.const_shape {values = dense<[2, 3, 1]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %b = "tosa.const"() {values = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %n = "tosa.const"() {values = dense<2> : tensor<1xi32>} : () -> tensor<1xi32>
  %s = tosa.slice_shape %t, %b, %n : (!tosa.shape<3>, tensor<1xi32>, tensor<1xi32>) -> !tosa.shape<2>
  %r = tosa.reshape %x, %s : (tensor<6xf32>, !tosa.shape<2>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----
// Numbers with a scale for each block of them.
// REFUSED: tosa.cast_to_block_scaled: 'tosa.cast_to_block_scaled' is not supported
func.func @main(%x: tensor<1x32xf32>) -> tensor<1x32xf32> {
  %v, %s = tosa.cast_to_block_scaled %x {block_size = BLOCK_SIZE_32} : (tensor<1x32xf32>) -> (tensor<1x32xf8E4M3FN>, tensor<1x1xf8E8M0FNU>)
  %r = tosa.cast_from_block_scaled %v, %s {block_size = BLOCK_SIZE_32} : (tensor<1x32xf8E4M3FN>, tensor<1x1xf8E8M0FNU>) -> tensor<1x32xf32>
  return %r : tensor<1x32xf32>
}

// -----
// REFUSED: tosa.cast_from_block_scaled: is not supported
func.func @main() -> tensor<1x32xf32> {
  %v = arith.constant dense<1.0> : tensor<1x32xf8E4M3FN>
  %s = arith.constant dense<1.0> : tensor<1x1xf8E8M0FNU>
  %r = tosa.cast_from_block_scaled %v, %s {block_size = BLOCK_SIZE_32} : (tensor<1x32xf8E4M3FN>, tensor<1x1xf8E8M0FNU>) -> tensor<1x32xf32>
  return %r : tensor<1x32xf32>
}

// -----
// REFUSED: tosa.matmul_t_block_scaled: is not supported
func.func @main() -> tensor<1x1x1xf32> {
  %v = arith.constant dense<1.0> : tensor<1x1x32xf8E4M3FN>
  %s = arith.constant dense<1.0> : tensor<1x1x1xf8E8M0FNU>
  %r = tosa.matmul_t_block_scaled %v, %s, %v, %s {block_size = BLOCK_SIZE_32}
      : (tensor<1x1x32xf8E4M3FN>, tensor<1x1x1xf8E8M0FNU>, tensor<1x1x32xf8E4M3FN>, tensor<1x1x1xf8E8M0FNU>) -> tensor<1x1x1xf32>
  return %r : tensor<1x1x1xf32>
}
