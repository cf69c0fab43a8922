// The accumulator starts from an argument, which must keep its value.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// CASE:
// INPUT: 2x2xf32=1 2 3 4
// INPUT: 2x2xf32=1 0 0 1
// INPUT: 2x2xf32=10 20 30 40
// EXPECT: result[0]: 2x2xf32=[[11, 22], [33, 44]]
// EXPECT: result[1]: 2x2xf32=[[10, 20], [30, 40]]
// CASE:
// INPUT: 31x17xf32=rnd:1
// INPUT: 17x23xf32=rnd:2
// INPUT: 31x23xf32=rnd:3

func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>)
    -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %p = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>)
      outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %p, %c : tensor<?x?xf32>, tensor<?x?xf32>
}
