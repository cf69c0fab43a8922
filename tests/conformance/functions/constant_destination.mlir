// A constant as a destination that is read: it must be copied, not written.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 3xf32=1 2 3
// EXPECT: result[0]: 3xf32=[11, 22, 33]
// EXPECT: result[1]: 3xf32=[0.5, 1, 1.5]
// EXPECT: result[2]: 3xf32=[10, 20, 30]
// CASE:
// INPUT: 3xf32=rnd:1

func.func @main(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %k = arith.constant dense<[10.0, 20.0, 30.0]> : tensor<3xf32>
  %splat = arith.constant dense<0.5> : tensor<3xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
      ins(%x : tensor<3xf32>) outs(%k : tensor<3xf32>) {
  ^bb0(%v: f32, %o: f32):
    %s = arith.addf %v, %o : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
      ins(%x : tensor<3xf32>) outs(%splat : tensor<3xf32>) {
  ^bb0(%v: f32, %o: f32):
    %s = arith.mulf %v, %o : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  return %a, %b, %k : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}
