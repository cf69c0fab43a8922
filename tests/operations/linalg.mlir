// Named structured operations: on tensors of dynamic extents, and on buffers in kernels.
// EACH: OP X WANT
//      abs 1.5,-2,0,-7 1.5,2,0,7
//      ceil 1.5,-1.5,0.25,3 2,-1,1,3
//      floor 1.5,-1.5,0.25,3 1,-2,0,3
//      exp 0.5,0.25,2,9 1.6487212707001282,1.2840254166877414,7.38905609893065,8103.083927575384
//      log 0.5,0.25,2,9 -0.6931471805599453,-1.3862943611198906,0.6931471805599453,2.1972245773362196
//      negf 1.5,-2,1,-7 -1.5,2,-1,7
//      reciprocal 0.5,0.25,2,9 2,4,0.5,0.1111111111111111
//      round 1.5,-1.5,0.25,2.5 2,-2,0,3
//      rsqrt 0.5,0.25,2,9 1.414213562373095,2,0.7071067811865475,0.3333333333333333
//      sqrt 0.5,0.25,2,9 0.7071067811865476,0.5,1.4142135623730951,3
//      square 0.5,0.25,2,9 0.25,0.0625,4,81
//      tanh 0.5,0.25,2,9 0.46211715726000974,0.24491866240370913,0.9640275800758169,0.999999969540041
//      erf 0.5,0.25,2,9 0.5204998778130465,0.2763263901682369,0.9953222650189527,1
// EACH: T TOL
//      f16 2e-3
//      f32 1e-6
//      f64 1e-14
// TOLERANCE: $TOL

// INPUT: 4x$T=$X
// INPUT: 4x$T=0
// EXPECT: arg[1]: 4x$T=[$WANT]
func.func @$OP_$T(%x: memref<4x$T>, %z: memref<4x$T>) {
  linalg.$OP ins(%x : memref<4x$T>) outs(%z : memref<4x$T>)
  return
}

// INPUT: 4x$T=$X
// EXPECT: result[0]: 4x$T=[$WANT]
func.func @$OP_tensor_$T(%x: tensor<?x$T>) -> tensor<?x$T> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x$T>
  %e = tensor.empty(%n) : tensor<?x$T>
  %r = linalg.$OP ins(%x : tensor<?x$T>) outs(%e : tensor<?x$T>) -> tensor<?x$T>
  return %r : tensor<?x$T>
}

// -----
// EACH: OP   X          Y          WANT
//      add  7,-2,9     2,2,-3     9,0,6
//      sub  7,-2,9     2,2,-3     5,-4,12
//      mul  7,-2,9     2,2,-3     14,-4,-27
//      div  8,-2,9     2,2,-3     4,-1,-3
//      max  7,-2,9     2,2,-3     7,2,9
//      min  7,-2,9     2,2,-3     2,-2,-3
// EACH: T = i8 i32 f16 f32 f64

// INPUT: 3x$T=$X
// INPUT: 3x$T=$Y
// INPUT: 3x$T=0
// EXPECT: arg[2]: 3x$T=[$WANT]
func.func @$OP_$T(%x: memref<3x$T>, %y: memref<3x$T>, %z: memref<3x$T>) {
  linalg.$OP ins(%x, %y : memref<3x$T>, memref<3x$T>) outs(%z : memref<3x$T>)
  return
}

// INPUT: 3x$T=$X
// INPUT: 3x$T=$Y
// EXPECT: result[0]: 3x$T=[$WANT]
func.func @$OP_tensor_$T(%x: tensor<?x$T>, %y: tensor<?x$T>) -> tensor<?x$T> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x$T>
  %e = tensor.empty(%n) : tensor<?x$T>
  %r = linalg.$OP ins(%x, %y : tensor<?x$T>, tensor<?x$T>) outs(%e : tensor<?x$T>) -> tensor<?x$T>
  return %r : tensor<?x$T>
}

// -----
// EACH: OP X Y WANT T
//      div_unsigned -2,7,9 -1,2,3 0,3,3 i32
//      powf 2,2.5,9 3,2,0.5 8,6.25,3 f32
// TOLERANCE: 1e-6

// INPUT: 3x$T=$X
// INPUT: 3x$T=$Y
// INPUT: 3x$T=0
// EXPECT: arg[2]: 3x$T=[$WANT]
func.func @$OP_$T(%x: memref<3x$T>, %y: memref<3x$T>, %z: memref<3x$T>) {
  linalg.$OP ins(%x, %y : memref<3x$T>, memref<3x$T>) outs(%z : memref<3x$T>)
  return
}

// INPUT: 3x$T=$X
// INPUT: 3x$T=$Y
// EXPECT: result[0]: 3x$T=[$WANT]
func.func @$OP_tensor_$T(%x: tensor<?x$T>, %y: tensor<?x$T>) -> tensor<?x$T> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x$T>
  %e = tensor.empty(%n) : tensor<?x$T>
  %r = linalg.$OP ins(%x, %y : tensor<?x$T>, tensor<?x$T>) outs(%e : tensor<?x$T>) -> tensor<?x$T>
  return %r : tensor<?x$T>
}

