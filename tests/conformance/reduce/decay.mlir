// Combiners that weigh what came before, along columns first: acc * 0.5 + x, and x - acc. Exact in f32.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// 8, 32, 16, 4: ((8 / 2 + 32) / 2 + 16) / 2 + 4 = 21 and 4 - (16 - (32 - 8)) = 12
// CASE:
// INPUT: 2x2xf32=8 16 32 4
// EXPECT: result[0]: f32=21
// EXPECT: result[1]: f32=12
// CASE:
// INPUT: 3x0xf32=[]
// EXPECT: result[0]: f32=0
// EXPECT: result[1]: f32=0
// CASE:
// INPUT: 3x5xf32=1 -2 3 -4 5 -6 7 -8 9 -10 11 -12 13 -14 15

#by_columns = affine_map<(j, i) -> (i, j)>
#total = affine_map<(j, i) -> ()>
func.func @main(%x: tensor<?x?xf32>) -> (tensor<f32>, tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %s = tensor.splat %zero : tensor<f32>
  %r = linalg.generic {indexing_maps = [#by_columns, #total],
                       iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%s : tensor<f32>) {
  ^bb0(%v: f32, %acc: f32):
    %h = arith.mulf %acc, %half : f32
    %t = arith.addf %h, %v : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  %d = linalg.generic {indexing_maps = [#by_columns, #total],
                       iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%s : tensor<f32>) {
  ^bb0(%v: f32, %acc: f32):
    %t = arith.subf %v, %acc : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  return %r, %d : tensor<f32>, tensor<f32>
}
