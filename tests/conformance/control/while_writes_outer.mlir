// A while loop's second round begins with a tensor that the function made in front of the loop and returns, and adds to it: only
// what the loop hands on may change.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 3xi32=10 20 30
// INPUT: index=1
// EXPECT: result[0]: 3xi32=[4, 4, 4]
// EXPECT: result[1]: 3xi32=[3, 3, 3]
// CASE:
// INPUT: 1xi32=10
// INPUT: index=0
// EXPECT: result[0]: 1xi32=[4]
// EXPECT: result[1]: 1xi32=[9]

func.func @main(%x: tensor<?xi32>, %n: index) -> (tensor<?xi32>, tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %four = arith.constant 4 : i32
  %less = arith.constant -1 : i32
  %extent = tensor.dim %x, %c0 : tensor<?xi32>
  %e = tensor.empty(%extent) : tensor<?xi32>
  %fours = linalg.fill ins(%four : i32) outs(%e : tensor<?xi32>) -> tensor<?xi32>
  %r:2 = scf.while (%i = %c0, %a = %x) : (index, tensor<?xi32>) -> (index, tensor<?xi32>) {
    %f = tensor.empty(%extent) : tensor<?xi32>
    %filled = linalg.fill ins(%less : i32) outs(%f : tensor<?xi32>) -> tensor<?xi32>
    %sum = linalg.add ins(%a, %filled : tensor<?xi32>, tensor<?xi32>) outs(%filled : tensor<?xi32>) -> tensor<?xi32>
    %more = arith.cmpi ult, %i, %n : index
    scf.condition(%more) %i, %sum : index, tensor<?xi32>
  } do {
  ^bb0(%i: index, %b: tensor<?xi32>):
    %next = arith.addi %i, %c1 : index
    scf.yield %next, %fours : index, tensor<?xi32>
  }
  return %fours, %r#1 : tensor<?xi32>, tensor<?xi32>
}