// -----
// Products. Sums begin with what is in the destination.
// EACH: OP AS BS CS AD BD CD AV BV INIT WANT
//      matmul 2x3 3x4 2x4 ?x? ?x? ?x? -1,1,-2,0,2,-1 1,-2,0,2,-1,1,-2,0,2,-1,1,-2 1 -5,6,-3,3,-3,4,-4,3
//      batch_matmul 2x2x3 2x3x2 2x2x2 ?x?x? ?x?x? ?x?x? -1,1,-2,0,2,-1,1,-2,0,2,-1,1 1,-2,0,2,-1,1,-2,0,2,-1,1,-2 1 2,3,2,4,-5,3,-4,0
//      batch_matvec 2x2x3 2x3 2x2 ?x?x? ?x? ?x? -1,1,-2,0,2,-1,1,-2,0,2,-1,1 1,-2,0,2,-1,1 1 -2,-3,5,7
//      batch_vecmat 2x3 2x3x2 2x2 ?x? ?x?x? ?x? -1,1,-2,0,2,-1 1,-2,0,2,-1,1,-2,0,2,-1,1,-2 1 2,3,4,1
//      batch_reduce_matmul 2x2x3 2x3x2 2x2 ?x?x? ?x?x? ?x? -1,1,-2,0,2,-1,1,-2,0,2,-1,1 1,-2,0,2,-1,1,-2,0,2,-1,1,-2 1 -4,5,-3,3
//      matvec 2x3 3 2 ?x? ? ? -1,1,-2,0,2,-1 1,-2,0 1 -2,-3
//      vecmat 3 3x2 2 ? ?x? ? -1,1,-2 1,-2,0,2,-1,1 1 2,3
//      mmt4d 1x2x2x2 2x2x3x2 1x2x2x3 ?x?x?x? ?x?x?x? ?x?x?x? -1,1,-2,0,2,-1,1,-2 1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2 1 -6,8,7,-3,5,8,8,7,1,5,8,1
//      batch_mmt4d 2x1x2x2x1 2x2x2x1x1 2x1x2x2x1 ?x?x?x?x? ?x?x?x?x? ?x?x?x?x? -1,1,-2,0,2,-1,1,-2 1,-2,0,2,-1,1,-2,0 1 4,2,-3,1,0,0,-3,3
// EACH: T U
//      f32 f32
//      f16 f32
//      f64 f64
//      i8 i32

// INPUT: $ASx$T=$AV
// INPUT: $BSx$T=$BV
// INPUT: $CSx$U=$INIT
// EXPECT: arg[2]: $CSx$U=[$WANT]
func.func @$OP_$T_$U(%a: memref<$ASx$T>, %b: memref<$BSx$T>, %c: memref<$CSx$U>) {
  linalg.$OP ins(%a, %b : memref<$ASx$T>, memref<$BSx$T>) outs(%c : memref<$CSx$U>)
  return
}

// INPUT: $ASx$T=$AV
// INPUT: $BSx$T=$BV
// INPUT: $CSx$U=$INIT
// EXPECT: result[0]: $CSx$U=[$WANT]
func.func @$OP_tensor_$T_$U(%a: tensor<$ADx$T>, %b: tensor<$BDx$T>, %c: tensor<$CDx$U>) -> tensor<$CDx$U> {
  %r = linalg.$OP ins(%a, %b : tensor<$ADx$T>, tensor<$BDx$T>) outs(%c : tensor<$CDx$U>) -> tensor<$CDx$U>
  return %r : tensor<$CDx$U>
}

