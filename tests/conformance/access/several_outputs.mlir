// One op, four destinations: overwritten, a splat, a table, an argument.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// COUNT: copies=0 allocations=4 dispatches=1
// CASE:
// INPUT: 2xf32=1 2
// INPUT: 2xf32=50 60
// EXPECT: result[0]: 2xf32=[1, 2]
// EXPECT: result[1]: 2xf32=[6, 7]
// EXPECT: result[2]: 2xf32=[11, 22]
// EXPECT: result[3]: 2xf32=[51, 62]

#id = affine_map<(i) -> (i)>
func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>)
    -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %unread = arith.constant dense<1.0> : tensor<2xf32>
  %splat = arith.constant dense<5.0> : tensor<2xf32>
  %table = arith.constant dense<[10.0, 20.0]> : tensor<2xf32>
  %r:4 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<2xf32>)
      outs(%unread, %splat, %table, %y : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  ^bb0(%v: f32, %a: f32, %b: f32, %c: f32, %d: f32):
    %s = arith.addf %v, %b : f32
    %t = arith.addf %v, %c : f32
    %u = arith.addf %v, %d : f32
    linalg.yield %v, %s, %t, %u : f32, f32, f32, f32
  } -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
