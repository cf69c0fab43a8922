// Nothing else needs what is updated: three updates, one buffer.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-6
// COUNT: copies=0 allocations=1 dispatches=2 kernels=2
// CASE:
// INPUT: 3xf32=1 2 3
// EXPECT: result[0]: 3xf32=[9, 18, 27]
// CASE:
// INPUT: 1009xf32=rnd:1

#id = affine_map<(i) -> (i)>
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%acc = %f) -> tensor<?xf32> {
    %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf32>) outs(%acc : tensor<?xf32>) {
    ^bb0(%v: f32, %o: f32):
      %three = arith.constant 3.0 : f32
      %p = arith.mulf %v, %three : f32
      %q = arith.addf %p, %o : f32
      linalg.yield %q : f32
    } -> tensor<?xf32>
    scf.yield %s : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
