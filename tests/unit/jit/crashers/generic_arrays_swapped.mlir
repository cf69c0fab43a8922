// The two arrays of a generic op, each in the place of the other.
#m = affine_map<(i) -> (i)>
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %r = linalg.generic {indexing_maps = ["parallel"], iterator_types = [#m]} outs(%x : tensor<3xf32>) {
  ^bb0(%o: f32):
    linalg.yield %o : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}
