// A number in the place of an iterator type.
#m = affine_map<(i) -> (i)>
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %r = linalg.generic {indexing_maps = [#m, #m], iterator_types = [1]} ins(%x : tensor<3xf32>) outs(%x : tensor<3xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}
