// Slices are put into an argument one after the other: only the first one copies.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// COUNT: copies=0 allocations=1 dispatches=3 kernels=3
// CASE:
// INPUT: 2xf32=1 2
// INPUT: 6xf32=0
// EXPECT: result[0]: 6xf32=[1, 2, 1, 2, 1, 2]

func.func @main(%x: tensor<2xf32>, %y: tensor<6xf32>) -> tensor<6xf32> {
  %0 = tensor.insert_slice %x into %y[0] [2] [1] : tensor<2xf32> into tensor<6xf32>
  %1 = tensor.insert_slice %x into %0[2] [2] [1] : tensor<2xf32> into tensor<6xf32>
  %2 = tensor.insert_slice %x into %1[4] [2] [1] : tensor<2xf32> into tensor<6xf32>
  return %2 : tensor<6xf32>
}
