// An i32 accumulator rescaled to i8 with a multiplier, a shift and an output zero point.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 5xi32=0 100 -100 100000 -7
// EXPECT: result[0]: 5xi8=[3, 53, -47, 127, 0]
// CASE:
// INPUT: 5xi32=rnd:1

func.func @main(%x: tensor<5xi32>) -> tensor<5xi8> {
  %multiplier = "tosa.const"() {values = dense<1073741824> : tensor<1xi32>} : () -> tensor<1xi32>
  %shift = "tosa.const"() {values = dense<31> : tensor<1xi8>} : () -> tensor<1xi8>
  %in_zp = "tosa.const"() {values = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %out_zp = "tosa.const"() {values = dense<3> : tensor<1xi8>} : () -> tensor<1xi8>
  %r = tosa.rescale %x, %multiplier, %shift, %in_zp, %out_zp
      {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false,
       input_unsigned = false, output_unsigned = false}
      : (tensor<5xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<5xi8>
  return %r : tensor<5xi8>
}
