// A dynamic first dimension through elementwise TOSA.
// RUN-FUNCTION: @main
// TOLERANCE: 2e-6
// CASE:
// INPUT: 1x3xf32=1 -2 0.5
// INPUT: 1x3xf32=0 1 0
// EXPECT: result[0]: 1x3xf32=[[0.75, -0.5, 0.46211717]]
// CASE:
// INPUT: 0x3xf32=[]
// INPUT: 1x3xf32=0
// EXPECT: result[0]: 0x3xf32=[]
// CASE:
// INPUT: 53x3xf32=rnd:1
// INPUT: 1x3xf32=rnd:2

func.func @main(%x: tensor<?x3xf32>, %b: tensor<1x3xf32>) -> tensor<?x3xf32> {
  %a = tosa.add %x, %b : (tensor<?x3xf32>, tensor<1x3xf32>) -> tensor<?x3xf32>
  %t = tosa.tanh %a : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %c = tosa.clamp %t {min_val = -0.5 : f32, max_val = 0.75 : f32}
      : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %c : tensor<?x3xf32>
}