// -----
// Convolutions.
// EACH: OP AS BS CS AD BD CD AV BV INIT WANT
//      conv_1d 4 3 2 ? ? ? -1,1,-2,0 1,-2,0 1 -2,6
//      conv_2d 3x4 2x3 2x2 ?x? ?x? ?x? -1,1,-2,0,2,-1,1,-2,0,2,-1,1 1,-2,0,2,-1,1 1 4,1,2,4
//      conv_3d 3x3x4 2x2x3 2x2x2 ?x?x? ?x?x? ?x?x? -1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1 1,-2,0,2,-1,1,-2,0,2,-1,1,-2 1 9,-3,6,9,5,-12,-3,5
//      conv_1d_ncw_fcw 1x2x4 2x2x3 1x2x2 ?x?x? ?x?x? ?x?x? -1,1,-2,0,2,-1,1,-2 1,-2,0,2,-1,1,-2,0,2,-1,1,-2 1 4,1,-6,5
//      conv_1d_nwc_wcf 1x4x2 3x2x2 1x2x2 ?x?x? ?x?x? ?x?x? -1,1,-2,0,2,-1,1,-2 1,-2,0,2,-1,1,-2,0,2,-1,1,-2 1 5,3,-1,10
//      conv_2d_nchw_fchw 1x2x3x4 2x2x2x3 1x2x2x2 ?x?x?x? ?x?x?x? ?x?x?x? -1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0 1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2 1 9,-3,6,9,5,-1,-4,5
//      conv_2d_nhwc_fhwc 1x3x4x2 2x2x3x2 1x2x2x2 ?x?x?x? ?x?x?x? ?x?x?x? -1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0 1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2 1 -10,-4,-4,-11,-6,13,-10,-4
//      conv_2d_nhwc_hwcf 1x3x4x2 2x3x2x2 1x2x2x2 ?x?x?x? ?x?x?x? ?x?x?x? -1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0 1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2 1 5,8,4,3,1,8,5,8
//      conv_2d_ngchw_fgchw 1x2x2x3x4 2x2x2x2x3 1x2x2x2x2 ?x?x?x?x? ?x?x?x?x? ?x?x?x?x? -1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2 1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0 1 9,-3,6,9,6,-4,1,6,-4,5,-3,-4,-4,-3,5,-4
//      conv_2d_ngchw_gfchw 1x2x2x3x4 2x2x2x2x3 1x2x2x2x2 ?x?x?x?x? ?x?x?x?x? ?x?x?x?x? -1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2 1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0 1 9,-3,6,9,5,-1,-4,5,1,6,6,1,-4,-3,5,-4
//      conv_2d_nhwgc_gfhwc 1x3x4x2x2 2x2x2x3x2 1x2x2x2x2 ?x?x?x?x? ?x?x?x?x? ?x?x?x?x? -1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2 1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0 1 -3,-1,-9,10,14,10,1,-1,10,-2,21,6,-3,-1,-9,10
//      conv_3d_ncdhw_fcdhw 1x2x3x3x4 2x2x2x2x3 1x2x2x2x2 ?x?x?x?x? ?x?x?x?x? ?x?x?x?x? -1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1 1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0 1 7,4,10,7,1,-17,4,1,13,-6,-3,13,0,1,-6,0
//      conv_3d_ndhwc_dhwcf 1x3x3x4x2 2x2x3x2x2 1x2x2x2x2 ?x?x?x?x? ?x?x?x?x? ?x?x?x?x? -1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1 1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0 1 12,10,-1,-6,10,11,12,10,-9,-17,-7,7,-1,-6,-9,-17
//      depthwise_conv_1d_ncw_cw 1x2x4 2x3 1x2x2 ?x?x? ?x? ?x?x? -1,1,-2,0,2,-1,1,-2 1,-2,0,2,-1,1 1 -2,6,7,-4
//      depthwise_conv_1d_nwc_wc 1x4x2 3x2 1x2x2 ?x?x? ?x? ?x?x? -1,1,-2,0,2,-1,1,-2 1,-2,0,2,-1,1 1 -2,-2,-2,-3
//      depthwise_conv_1d_nwc_wcm 1x4x2 3x2x2 1x2x2x2 ?x?x? ?x?x? ?x?x?x? -1,1,-2,0,2,-1,1,-2 1,-2,0,2,-1,1,-2,0,2,-1,1,-2 1 6,-1,0,5,-1,6,1,5
//      depthwise_conv_2d_nchw_chw 1x2x3x4 2x2x3 1x2x2x2 ?x?x?x? ?x?x? ?x?x?x? -1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0 1,-2,0,2,-1,1,-2,0,2,-1,1,-2 1 4,1,2,4,6,-3,5,6
//      depthwise_conv_2d_nhwc_hwc 1x3x4x2 2x3x2 1x2x2x2 ?x?x?x? ?x?x? ?x?x?x? -1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0 1,-2,0,2,-1,1,-2,0,2,-1,1,-2 1 -6,-3,-2,-1,0,-5,-6,-3
//      depthwise_conv_2d_nhwc_hwcm 1x3x4x2 2x3x2x2 1x2x2x2x2 ?x?x?x? ?x?x?x? ?x?x?x?x? -1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0 1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2 1 6,3,0,6,5,0,0,4,-3,6,5,3,6,3,0,6
//      depthwise_conv_3d_ncdhw_cdhw 1x2x3x3x4 2x2x2x3 1x2x2x2x2 ?x?x?x?x? ?x?x?x? ?x?x?x?x? -1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1 1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2 1 9,-3,6,9,5,-12,-3,5,-1,8,5,-1,-3,-4,8,-3
//      depthwise_conv_3d_ndhwc_dhwc 1x3x3x4x2 2x2x3x2 1x2x2x2x2 ?x?x?x?x? ?x?x?x? ?x?x?x?x? -1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1 1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2 1 -9,-9,5,6,-8,-9,-9,-9,19,11,-2,6,5,6,19,11
//      depthwise_conv_3d_ndhwc_dhwcm 1x3x3x4x2 2x2x3x2x2 1x2x2x2x2x2 ?x?x?x?x? ?x?x?x?x? ?x?x?x?x?x? -1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1 1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0 1 11,1,2,10,1,-3,-1,-2,1,10,10,2,11,1,2,10,-4,-12,-4,-4,-4,9,-2,-1,1,-3,-1,-2,-4,-12,-4,-4
// EACH: T U
//      f32 f32
//      i8 i32

// INPUT: $ASx$T=$AV
// INPUT: $BSx$T=$BV
// INPUT: $CSx$U=$INIT
// EXPECT: arg[2]: $CSx$U=[$WANT]
func.func @$OP_$T_$U(%a: memref<$ASx$T>, %b: memref<$BSx$T>, %c: memref<$CSx$U>) {
  linalg.$OP ins(%a, %b : memref<$ASx$T>, memref<$BSx$T>) outs(%c : memref<$CSx$U>)
  return
}

// INPUT: $ASx$T=$AV
// INPUT: $BSx$T=$BV
// INPUT: $CSx$U=$INIT
// EXPECT: result[0]: $CSx$U=[$WANT]
func.func @$OP_tensor_$T_$U(%a: tensor<$ADx$T>, %b: tensor<$BDx$T>, %c: tensor<$CDx$U>) -> tensor<$CDx$U> {
  %r = linalg.$OP ins(%a, %b : tensor<$ADx$T>, tensor<$BDx$T>) outs(%c : tensor<$CDx$U>) -> tensor<$CDx$U>
  return %r : tensor<$CDx$U>
}

