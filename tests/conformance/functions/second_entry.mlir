// Two public functions, one calling the other; the second is run.
// RUN-FUNCTION: @second
// TOLERANCE: 0
// CASE:
// INPUT: 2xf32=1 2
// EXPECT: result[0]: 2xf32=[-1, -2]
// EXPECT: result[1]: 2xf32=[1, 2]
// CASE:
// INPUT: 29xf32=rnd:1

func.func @first(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.negf ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

func.func @second(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %a = call @first(%x) : (tensor<?xf32>) -> tensor<?xf32>
  %b = call @first(%a) : (tensor<?xf32>) -> tensor<?xf32>
  return %a, %b : tensor<?xf32>, tensor<?xf32>
}
