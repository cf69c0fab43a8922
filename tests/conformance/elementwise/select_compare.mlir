// Ordered and unordered comparisons choose between two inputs; NaN takes a definite side.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 6xf32=1 nan 3 -0.0 inf -inf
// INPUT: 6xf32=2 1 nan 0.0 1 5
// EXPECT: result[0]: 6xf32=[1, 1, nan, 0, 1, -inf]
// EXPECT: result[1]: 6xi1=[0, 1, 1, 1, 1, 0]
// CASE:
// INPUT: 997xf32=rnd:1
// INPUT: 997xf32=rnd:2

#id = affine_map<(i) -> (i)>
func.func @main(%a: tensor<?xf32>, %b: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xi1>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %m = tensor.empty(%n) : tensor<?xi1>
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%e, %m : tensor<?xf32>, tensor<?xi1>) {
  ^bb0(%x: f32, %y: f32, %z: f32, %w: i1):
    %less = arith.cmpf olt, %x, %y : f32
    %s = arith.select %less, %x, %y : f32
    %u = arith.cmpf uge, %x, %y : f32
    linalg.yield %s, %u : f32, i1
  } -> (tensor<?xf32>, tensor<?xi1>)
  return %r#0, %r#1 : tensor<?xf32>, tensor<?xi1>
}