// -----
// Quantised ones: the zero points are 1 and -1.
// EACH: OP AS BS CS AD BD CD AV BV INIT WANT
//      quantized_matmul 2x3 3x4 2x4 ?x? ?x? ?x? -1,1,-2,0,2,-1 1,-2,0,2,-1,1,-2,0,2,-1,1,-2 1 -12,3,-7,-2,-7,4,-5,1
//      quantized_batch_matmul 2x2x3 2x3x2 2x2x2 ?x?x? ?x?x? ?x?x? -1,1,-2,0,2,-1,1,-2,0,2,-1,1 1,-2,0,2,-1,1,-2,0,2,-1,1,-2 1 -3,-3,0,1,-10,2,-6,2
//      conv_2d_nchw_fchw_q 1x2x3x4 2x2x2x3 1x2x2x2 ?x?x?x? ?x?x?x? ?x?x?x? -1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0 1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2 1 -3,-16,-5,-3,-10,-17,-18,-10
//      conv_2d_ngchw_gfchw_q 1x2x2x3x4 2x2x2x2x3 1x2x2x2x2 ?x?x?x?x? ?x?x?x?x? ?x?x?x?x? -1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2 1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0 1 -3,-16,-5,-3,-10,-17,-18,-10,-11,-7,-5,-11,-14,-14,-4,-14
//      conv_2d_nhwc_fhwc_q 1x3x4x2 2x2x3x2 1x2x2x2 ?x?x?x? ?x?x?x? ?x?x?x? -1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0 1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2 1 -22,-19,-18,-28,-16,0,-22,-19
//      conv_2d_nhwc_hwcf_q 1x3x4x2 2x3x2x2 1x2x2x2 ?x?x?x? ?x?x?x? ?x?x?x? -1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0 1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2 1 -9,-5,-12,-12,-11,-3,-9,-5
//      conv_2d_nhwgc_gfhwc_q 1x3x4x2x2 2x2x2x3x2 1x2x2x2x2 ?x?x?x?x? ?x?x?x?x? ?x?x?x?x? -1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2 1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0 1 -11,-12,-25,-4,7,0,-14,-14,-4,-19,9,-4,-11,-12,-25,-4
//      conv_3d_ndhwc_dhwcf_q 1x3x3x4x2 2x2x3x2x2 1x2x2x2x2 ?x?x?x?x? ?x?x?x?x? ?x?x?x?x? -1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1 1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0 1 -11,-16,-23,-31,-14,-16,-11,-16,-30,-41,-27,-16,-23,-31,-30,-41
//      depthwise_conv_2d_nhwc_hwc_q 1x3x4x2 2x3x2 1x2x2x2 ?x?x?x? ?x?x? ?x?x?x? -1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0 1,-2,0,2,-1,1,-2,0,2,-1,1,-2 1 -17,-4,-9,-8,-10,-5,-17,-4
//      depthwise_conv_2d_nhwc_hwcm_q 1x3x4x2 2x3x2x2 1x2x2x2x2 ?x?x?x? ?x?x?x? ?x?x?x?x? -1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0 1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2 1 -5,-5,-3,1,-2,-4,-9,-7,-13,-1,3,-1,-5,-5,-3,1

// INPUT: $ASxi8=$AV
// INPUT: $BSxi8=$BV
// INPUT: i32=1
// INPUT: i32=-1
// INPUT: $CSxi32=$INIT
// EXPECT: arg[4]: $CSxi32=[$WANT]
func.func @$OP(%a: memref<$ASxi8>, %b: memref<$BSxi8>, %s: i32, %t: i32, %c: memref<$CSxi32>) {
  linalg.$OP ins(%a, %b, %s, %t : memref<$ASxi8>, memref<$BSxi8>, i32, i32) outs(%c : memref<$CSxi32>)
  return
}

// INPUT: $ASxi8=$AV
// INPUT: $BSxi8=$BV
// INPUT: i32=1
// INPUT: i32=-1
// INPUT: $CSxi32=$INIT
// EXPECT: result[0]: $CSxi32=[$WANT]
func.func @$OP_tensor(%a: tensor<$ADxi8>, %b: tensor<$BDxi8>, %s: i32, %t: i32, %c: tensor<$CDxi32>) -> tensor<$CDxi32> {
  %r = linalg.$OP ins(%a, %b, %s, %t : tensor<$ADxi8>, tensor<$BDxi8>, i32, i32) outs(%c : tensor<$CDxi32>) -> tensor<$CDxi32>
  return %r : tensor<$CDxi32>
}

