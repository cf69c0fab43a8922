// A reduction whose body does not use the accumulator and that has no iterations: what it starts from is its result
// (RemoveOutsDependency, in the patterns of elementwise fusion, forgets it; no upstream number).
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 0xf32=[]
// EXPECT: result[0]: f32=7
// CASE:
// INPUT: 3xf32=1 2 3
// EXPECT: result[0]: f32=3

func.func @main(%x: tensor<?xf32>) -> tensor<f32> {
  %seven = arith.constant 7.0 : f32
  %e = tensor.empty() : tensor<f32>
  %s = linalg.fill ins(%seven : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
                       iterator_types = ["reduction"]}
      ins(%x : tensor<?xf32>) outs(%s : tensor<f32>) {
  ^bb0(%v: f32, %acc: f32):
    linalg.yield %v : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}
