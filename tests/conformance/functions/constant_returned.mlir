// Constants returned: dense, splat, empty and scalar. The second call sees them unchanged.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// EXPECT: result[0]: 2x2xf32=[[1, 2], [3, 4]]
// EXPECT: result[1]: 3xi8=[-3, -3, -3]
// EXPECT: result[2]: 0x2xf32=[]
// EXPECT: result[3]: index=42

func.func @main() -> (tensor<2x2xf32>, tensor<3xi8>, tensor<0x2xf32>, index) {
  %a = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = arith.constant dense<-3> : tensor<3xi8>
  %c = arith.constant dense<> : tensor<0x2xf32>
  %d = arith.constant 42 : index
  return %a, %b, %c, %d : tensor<2x2xf32>, tensor<3xi8>, tensor<0x2xf32>, index
}