// -----
// Pooling: of the window only the extents count.
// EACH: OP AS BS CS AD BD CD AV BV INIT WANT
//      pooling_nhwc_max 1x3x4x2 2x3 1x2x2x2 ?x?x?x? ?x? ?x?x?x? -1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0 1,-2,0,2,-1,1 1 2,2,2,1,1,2,2,2
//      pooling_nhwc_min 1x3x4x2 2x3 1x2x2x2 ?x?x?x? ?x? ?x?x?x? -1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0 1,-2,0,2,-1,1 1 -2,-1,-2,-2,-2,-2,-2,-1
//      pooling_nhwc_sum 1x3x4x2 2x3 1x2x2x2 ?x?x?x? ?x? ?x?x?x? -1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0 1,-2,0,2,-1,1 1 -3,4,1,-2,-2,5,-3,4
//      pooling_nchw_max 1x2x3x4 2x3 1x2x2x2 ?x?x?x? ?x? ?x?x?x? -1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0 1,-2,0,2,-1,1 1 2,1,2,2,2,2,1,2
//      pooling_nchw_sum 1x2x3x4 2x3 1x2x2x2 ?x?x?x? ?x? ?x?x?x? -1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0 1,-2,0,2,-1,1 1 1,-2,4,1,0,2,-2,0
//      pooling_nwc_max 1x4x2 3 1x2x2 ?x?x? ? ?x?x? -1,1,-2,0,2,-1,1,-2 1,-2,0 1 2,1,2,1
//      pooling_nwc_min 1x4x2 3 1x2x2 ?x?x? ? ?x?x? -1,1,-2,0,2,-1,1,-2 1,-2,0 1 -2,-1,-2,-2
//      pooling_nwc_sum 1x4x2 3 1x2x2 ?x?x? ? ?x?x? -1,1,-2,0,2,-1,1,-2 1,-2,0 1 0,1,2,-2
//      pooling_ncw_max 1x2x4 3 1x2x2 ?x?x? ? ?x?x? -1,1,-2,0,2,-1,1,-2 1,-2,0 1 1,1,2,1
//      pooling_ncw_sum 1x2x4 3 1x2x2 ?x?x? ? ?x?x? -1,1,-2,0,2,-1,1,-2 1,-2,0 1 -1,0,3,-1
//      pooling_ndhwc_max 1x3x3x4x2 2x2x3 1x2x2x2x2 ?x?x?x?x? ?x?x? ?x?x?x?x? -1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1 1,-2,0,2,-1,1,-2,0,2,-1,1,-2 1 2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2
//      pooling_ndhwc_min 1x3x3x4x2 2x2x3 1x2x2x2x2 ?x?x?x?x? ?x?x? ?x?x?x?x? -1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1 1,-2,0,2,-1,1,-2,0,2,-1,1,-2 1 -2,-2,-2,-2,-2,-2,-2,-2,-2,-2,-2,-2,-2,-2,-2,-2
//      pooling_ndhwc_sum 1x3x3x4x2 2x2x3 1x2x2x2x2 ?x?x?x?x? ?x?x? ?x?x?x?x? -1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1 1,-2,0,2,-1,1,-2,0,2,-1,1,-2 1 1,0,4,-2,-2,2,1,0,2,1,0,4,4,-2,2,1
// EACH: T U
//      f32 f32
//      i32 i32

// INPUT: $ASx$T=$AV
// INPUT: $BSx$T=$BV
// INPUT: $CSx$U=$INIT
// EXPECT: arg[2]: $CSx$U=[$WANT]
func.func @$OP_$T_$U(%a: memref<$ASx$T>, %b: memref<$BSx$T>, %c: memref<$CSx$U>) {
  linalg.$OP ins(%a, %b : memref<$ASx$T>, memref<$BSx$T>) outs(%c : memref<$CSx$U>)
  return
}

// INPUT: $ASx$T=$AV
// INPUT: $BSx$T=$BV
// INPUT: $CSx$U=$INIT
// EXPECT: result[0]: $CSx$U=[$WANT]
func.func @$OP_tensor_$T_$U(%a: tensor<$ADx$T>, %b: tensor<$BDx$T>, %c: tensor<$CDx$U>) -> tensor<$CDx$U> {
  %r = linalg.$OP ins(%a, %b : tensor<$ADx$T>, tensor<$BDx$T>) outs(%c : tensor<$CDx$U>) -> tensor<$CDx$U>
  return %r : tensor<$CDx$U>
}

// -----
// Unsigned: -1 is the largest number.
// EACH: OP AS BS CS AD BD CD AV BV INIT WANT
//      pooling_nhwc_max_unsigned 1x3x4x2 2x3 1x2x2x2 ?x?x?x? ?x? ?x?x?x? -1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0 1,-2,0,2,-1,1 1 -1,-1,-1,-1,-1,-2,-1,-1
//      pooling_nhwc_min_unsigned 1x3x4x2 2x3 1x2x2x2 ?x?x?x? ?x? ?x?x?x? -1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0,2,-1,1,-2,0 1,-2,0,2,-1,1 1 0,0,1,0,0,0,0,0
//      pooling_nwc_max_unsigned 1x4x2 3 1x2x2 ?x?x? ? ?x?x? -1,1,-2,0,2,-1,1,-2 1,-2,0 1 -1,-1,-2,-1
//      pooling_nwc_min_unsigned 1x4x2 3 1x2x2 ?x?x? ? ?x?x? -1,1,-2,0,2,-1,1,-2 1,-2,0 1 1,0,1,0

// INPUT: $ASxi32=$AV
// INPUT: $BSxi32=$BV
// INPUT: $CSxi32=$INIT
// EXPECT: arg[2]: $CSxi32=[$WANT]
func.func @$OP_i32_i32(%a: memref<$ASxi32>, %b: memref<$BSxi32>, %c: memref<$CSxi32>) {
  linalg.$OP ins(%a, %b : memref<$ASxi32>, memref<$BSxi32>) outs(%c : memref<$CSxi32>)
  return
}

