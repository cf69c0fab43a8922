// Three tensors side by side.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 2x1xf32=1 2
// INPUT: 2x2xf32=3 4 5 6
// INPUT: 2x1xf32=7 8
// EXPECT: result[0]: 2x4xf32=[[1, 3, 4, 7], [2, 5, 6, 8]]
// CASE:
// INPUT: 7x3xf32=rnd:1
// INPUT: 7x11xf32=rnd:2
// INPUT: 7x5xf32=rnd:3
// CASE:
// INPUT: 7x0xf32=[]
// INPUT: 7x1xf32=rnd:2
// INPUT: 7x0xf32=[]

func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = tensor.concat dim(1) %a, %b, %c
      : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
