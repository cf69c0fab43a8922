// Private functions called more than once, with tensors and scalars.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-6
// CASE:
// INPUT: 2xf32=1 2
// INPUT: f32=3
// EXPECT: result[0]: 2xf32=[18, 36]
// EXPECT: result[1]: f32=12
// CASE:
// INPUT: 113xf32=rnd:1
// INPUT: f32=-0.5

func.func private @scale(%x: tensor<?xf32>, %k: f32) -> (tensor<?xf32>, f32) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%v: f32, %o: f32):
    %p = arith.mulf %v, %k : f32
    linalg.yield %p : f32
  } -> tensor<?xf32>
  %next = arith.addf %k, %k : f32
  return %r, %next : tensor<?xf32>, f32
}

func.func @main(%x: tensor<?xf32>, %k: f32) -> (tensor<?xf32>, f32) {
  %a:2 = call @scale(%x, %k) : (tensor<?xf32>, f32) -> (tensor<?xf32>, f32)
  %b:2 = call @scale(%a#0, %a#1) : (tensor<?xf32>, f32) -> (tensor<?xf32>, f32)
  return %b#0, %b#1 : tensor<?xf32>, f32
}
