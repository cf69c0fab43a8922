// The named elementwise operations, linalg.map among them.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-6
// CASE:
// INPUT: 2x2xf32=1 4 9 16
// INPUT: 2x2xf32=2 -3 0.5 8
// EXPECT: result[0]: 2x2xf32=[[-1, -28], [-81, -256]]
// CASE:
// INPUT: 43x29xf32=rnd:1
// INPUT: 43x29xf32=rnd:2

func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %a, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %0 = linalg.sub ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>)
      outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = linalg.abs ins(%0 : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %2 = linalg.max ins(%1, %a : tensor<?x?xf32>, tensor<?x?xf32>)
      outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %3 = linalg.negf ins(%2 : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %4 = linalg.map {arith.minimumf} ins(%3, %b : tensor<?x?xf32>, tensor<?x?xf32>)
      outs(%e : tensor<?x?xf32>)
  %5 = linalg.elementwise kind = #linalg.elementwise_kind<mul>
      ins(%4, %a : tensor<?x?xf32>, tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %5 : tensor<?x?xf32>
}
