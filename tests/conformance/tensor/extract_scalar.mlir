// Scalars taken out of a tensor decide about others.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 3xf32=1 2 3
// INPUT: index=1
// EXPECT: result[0]: f32=3
// EXPECT: result[1]: i1=1
// EXPECT: result[2]: 3xf32=[1, 3, 3]
// CASE:
// INPUT: 31xf32=rnd:1
// INPUT: index=30

func.func @main(%x: tensor<?xf32>, %i: index) -> (f32, i1, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %first = tensor.extract %x[%c0] : tensor<?xf32>
  %other = tensor.extract %x[%i] : tensor<?xf32>
  %sum = arith.addf %first, %other : f32
  %less = arith.cmpf olt, %first, %other : f32
  %r = tensor.insert %sum into %x[%i] : tensor<?xf32>
  return %sum, %less, %r : f32, i1, tensor<?xf32>
}
