// f32 to each float of 8 bits and back: to nearest even, subnormal numbers, and what is too large.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 8xf32=1.0625 1.1875 464 465 0.0009765625 0.00146484375 -0.0 1e30
// EXPECT: result[0]: 8xf8E4M3FN=[1, 1.25, 448, nan, 0, 0.002, -0, nan]
// EXPECT: result[1]: 8xf8E5M2=[1, 1.25, 448, 448, 0.00098, 0.0015, -0, inf]
// EXPECT: result[2]: 8xf32=[1, 1.25, 448, nan, 0, 0.001953125, -0, nan]
// CASE:
// INPUT: 6xf32=61439 61440 -61440 0.00000762939453125 0.0000076293954 inf
// EXPECT: result[1]: 6xf8E5M2=[57344, inf, -inf, 0, 1.5e-05, inf]
// CASE:
// INPUT: 509xf32=rnd:1

#id = affine_map<(i) -> (i)>
func.func @main(%a: tensor<?xf32>)
    -> (tensor<?xf8E4M3FN>, tensor<?xf8E5M2>, tensor<?xf32>, tensor<?xf16>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %fine = tensor.empty(%n) : tensor<?xf8E4M3FN>
  %wide = tensor.empty(%n) : tensor<?xf8E5M2>
  %single = tensor.empty(%n) : tensor<?xf32>
  %half = tensor.empty(%n) : tensor<?xf16>
  %r:4 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<?xf32>)
      outs(%fine, %wide, %single, %half
           : tensor<?xf8E4M3FN>, tensor<?xf8E5M2>, tensor<?xf32>, tensor<?xf16>) {
  ^bb0(%x: f32, %p: f8E4M3FN, %q: f8E5M2, %s: f32, %t: f16):
    %f = arith.truncf %x : f32 to f8E4M3FN
    %w = arith.truncf %x : f32 to f8E5M2
    %back = arith.extf %f : f8E4M3FN to f32
    %h = arith.extf %w : f8E5M2 to f16
    linalg.yield %f, %w, %back, %h : f8E4M3FN, f8E5M2, f32, f16
  } -> (tensor<?xf8E4M3FN>, tensor<?xf8E5M2>, tensor<?xf32>, tensor<?xf16>)
  return %r#0, %r#1, %r#2, %r#3
      : tensor<?xf8E4M3FN>, tensor<?xf8E5M2>, tensor<?xf32>, tensor<?xf16>
}
