// For RuntimeTest.c.
func.func @scale(%a: f32, %x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.map ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) (%v: f32, %init: f32) {
    %p = arith.mulf %v, %a : f32
    linalg.yield %p : f32
  }
  return %r : tensor<?xf32>
}
