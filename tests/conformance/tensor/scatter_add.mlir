// A histogram: elements added at positions given by data, in order.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 5xi32=1 0 1 3 1
// INPUT: 4xf32=0
// EXPECT: result[0]: 4xf32=[1, 3, 0, 1]
// CASE:
// INPUT: 1000xi32=1
// INPUT: 3xf32=0.5
// EXPECT: result[0]: 3xf32=[0.5, 1000.5, 0.5]
// CASE:
// INPUT: 0xi32=[]
// INPUT: 3xf32=rnd:1

func.func @main(%where: tensor<?xi32>, %bins: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %n = tensor.dim %where, %c0 : tensor<?xi32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %bins) -> (tensor<?xf32>) {
    %k = tensor.extract %where[%i] : tensor<?xi32>
    %p = arith.index_cast %k : i32 to index
    %old = tensor.extract %t[%p] : tensor<?xf32>
    %new = arith.addf %old, %one : f32
    %u = tensor.insert %new into %t[%p] : tensor<?xf32>
    scf.yield %u : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
