// Arguments returned unchanged, once and twice.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 2x2xf32=1 2 3 4
// INPUT: i8=-5
// EXPECT: result[0]: 2x2xf32=[[1, 2], [3, 4]]
// EXPECT: result[1]: i8=-5
// EXPECT: result[2]: 2x2xf32=[[1, 2], [3, 4]]
// CASE:
// INPUT: 0x3xf32=[]
// INPUT: i8=127
// EXPECT: result[0]: 0x3xf32=[]
// EXPECT: result[1]: i8=127
// EXPECT: result[2]: 0x3xf32=[]

func.func @main(%x: tensor<?x?xf32>, %k: i8) -> (tensor<?x?xf32>, i8, tensor<?x?xf32>) {
  return %x, %k, %x : tensor<?x?xf32>, i8, tensor<?x?xf32>
}
