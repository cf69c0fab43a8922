// sin, cos and tan in f32.
// RUN-FUNCTION: @main
// TOLERANCE: 4e-6
// CASE:
// INPUT: 6xf32=0 0.5 -0.5 1 -1 0.1
// EXPECT: result[0]: 6xf32=[0, 0.997495, -0.997495, 0.14112, -0.14112, 0.29552022]
// EXPECT: result[1]: 6xf32=[1, 0.0707372, 0.0707372, -0.9899925, -0.9899925, 0.9553365]
// EXPECT: result[2]: 6xf32=[0, 0.5463025, -0.5463025, 1.5574077, -1.5574077, 0.100334674]
// CASE:
// INPUT: 1021xf32=rnd:3

#id = affine_map<(i) -> (i)>
func.func @main(%a: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r:3 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<?xf32>) outs(%e, %e, %e : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  ^bb0(%x: f32, %o0: f32, %o1: f32, %o2: f32):
    %scale = arith.constant 3.0 : f32
    %y = arith.mulf %x, %scale : f32
    %0 = math.sin %y : f32
    %1 = math.cos %y : f32
    %2 = math.tan %x : f32
    linalg.yield %0, %1, %2 : f32, f32, f32
  } -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
  return %r#0, %r#1, %r#2 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}
