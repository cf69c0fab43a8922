// A matrix to one number, as a tensor of rank 0 and as a scalar.
// RUN-FUNCTION: @main
// TOLERANCE: 2e-5
// CASE:
// INPUT: 2x2xf32=1 2 3 4
// EXPECT: result[0]: f32=10
// EXPECT: result[1]: f32=10
// CASE:
// INPUT: 0x0xf32=[]
// EXPECT: result[0]: f32=0
// EXPECT: result[1]: f32=0
// CASE:
// INPUT: 211x307xf32=rnd:1
// CASE:
// INPUT: 1031x509xf32=0.5

func.func @main(%x: tensor<?x?xf32>) -> (tensor<f32>, f32) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r = linalg.reduce {arith.addf} ins(%x : tensor<?x?xf32>) outs(%z : tensor<f32>)
      dimensions = [0, 1]
  %s = tensor.extract %r[] : tensor<f32>
  return %r, %s : tensor<f32>, f32
}