// INPUT: $ASxi32=$AV
// INPUT: $BSxi32=$BV
// INPUT: $CSxi32=$INIT
// EXPECT: result[0]: $CSxi32=[$WANT]
func.func @$OP_tensor_i32_i32(%a: tensor<$ADxi32>, %b: tensor<$BDxi32>, %c: tensor<$CDxi32>) -> tensor<$CDxi32> {
  %r = linalg.$OP ins(%a, %b : tensor<$ADxi32>, tensor<$BDxi32>) outs(%c : tensor<$CDxi32>) -> tensor<$CDxi32>
  return %r : tensor<$CDxi32>
}

// -----

// INPUT: 3xf32=1,2,3
// INPUT: 3xf32=4,5,6
// INPUT: f32=10
// EXPECT: result[0]: f32=42
func.func @dot_tensor(%x: tensor<?xf32>, %y: tensor<?xf32>, %z: tensor<f32>) -> tensor<f32> {
  %r = linalg.dot ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%z : tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}

// INPUT: 3xf32=1,2,3
// INPUT: 3xf32=4,5,6
// INPUT: 1xf32=10
// EXPECT: arg[2]: 1xf32=[42]
func.func @dot(%x: memref<?xf32>, %y: memref<?xf32>, %z: memref<1xf32>) {
  %s = memref.collapse_shape %z [] : memref<1xf32> into memref<f32>
  linalg.dot ins(%x, %y : memref<?xf32>, memref<?xf32>) outs(%s : memref<f32>)
  return
}

