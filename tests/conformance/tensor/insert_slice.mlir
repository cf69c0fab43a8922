// A patch written into a larger tensor; the original stays as it was.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 1x2xf32=9 8
// INPUT: 3x4xf32=0 1 2 3 4 5 6 7 8 9 10 11
// INPUT: index=1
// EXPECT: result[0]: 3x4xf32=[[0, 1, 2, 3], [4, 5, 9, 8], [8, 9, 10, 11]]
// EXPECT: result[1]: 3x4xf32=[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
// CASE:
// INPUT: 5x3xf32=rnd:1
// INPUT: 11x13xf32=rnd:2
// INPUT: index=4

func.func @main(%patch: tensor<?x?xf32>, %base: tensor<?x?xf32>, %row: index)
    -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %patch, %c0 : tensor<?x?xf32>
  %n = tensor.dim %patch, %c1 : tensor<?x?xf32>
  %r = tensor.insert_slice %patch into %base[%row, 2] [%m, %n] [1, 1]
      : tensor<?x?xf32> into tensor<?x?xf32>
  return %r, %base : tensor<?x?xf32>, tensor<?x?xf32>
}
