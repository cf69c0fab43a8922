// Two arguments change places: neither may be overwritten before it is copied.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 3xi32=1 2 3
// INPUT: 3xi32=4 5 6
// EXPECT: result[0]: 3xi32=[4, 5, 6]
// EXPECT: result[1]: 3xi32=[1, 2, 3]

func.func @main(%x: tensor<3xi32> {plim.donate = 0}, %y: tensor<3xi32> {plim.donate = 1})
    -> (tensor<3xi32>, tensor<3xi32>) {
  return %y, %x : tensor<3xi32>, tensor<3xi32>
}
