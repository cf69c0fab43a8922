// One value is returned in two places: the caller gets two buffers of its own.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 3xf32=1 2 3
// EXPECT: result[0]: 3xf32=[1, 4, 9]
// EXPECT: result[1]: 3xf32=[1, 4, 9]
// CASE:
// INPUT: 0xf32=[]
// EXPECT: result[0]: 0xf32=[]
// EXPECT: result[1]: 0xf32=[]

func.func @main(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %s = linalg.mul ins(%x, %x : tensor<?xf32>, tensor<?xf32>)
      outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %s, %s : tensor<?xf32>, tensor<?xf32>
}
