// What is returned is known at the call: the argument itself, or something else.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: i1=1
// INPUT: 3xf32=1 2 3
// INPUT: 3xf32=4 5 6
// EXPECT: result[0]: 3xf32=[1, 2, 3]
// CASE:
// INPUT: i1=0
// INPUT: 3xf32=1 2 3
// INPUT: 3xf32=4 5 6
// EXPECT: result[0]: 3xf32=[5, 7, 9]

func.func @main(%c: i1, %x: tensor<3xf32> {plim.donate = 0}, %y: tensor<3xf32>) -> tensor<3xf32> {
  %r = scf.if %c -> tensor<3xf32> {
    scf.yield %x : tensor<3xf32>
  } else {
    %e = tensor.empty() : tensor<3xf32>
    %s = linalg.add ins(%x, %y : tensor<3xf32>, tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
    scf.yield %s : tensor<3xf32>
  }
  return %r : tensor<3xf32>
}
