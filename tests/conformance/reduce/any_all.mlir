// Logical reductions over i1.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 3x2xi1=0 0 0 1 1 1
// EXPECT: result[0]: 3xi1=[0, 1, 1]
// EXPECT: result[1]: 3xi1=[0, 0, 1]
// CASE:
// INPUT: 2x0xi1=[]
// EXPECT: result[0]: 2xi1=[0, 0]
// EXPECT: result[1]: 2xi1=[1, 1]
// CASE:
// INPUT: 41x3xi1=rnd:1

func.func @main(%x: tensor<?x?xi1>) -> (tensor<?xi1>, tensor<?xi1>) {
  %c0 = arith.constant 0 : index
  %false = arith.constant false
  %true = arith.constant true
  %m = tensor.dim %x, %c0 : tensor<?x?xi1>
  %e = tensor.empty(%m) : tensor<?xi1>
  %none = linalg.fill ins(%false : i1) outs(%e : tensor<?xi1>) -> tensor<?xi1>
  %every = linalg.fill ins(%true : i1) outs(%e : tensor<?xi1>) -> tensor<?xi1>
  %any = linalg.reduce {arith.ori} ins(%x : tensor<?x?xi1>) outs(%none : tensor<?xi1>)
      dimensions = [1]
  %all = linalg.reduce {arith.andi} ins(%x : tensor<?x?xi1>) outs(%every : tensor<?xi1>)
      dimensions = [1]
  return %any, %all : tensor<?xi1>, tensor<?xi1>
}
