// Quotients by one divisor a row round as divisions do, special values included: x / x is 1.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 2x3xf32=49 -0.0 inf 1e-39 1 nan
// INPUT: 2xf32=49 1e-39
// EXPECT: result[0]: 2x3xf32=[[1, -0, inf], [1, inf, nan]]
// CASE:
// INPUT: 8x19xf32=rnd:1
// INPUT: 8xf32=0 -0.0 inf -inf nan 1e-45 3.4e38 -3e-39
// CASE:
// INPUT: 3x5xf32=inf -inf nan 3.4e38 -3.4e38 inf -inf nan 3.4e38 1e-38 0 -0.0 nan 1e-45 -1e-38
// INPUT: 3xf32=0.3 -1e-38 3.4e38
// CASE:
// INPUT: 257x127xf32=rnd:2
// INPUT: 257xf32=rnd:3
// CASE:
// INPUT: 0x3xf32=[]
// INPUT: 0xf32=[]
// EXPECT: result[0]: 0x3xf32=[]

#full = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @main(%x: tensor<?x?xf32>, %d: tensor<?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %r = linalg.generic {indexing_maps = [#full, #row, #full],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %d : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%xi: f32, %di: f32, %o: f32):
    %q = arith.divf %xi, %di : f32
    linalg.yield %q : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
