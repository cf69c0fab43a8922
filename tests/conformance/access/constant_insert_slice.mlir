// A slice is put into a table, twice, from the table each time.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// COUNT: copies=0 allocations=2 dispatches=2 kernels=2 beside=2
// CASE:
// INPUT: 2xi32=7 8
// EXPECT: result[0]: 5xi32=[1, 7, 8, 4, 5]
// EXPECT: result[1]: 5xi32=[7, 2, 8, 4, 5]

func.func @main(%x: tensor<2xi32>) -> (tensor<5xi32>, tensor<5xi32>) {
  %c = arith.constant dense<[1, 2, 3, 4, 5]> : tensor<5xi32>
  %0 = tensor.insert_slice %x into %c[1] [2] [1] : tensor<2xi32> into tensor<5xi32>
  %1 = tensor.insert_slice %x into %c[0] [2] [2] : tensor<2xi32> into tensor<5xi32>
  return %0, %1 : tensor<5xi32>, tensor<5xi32>
}
