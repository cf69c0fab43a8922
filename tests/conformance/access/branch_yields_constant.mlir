// A branch yields a table or an argument, which an op then updates.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// COUNT: copies=0 allocations=1 dispatches=2 kernels=2
// CASE:
// INPUT: i1=1
// INPUT: 3xf32=1 2 3
// EXPECT: result[0]: 3xf32=[10, 40, 90]
// CASE:
// INPUT: i1=0
// INPUT: 3xf32=1 2 3
// EXPECT: result[0]: 3xf32=[1, 4, 9]

#id = affine_map<(i) -> (i)>
func.func @main(%c: i1, %x: tensor<3xf32>) -> tensor<3xf32> {
  %table = arith.constant dense<[10.0, 20.0, 30.0]> : tensor<3xf32>
  %t = scf.if %c -> tensor<3xf32> {
    scf.yield %table : tensor<3xf32>
  } else {
    scf.yield %x : tensor<3xf32>
  }
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<3xf32>) outs(%t : tensor<3xf32>) {
  ^bb0(%v: f32, %o: f32):
    %s = arith.mulf %v, %o : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}
