// One addition at extents around the vector width.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 0xf32=[]
// INPUT: 0xf32=[]
// EXPECT: result[0]: 0xf32=[]
// CASE:
// INPUT: 1xf32=1.5
// INPUT: 1xf32=-0.25
// EXPECT: result[0]: 1xf32=[1.25]
// CASE:
// INPUT: 7xf32=1 2 3 4 5 6 7
// INPUT: 7xf32=0.5 -2 1e10 0 -5.5 6 1e-3
// EXPECT: result[0]: 7xf32=[1.5, 0, 10000000000, 4, -0.5, 12, 7.001]
// CASE:
// INPUT: 1023xf32=rnd:1
// INPUT: 1023xf32=rnd:2
// CASE:
// INPUT: 100003xf32=rnd:3
// INPUT: 100003xf32=rnd:4

#id = affine_map<(i) -> (i)>
func.func @main(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
