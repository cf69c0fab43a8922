// tanh and erf in f32, with arguments where both saturate.
// RUN-FUNCTION: @main
// TOLERANCE: 2e-6
// CASE:
// INPUT: 7xf32=0 0.25 -0.25 1 -1 100 -100
// EXPECT: result[0]: 7xf32=[0, 0.7615942, -0.7615942, 0.9993293, -0.9993293, 1, -1]
// EXPECT: result[1]: 7xf32=[0, 0.8427008, -0.8427008, 1, -1, 1, -1]
// CASE:
// INPUT: 1013xf32=rnd:2

#id = affine_map<(i) -> (i)>
func.func @main(%a: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<?xf32>) outs(%e, %e : tensor<?xf32>, tensor<?xf32>) {
  ^bb0(%x: f32, %o0: f32, %o1: f32):
    %scale = arith.constant 4.0 : f32
    %y = arith.mulf %x, %scale : f32
    %0 = math.tanh %y : f32
    %1 = math.erf %y : f32
    linalg.yield %0, %1 : f32, f32
  } -> (tensor<?xf32>, tensor<?xf32>)
  return %r#0, %r#1 : tensor<?xf32>, tensor<?xf32>
}
