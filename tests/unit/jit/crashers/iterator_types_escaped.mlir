// The same behind an escape in the name of the attribute.
#m = affine_map<(i) -> (i)>
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %r = linalg.generic {indexing_maps = [#m, #m], "iterator\5Ftypes" = [1]} ins(%x : tensor<3xf32>) outs(%x : tensor<3xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}
