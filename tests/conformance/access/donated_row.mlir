// One row of a cache is replaced where it lies.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// COUNT: copies=0 allocations=0 dispatches=1
// CASE:
// INPUT: 3x2xf32=1 2 3 4 5 6
// INPUT: 1x2xf32=8 9
// INPUT: index=1
// EXPECT: result[0]: 3x2xf32=[[1, 2], [8, 9], [5, 6]]

func.func @main(%cache: tensor<?x2xf32> {plim.donate = 0}, %row: tensor<1x2xf32>, %i: index) -> tensor<?x2xf32> {
  %r = tensor.insert_slice %row into %cache[%i, 0] [1, 2] [1, 1] : tensor<1x2xf32> into tensor<?x2xf32>
  return %r : tensor<?x2xf32>
}
