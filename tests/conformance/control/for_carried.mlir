// A loop that carries a tensor and a scalar; no trip at all is one of the cases.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// CASE:
// INPUT: index=0
// INPUT: 3xf32=1 2 3
// EXPECT: result[0]: 3xf32=[1, 2, 3]
// EXPECT: result[1]: f32=1
// CASE:
// INPUT: index=1
// INPUT: 3xf32=1 2 3
// EXPECT: result[0]: 3xf32=[1.5, 2, 2.5]
// EXPECT: result[1]: f32=2
// CASE:
// INPUT: index=5
// INPUT: 3xf32=1 2 3
// EXPECT: result[0]: 3xf32=[21.34375, 21.375, 21.40625]
// EXPECT: result[1]: f32=32
// CASE:
// INPUT: index=9
// INPUT: 103xf32=rnd:1

func.func @main(%trips: index, %x: tensor<?xf32>) -> (tensor<?xf32>, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r:2 = scf.for %i = %c0 to %trips step %c1 iter_args(%t = %x, %s = %one)
      -> (tensor<?xf32>, f32) {
    %next = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>],
                            iterator_types = ["parallel"]}
        ins(%t : tensor<?xf32>) outs(%e : tensor<?xf32>) {
    ^bb0(%v: f32, %o: f32):
      %p = arith.mulf %v, %half : f32
      %q = arith.addf %p, %s : f32
      linalg.yield %q : f32
    } -> tensor<?xf32>
    %double = arith.addf %s, %s : f32
    scf.yield %next, %double : tensor<?xf32>, f32
  }
  return %r#0, %r#1 : tensor<?xf32>, f32
}
