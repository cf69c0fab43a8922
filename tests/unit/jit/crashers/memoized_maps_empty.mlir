// Attributes that upstream keeps for itself.
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %r = linalg.add {linalg.memoized_indexing_maps = []} ins(%x, %x : tensor<3xf32>, tensor<3xf32>) outs(%x : tensor<3xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}
