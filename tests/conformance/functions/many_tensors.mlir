// Twenty temporaries alive in overlapping ranges: memory may be shared only where it is safe.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// CASE:
// INPUT: 3x3xf32=1 2 3 4 5 6 7 8 9
// EXPECT: result[0]: 3x3xf32=[[-4278600, -5256306, -6234012], [-5256990, -6458265, -7659540], [-6235380, -7660224, -9085068]]
// EXPECT: result[1]: 3x3xf32=[[-876, -1086, -1296], [-1050, -1299, -1548], [-1224, -1512, -1800]]
// CASE:
// INPUT: 19x19xf32=rnd:1

func.func @main(%x: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %e = tensor.empty(%n, %n) : tensor<?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %t0 = linalg.transpose ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>)
      permutation = [1, 0]
  %m0 = linalg.matmul ins(%t0, %x : tensor<?x?xf32>, tensor<?x?xf32>)
      outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  %a0 = linalg.abs ins(%m0 : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p0 = linalg.sub ins(%x, %a0 : tensor<?x?xf32>, tensor<?x?xf32>)
      outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %t1 = linalg.transpose ins(%p0 : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>)
      permutation = [1, 0]
  %m1 = linalg.matmul ins(%t1, %x : tensor<?x?xf32>, tensor<?x?xf32>)
      outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  %a1 = linalg.abs ins(%m1 : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p1 = linalg.sub ins(%m0, %a1 : tensor<?x?xf32>, tensor<?x?xf32>)
      outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %t2 = linalg.transpose ins(%p1 : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>)
      permutation = [1, 0]
  %m2 = linalg.matmul ins(%t2, %x : tensor<?x?xf32>, tensor<?x?xf32>)
      outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  %a2 = linalg.abs ins(%m2 : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p2 = linalg.sub ins(%m1, %a2 : tensor<?x?xf32>, tensor<?x?xf32>)
      outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %t3 = linalg.transpose ins(%p2 : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>)
      permutation = [1, 0]
  %m3 = linalg.matmul ins(%t3, %x : tensor<?x?xf32>, tensor<?x?xf32>)
      outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  %a3 = linalg.abs ins(%m3 : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p3 = linalg.sub ins(%m2, %a3 : tensor<?x?xf32>, tensor<?x?xf32>)
      outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %t4 = linalg.transpose ins(%p3 : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>)
      permutation = [1, 0]
  %m4 = linalg.matmul ins(%t4, %x : tensor<?x?xf32>, tensor<?x?xf32>)
      outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  %a4 = linalg.abs ins(%m4 : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p4 = linalg.sub ins(%m3, %a4 : tensor<?x?xf32>, tensor<?x?xf32>)
      outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %p4, %p1 : tensor<?x?xf32>, tensor<?x?xf32>
}
