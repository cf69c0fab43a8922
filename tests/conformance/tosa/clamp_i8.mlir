// Clamp and the bitwise operations on i8.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 6xi8=-128 -5 0 5 100 127
// EXPECT: result[0]: 6xi8=[-10, -5, 0, 5, 50, 50]
// EXPECT: result[1]: 6xi8=[0, 11, 0, 5, 4, 15]
// CASE:
// INPUT: 6xi8=rnd:1

func.func @main(%x: tensor<6xi8>) -> (tensor<6xi8>, tensor<6xi8>) {
  %mask = "tosa.const"() {values = dense<15> : tensor<1xi8>} : () -> tensor<1xi8>
  %a = tosa.clamp %x {min_val = -10 : i8, max_val = 50 : i8} : (tensor<6xi8>) -> tensor<6xi8>
  %b = tosa.bitwise_and %x, %mask : (tensor<6xi8>, tensor<1xi8>) -> tensor<6xi8>
  return %a, %b : tensor<6xi8>, tensor<6xi8>
}
