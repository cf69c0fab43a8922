// An array of a type that arrays do not have.
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {a = array<index: 1>} {
  return %x : tensor<2x3xf32>
}
