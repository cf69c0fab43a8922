// A resource whose alignment is zero.
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
 %c = arith.constant dense_resource<r> : tensor<4xf32>
 return %c : tensor<4xf32>
}
{-#
 dialect_resources: { builtin: { r: "0x0000000000000000000000000000000000000000" } }
#-}
