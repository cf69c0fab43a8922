// A transpose in blocks of registers, and what blocks leave: fewer than a vector has, one more, none.
// RUN-FUNCTION: @main
// CASE:
// INPUT: 8x16xf32=rnd:1
// CASE:
// INPUT: 17x33xf32=rnd:2
// CASE:
// INPUT: 7x64xf32=rnd:3
// CASE:
// INPUT: 65x9xf32=rnd:4
// CASE:
// INPUT: 0x9xf32=[]
// EXPECT: result[0]: 9x0xf32=[]
// CASE:
// INPUT: 131x257xf32=rnd:5

func.func @main(%a: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %a, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %r = linalg.transpose ins(%a : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) permutation = [1, 0]
  return %r : tensor<?x?xf32>
}
