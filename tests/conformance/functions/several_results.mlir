// Results of several types, in order.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 3xf32=1 2 3
// INPUT: i32=7
// EXPECT: result[0]: i32=7
// EXPECT: result[1]: 3xf32=[2, 4, 6]
// EXPECT: result[2]: f64=7
// EXPECT: result[3]: i1=1
// EXPECT: result[4]: 2xi64=[1, -2]

func.func @main(%x: tensor<?xf32>, %k: i32) -> (i32, tensor<?xf32>, f64, i1, tensor<2xi64>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %s = linalg.add ins(%x, %x : tensor<?xf32>, tensor<?xf32>)
      outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %d = arith.sitofp %k : i32 to f64
  %t = arith.constant true
  %c = arith.constant dense<[1, -2]> : tensor<2xi64>
  return %k, %s, %d, %t, %c : i32, tensor<?xf32>, f64, i1, tensor<2xi64>
}
