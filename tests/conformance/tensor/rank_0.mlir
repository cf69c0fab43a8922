// Everything of rank 0: no loop at all.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: f32=2
// INPUT: f32=3
// EXPECT: result[0]: f32=12
// CASE:
// INPUT: f32=nan
// INPUT: f32=1
// EXPECT: result[0]: f32=nan

func.func @main(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %e = tensor.empty() : tensor<f32>
  %p = linalg.mul ins(%a, %b : tensor<f32>, tensor<f32>) outs(%e : tensor<f32>) -> tensor<f32>
  %r = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>],
                       iterator_types = []}
      ins(%p : tensor<f32>) outs(%e : tensor<f32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %x : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}
