// What overwrites a donated argument element by element does it in place, reductions before included.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-6
// COUNT: copies=0 allocations=2 dispatches=4 kernels=4
// CASE:
// INPUT: 4xf32=1 2 3 4
// EXPECT: result[0]: 4xf32=[10, 20, 30, 40]
// CASE:
// INPUT: 0xf32=
// EXPECT: result[0]: 0xf32=[]
// CASE:
// INPUT: 1031xf32=rnd:7

func.func @main(%x: tensor<?xf32> {plim.donate = 0}) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %s0 = tensor.empty() : tensor<f32>
  %s1 = linalg.fill ins(%zero : f32) outs(%s0 : tensor<f32>) -> tensor<f32>
  %sum = linalg.reduce ins(%x : tensor<?xf32>) outs(%s1 : tensor<f32>) dimensions = [0]
    (%a: f32, %b: f32) { %c = arith.addf %a, %b : f32  linalg.yield %c : f32 }
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}
      ins(%x, %sum : tensor<?xf32>, tensor<f32>) outs(%e : tensor<?xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %c = arith.mulf %a, %b : f32
      linalg.yield %c : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
