// Two carried tensors change places each trip: neither can own one buffer.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: index=1
// INPUT: 2xf32=1 2
// INPUT: 2xf32=3 4
// EXPECT: result[0]: 2xf32=[3, 4]
// EXPECT: result[1]: 2xf32=[4, 6]
// CASE:
// INPUT: index=4
// INPUT: 2xf32=1 2
// INPUT: 2xf32=3 4
// EXPECT: result[0]: 2xf32=[11, 16]
// EXPECT: result[1]: 2xf32=[18, 26]
// CASE:
// INPUT: index=7
// INPUT: 67xf32=rnd:1
// INPUT: 67xf32=rnd:2

func.func @main(%trips: index, %x: tensor<?xf32>, %y: tensor<?xf32>)
    -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %r:2 = scf.for %i = %c0 to %trips step %c1 iter_args(%a = %x, %b = %y)
      -> (tensor<?xf32>, tensor<?xf32>) {
    %e = tensor.empty(%n) : tensor<?xf32>
    %sum = linalg.add ins(%a, %b : tensor<?xf32>, tensor<?xf32>)
        outs(%e : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %b, %sum : tensor<?xf32>, tensor<?xf32>
  }
  return %r#0, %r#1 : tensor<?xf32>, tensor<?xf32>
}
