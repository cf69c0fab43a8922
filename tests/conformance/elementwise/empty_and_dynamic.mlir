// One extent is zero, the other one known to the call alone.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 0x2xi32=
// INPUT: 3x0xi32=
// EXPECT: result[0]: 0x2xi32=[]
// EXPECT: result[1]: 3x0xi32=[[], [], []]
// CASE:
// INPUT: 0x0xi32=
// INPUT: 0x0xi32=

func.func @main(%x: tensor<0x?xi32>, %y: tensor<?x0xi32>) -> (tensor<0x?xi32>, tensor<?x0xi32>) {
  %a = arith.addi %x, %x : tensor<0x?xi32>
  %b = arith.addi %y, %y : tensor<?x0xi32>
  return %a, %b : tensor<0x?xi32>, tensor<?x0xi32>
}
