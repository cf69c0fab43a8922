// Single elements are put into a table.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// COUNT: copies=1 allocations=1 dispatches=1
// CASE:
// INPUT: i16=9
// INPUT: index=1
// EXPECT: result[0]: 3xi16=[1, 9, 3]

func.func @main(%x: i16, %i: index) -> tensor<3xi16> {
  %c = arith.constant dense<[1, 2, 3]> : tensor<3xi16>
  %r = tensor.insert %x into %c[%i] : tensor<3xi16>
  return %r : tensor<3xi16>
}
