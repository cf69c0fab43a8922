// tensor.reshape to a shape that is itself a tensor.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 6xf32=1 2 3 4 5 6
// INPUT: 2xindex=2 3
// EXPECT: result[0]: 2x3xf32=[[1, 2, 3], [4, 5, 6]]
// CASE:
// INPUT: 77xf32=rnd:1
// INPUT: 2xindex=7 11
// CASE:
// INPUT: 0xf32=[]
// INPUT: 2xindex=0 5
// EXPECT: result[0]: 0x5xf32=[]

func.func @main(%x: tensor<?xf32>, %shape: tensor<2xindex>) -> tensor<?x?xf32> {
  %r = tensor.reshape %x(%shape) : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
