// The exact GELU, x/2 (1 + erf(x / sqrt 2)).
// RUN-FUNCTION: @main
// TOLERANCE: 4e-6
// CASE:
// INPUT: 6xf32=0 1 -1 3 -3 0.1
// EXPECT: result[0]: 6xf32=[0, 0.8413448, -0.15865526, 2.9959502, -0.004049694, 0.053982783]
// CASE:
// INPUT: 4099xf32=rnd:1
// CASE:
// INPUT: 65537xf32=rnd:5

#id = affine_map<(i) -> (i)>
func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%x: f32, %o0: f32):
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %inv = arith.constant 0.70710678 : f32
    %s = arith.mulf %x, %inv : f32
    %e1 = math.erf %s : f32
    %p = arith.addf %e1, %one : f32
    %h = arith.mulf %x, %half : f32
    %g = arith.mulf %h, %p : f32
    linalg.yield %g : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