// INPUT: 2x3xf32=1,2,3,4,5,6
// INPUT: 2x3xf32=1,0,1,2,1,0
// INPUT: 2x2xf32=0
// EXPECT: result[0]: 2x2xf32=[4, 4, 10, 13]
func.func @contract_tensor(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %z: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.contract indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
      ins(%x, %y : tensor<?x?xf32>, tensor<?x?xf32>) outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// INPUT: 2x3xf32=1,2,3,4,5,6
// INPUT: 2x3xf32=1,0,1,2,1,0
// INPUT: 2x2xf32=0
// EXPECT: arg[2]: 2x2xf32=[4, 4, 10, 13]
func.func @contract(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %z: memref<?x?xf32>) {
  linalg.contract indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
      ins(%x, %y : memref<?x?xf32>, memref<?x?xf32>) outs(%z : memref<?x?xf32>)
  return
}

// INPUT: 3xf32=1,2,3
// INPUT: 3xf32=4,5,6
// INPUT: 3xf32=0
// EXPECT: result[0]: 3xf32=[5, 7, 9]
func.func @elementwise_tensor(%x: tensor<?xf32>, %y: tensor<?xf32>, %z: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.elementwise kind=#linalg.elementwise_kind<add> ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%z : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// INPUT: 3xf32=1,2,3
// INPUT: 3xf32=4,5,6
// INPUT: 3xf32=0
// EXPECT: arg[2]: 3xf32=[4, 10, 18]
func.func @elementwise(%x: memref<?xf32>, %y: memref<?xf32>, %z: memref<?xf32>) {
  linalg.elementwise kind=#linalg.elementwise_kind<mul> ins(%x, %y : memref<?xf32>, memref<?xf32>) outs(%z : memref<?xf32>)
  return
}

// INPUT: 3xf32=1,2,3
// INPUT: 2x3xf32=0
// EXPECT: result[0]: 2x3xf32=[1, 2, 3, 1, 2, 3]
func.func @broadcast_tensor(%x: tensor<?xf32>, %z: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.broadcast ins(%x : tensor<?xf32>) outs(%z : tensor<?x?xf32>) dimensions = [0]
  return %r : tensor<?x?xf32>
}

// INPUT: 3xf32=1,2,3
// INPUT: 2x3xf32=0
// EXPECT: arg[1]: 2x3xf32=[1, 2, 3, 1, 2, 3]
func.func @broadcast(%x: memref<?xf32>, %z: memref<?x?xf32>) {
  linalg.broadcast ins(%x : memref<?xf32>) outs(%z : memref<?x?xf32>) dimensions = [0]
  return
}

// INPUT: 2x3xf32=1,2,3,4,5,6
// INPUT: 3x2xf32=0
// EXPECT: result[0]: 3x2xf32=[1, 4, 2, 5, 3, 6]
func.func @transpose_tensor(%x: tensor<?x?xf32>, %z: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.transpose ins(%x : tensor<?x?xf32>) outs(%z : tensor<?x?xf32>) permutation = [1, 0]
  return %r : tensor<?x?xf32>
}

// INPUT: 2x3xf32=1,2,3,4,5,6
// INPUT: 3x2xf32=0
// EXPECT: arg[1]: 3x2xf32=[1, 4, 2, 5, 3, 6]
func.func @transpose(%x: memref<?x?xf32>, %z: memref<?x?xf32>) {
  linalg.transpose ins(%x : memref<?x?xf32>) outs(%z : memref<?x?xf32>) permutation = [1, 0]
  return
}

// INPUT: 3xf32=1,2,3
// INPUT: 3xf32=0
// EXPECT: result[0]: 3xf32=[1, 2, 3]
func.func @copy_tensor(%x: tensor<?xf32>, %z: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.copy ins(%x : tensor<?xf32>) outs(%z : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// INPUT: 3xf32=1,2,3
// INPUT: 3xf32=0
// EXPECT: arg[1]: 3xf32=[1, 2, 3]
func.func @copy(%x: memref<?xf32>, %z: memref<?xf32>) {
  linalg.copy ins(%x : memref<?xf32>) outs(%z : memref<?xf32>)
  return
}

// INPUT: f32=4
// INPUT: 3xf32=0
// EXPECT: result[0]: 3xf32=[4, 4, 4]
func.func @fill_tensor(%v: f32, %z: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.fill ins(%v : f32) outs(%z : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// INPUT: f32=4
// INPUT: 3xf32=0
// EXPECT: arg[1]: 3xf32=[4, 4, 4]
func.func @fill(%v: f32, %z: memref<?xf32>) {
  linalg.fill ins(%v : f32) outs(%z : memref<?xf32>)
  return
}

// INPUT: 2x3xf32=1,2,3,4,5,6
// INPUT: 2xf32=10,20
// EXPECT: result[0]: 2xf32=[16, 35]
func.func @reduce_tensor(%x: tensor<?x?xf32>, %z: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.reduce ins(%x : tensor<?x?xf32>) outs(%z : tensor<?xf32>) dimensions = [1]
      (%a: f32, %s: f32) {
        %t = arith.addf %s, %a : f32
        linalg.yield %t : f32
      }
  return %r : tensor<?xf32>
}

// INPUT: 2x3xf32=1,2,3,4,5,6
// INPUT: 2xf32=10,20
// EXPECT: arg[1]: 2xf32=[16, 35]
func.func @reduce(%x: memref<?x?xf32>, %z: memref<?xf32>) {
  linalg.reduce ins(%x : memref<?x?xf32>) outs(%z : memref<?xf32>) dimensions = [1]
      (%a: f32, %s: f32) {
        %t = arith.addf %s, %a : f32
        linalg.yield %t : f32
      }
  return
}

// INPUT: 3xf32=1,2,3
// INPUT: 3xf32=0
// EXPECT: arg[1]: 3xf32=[2, 4, 6]
func.func @map(%x: memref<?xf32>, %z: memref<?xf32>) {
  linalg.map ins(%x : memref<?xf32>) outs(%z : memref<?xf32>) (%a: f32, %o: f32) {
    %t = arith.addf %a, %a : f32
    linalg.yield %t : f32
  }
  return
}

// INPUT: 3xf32=1,2,3
// INPUT: 3xindex=0
// EXPECT: result[0]: 3xf32=[2, 4, 6]
// EXPECT: result[1]: 3xindex=[0, 1, 2]
func.func @map_index_tensor(%x: tensor<?xf32>, %z: tensor<?xindex>) -> (tensor<?xf32>, tensor<?xindex>) {
  %m = linalg.map ins(%x : tensor<?xf32>) outs(%x : tensor<?xf32>) (%a: f32, %o: f32) {
    %t = arith.addf %a, %a : f32
    linalg.yield %t : f32
  }
  %i = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%z : tensor<?xindex>) {
  ^bb0(%o: index):
    %j = linalg.index 0 : index
    linalg.yield %j : index
  } -> tensor<?xindex>
  return %m, %i : tensor<?xf32>, tensor<?xindex>
}

// INPUT: 3xindex=0
// EXPECT: arg[0]: 3xindex=[0, 1, 2]
func.func @generic_index(%z: memref<?xindex>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%z : memref<?xindex>) {
  ^bb0(%o: index):
    %j = linalg.index 0 : index
    linalg.yield %j : index
  }
  return
}

// INPUT: 3xi1=1,0,1
// INPUT: 3xf32=1,2,3
// INPUT: 3xf32=4,5,6
// EXPECT: result[0]: 3xf32=[1, 5, 3]
func.func @select_tensor(%c: tensor<?xi1>, %x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.select ins(%c, %x, %y : tensor<?xi1>, tensor<?xf32>, tensor<?xf32>) outs(%x : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// INPUT: 3xi1=1,0,1
// INPUT: 3xf32=1,2,3
// INPUT: 3xf32=4,5,6
// INPUT: 3xf32=0
// EXPECT: arg[3]: 3xf32=[1, 5, 3]
func.func @select(%c: memref<?xi1>, %x: memref<?xf32>, %y: memref<?xf32>, %z: memref<?xf32>) {
  linalg.select ins(%c, %x, %y : memref<?xi1>, memref<?xf32>, memref<?xf32>) outs(%z : memref<?xf32>)
  return
}

// -----
// TOLERANCE: 1e-6
// INPUT: 2x3xf32=1,2,3,1,1,1
// EXPECT: result[0]: 2x3xf32=[0.0900305731703805, 0.244728471054798, 0.665240955774822, 0.333333333333333, 0.333333333333333, 0.333333333333333]
func.func @softmax_tensor(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.softmax dimension(1) ins(%x : tensor<?x?xf32>) outs(%x : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----
// A seed makes numbers between two bounds: each pseudo-random, and the same every time.
// INPUT: f64=5
// INPUT: f64=5
// INPUT: i32=42
// INPUT: 2x2xf32=0
// EXPECT: result[0]: 2x2xf32=[5, 5, 5, 5]
func.func @fill_rng_2d_tensor(%a: f64, %b: f64, %seed: i32, %z: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.fill_rng_2d ins(%a, %b, %seed : f64, f64, i32) outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// INPUT: f64=5
// INPUT: f64=5
// INPUT: i32=42
// INPUT: 2x2xf32=0
// EXPECT: arg[3]: 2x2xf32=[5, 5, 5, 5]
func.func @fill_rng_2d(%a: f64, %b: f64, %seed: i32, %z: memref<?x?xf32>) {
  linalg.fill_rng_2d ins(%a, %b, %seed : f64, f64, i32) outs(%z : memref<?x?xf32>)
  return
}

// -----
// INPUT: 3x4xf32=1,2,3,4,5,6,7,8,9,10,11,12
// EXPECT: result[0]: 2x2x2x2xf32=[1, 2, 5, 6, 3, 4, 7, 8, 9, 10, 0, 0, 11, 12, 0, 0]
// EXPECT: result[1]: 3x4xf32=[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
func.func @pack_unpack_tensor(%x: tensor<3x4xf32>) -> (tensor<2x2x2x2xf32>, tensor<3x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2x2x2xf32>
  %p = linalg.pack %x padding_value(%zero : f32) inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %e
      : tensor<3x4xf32> -> tensor<2x2x2x2xf32>
  %f = tensor.empty() : tensor<3x4xf32>
  %u = linalg.unpack %p inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %f
      : tensor<2x2x2x2xf32> -> tensor<3x4xf32>
  return %p, %u : tensor<2x2x2x2xf32>, tensor<3x4xf32>
}

// -----
// A tile whose size is known at the call.
// INPUT: 3x4xf32=1,2,3,4,5,6,7,8,9,10,11,12
// INPUT: index=2
// EXPECT: result[0]: 2x4x2xf32=[1, 5, 2, 6, 3, 7, 4, 8, 9, 0, 10, 0, 11, 0, 12, 0]
func.func @pack_dynamic_tile(%x: tensor<?x4xf32>, %t: index) -> tensor<?x4x?xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %tiles = arith.ceildivui %n, %t : index
  %e = tensor.empty(%tiles, %t) : tensor<?x4x?xf32>
  %p = linalg.pack %x padding_value(%zero : f32) inner_dims_pos = [0] inner_tiles = [%t] into %e
      : tensor<?x4xf32> -> tensor<?x4x?xf32>
  return %p : tensor<?x4x?xf32>
}

// -----
// INPUT: 2x4x2xf32=1,5,2,6,3,7,4,8,9,0,10,0,11,0,12,0
// INPUT: index=2
// INPUT: index=3
// EXPECT: result[0]: 3x4xf32=[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
func.func @unpack_dynamic_tile(%x: tensor<?x4x?xf32>, %t: index, %n: index) -> tensor<?x4xf32> {
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %p = linalg.unpack %x inner_dims_pos = [0] inner_tiles = [%t] into %e
      : tensor<?x4x?xf32> -> tensor<?x4xf32>
  return %p : tensor<?x4xf32>
}

// -----
// The three transforms of F(2x2, 3x3) around a product make a convolution: sums of windows of 3x3.
// TOLERANCE: 1e-6
// INPUT: 1x4x4x1xf32=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16
// INPUT: 1x3x3x1xf32=1
// EXPECT: result[0]: 1x2x2x1xf32=[54, 63, 90, 99]
func.func @winograd_tensor(%x: tensor<1x4x4x1xf32>, %f: tensor<1x3x3x1xf32>) -> tensor<1x2x2x1xf32> {
  %e0 = tensor.empty() : tensor<4x4x1x1xf32>
  %g = linalg.winograd_filter_transform fmr(F_2_3) ins(%f : tensor<1x3x3x1xf32>) outs(%e0 : tensor<4x4x1x1xf32>) -> tensor<4x4x1x1xf32>
  %e1 = tensor.empty() : tensor<4x4x1x1x1x1xf32>
  %d = linalg.winograd_input_transform fmr(F_2_3) ins(%x : tensor<1x4x4x1xf32>) outs(%e1 : tensor<4x4x1x1x1x1xf32>) -> tensor<4x4x1x1x1x1xf32>
  %g6 = tensor.expand_shape %g [[0], [1], [2, 3, 4], [5]] output_shape [4, 4, 1, 1, 1, 1] : tensor<4x4x1x1xf32> into tensor<4x4x1x1x1x1xf32>
  %p = arith.mulf %d, %g6 : tensor<4x4x1x1x1x1xf32>
  %zero = arith.constant dense<0.0> : tensor<1x2x2x1xf32>
  %r = linalg.winograd_output_transform fmr(F_2_3) ins(%p : tensor<4x4x1x1x1x1xf32>) outs(%zero : tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  return %r : tensor<1x2x2x1xf32>
}

// -----
// REFUSED: linalg.softmax: it works on tensors, not on memrefs
func.func @main(%x: memref<2x3xf32>) {
  linalg.softmax dimension(1) ins(%x : memref<2x3xf32>) outs(%x : memref<2x3xf32>)
  return
}

// -----
// Its attributes as aliases: of all, and of an array in them.
// INPUT: 3xf32=1,2,3
// EXPECT: result[0]: 3xf32=[2, 4, 6]
#maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>]
#loops = ["parallel"]
#trait = {indexing_maps = #maps, iterator_types = #loops}
func.func @generic_trait(%x: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic #trait ins(%x : tensor<?xf32>) outs(%x : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
