// Sixteen dependent steps over a vector: one pass over memory when they are fused.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// CASE:
// INPUT: 13xf32=rnd:1
// CASE:
// INPUT: 65537xf32=rnd:2

func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %1 = linalg.add ins(%x, %x : tensor<?xf32>, tensor<?xf32>)
      outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %2 = linalg.mul ins(%1, %x : tensor<?xf32>, tensor<?xf32>)
      outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %3 = linalg.sub ins(%2, %1 : tensor<?xf32>, tensor<?xf32>)
      outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %4 = linalg.abs ins(%3 : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %5 = linalg.add ins(%4, %2 : tensor<?xf32>, tensor<?xf32>)
      outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %6 = linalg.mul ins(%5, %3 : tensor<?xf32>, tensor<?xf32>)
      outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %7 = linalg.negf ins(%6 : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %8 = linalg.max ins(%7, %x : tensor<?xf32>, tensor<?xf32>)
      outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %9 = linalg.add ins(%8, %4 : tensor<?xf32>, tensor<?xf32>)
      outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %10 = linalg.mul ins(%9, %9 : tensor<?xf32>, tensor<?xf32>)
      outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %11 = linalg.sub ins(%10, %8 : tensor<?xf32>, tensor<?xf32>)
      outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %12 = linalg.abs ins(%11 : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %13 = linalg.add ins(%12, %10 : tensor<?xf32>, tensor<?xf32>)
      outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %14 = linalg.mul ins(%13, %1 : tensor<?xf32>, tensor<?xf32>)
      outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %15 = linalg.sub ins(%14, %6 : tensor<?xf32>, tensor<?xf32>)
      outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %16 = linalg.add ins(%15, %x : tensor<?xf32>, tensor<?xf32>)
      outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %16 : tensor<?xf32>
}
