// A slice is put into an argument, at a place that the call gives.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// COUNT: copies=0 allocations=1 dispatches=1
// CASE:
// INPUT: 2xi8=1 2
// INPUT: 5xi8=9 9 9 9 9
// INPUT: index=2
// EXPECT: result[0]: 5xi8=[9, 9, 1, 2, 9]
// CASE:
// INPUT: 2xi8=1 2
// INPUT: 259xi8=rnd:1
// INPUT: index=0

func.func @main(%x: tensor<2xi8>, %y: tensor<?xi8>, %i: index) -> tensor<?xi8> {
  %r = tensor.insert_slice %x into %y[%i] [2] [1] : tensor<2xi8> into tensor<?xi8>
  return %r : tensor<?xi8>
}
