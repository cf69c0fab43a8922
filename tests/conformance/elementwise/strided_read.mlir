// Indexing maps that are not projections: every second element, and two shifted windows.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 10xf32=0 1 2 3 4 5 6 7 8 9
// EXPECT: result[0]: 4xf32=[-3, 0, 7, 18]
// CASE:
// INPUT: 10xf32=rnd:1

func.func @main(%x: tensor<10xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i * 2)>, affine_map<(i) -> (i + 1)>,
                       affine_map<(i) -> (i * 2 + 3)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}
      ins(%x, %x, %x : tensor<10xf32>, tensor<10xf32>, tensor<10xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %z: f32):
    %s = arith.subf %a, %b : f32
    %t = arith.mulf %s, %c : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
