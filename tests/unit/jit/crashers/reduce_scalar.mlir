// A reduction of a scalar.
func.func @main(%x: f32, %y: f32) -> f32 {
  %r = linalg.reduce { arith.addf } ins(%x : f32) outs(%y : f32) dimensions = []
  return %r : f32
}
