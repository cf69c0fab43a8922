// Only a result whose extents are those of the argument is made in it; others are compared before they are copied.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// COUNT: copies=1
// CASE:
// INPUT: 3xi32=1 2 3
// INPUT: 3xi32=4 5 6
// EXPECT: result[0]: 3xi32=[8, 10, 12]

func.func @main(%x: tensor<?xi32> {plim.donate = 0}, %y: tensor<?xi32>) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %y, %c0 : tensor<?xi32>
  %e = tensor.empty(%n) : tensor<?xi32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %e) -> tensor<?xi32> {
    %v = tensor.extract %y[%i] : tensor<?xi32>
    %s = arith.addi %v, %v : i32
    %b = tensor.insert %s into %a[%i] : tensor<?xi32>
    scf.yield %b : tensor<?xi32>
  }
  return %r : tensor<?xi32>
}
