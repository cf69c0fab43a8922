// One branch yields the argument itself, the other a change of it.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: i1=1
// INPUT: 3xf32=1 2 3
// EXPECT: result[0]: 3xf32=[42, 2, 3]
// EXPECT: result[1]: 3xf32=[1, 2, 3]
// CASE:
// INPUT: i1=0
// INPUT: 3xf32=1 2 3
// EXPECT: result[0]: 3xf32=[1, 2, 3]
// EXPECT: result[1]: 3xf32=[1, 2, 3]

func.func @main(%c: i1, %x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %v = arith.constant 42.0 : f32
  %r = scf.if %c -> (tensor<?xf32>) {
    %a = tensor.insert %v into %x[%c0] : tensor<?xf32>
    scf.yield %a : tensor<?xf32>
  } else {
    scf.yield %x : tensor<?xf32>
  }
  return %r, %x : tensor<?xf32>, tensor<?xf32>
}
