// One value feeds two consumers, and the value itself is a result too.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-6
// CASE:
// INPUT: 4xf32=1 2 3 4
// EXPECT: result[0]: 4xf32=[0, -18, -96, -300]
// EXPECT: result[1]: 4xf32=[1, 4, 9, 16]
// CASE:
// INPUT: 1021xf32=rnd:1
// CASE:
// INPUT: 0xf32=[]
// EXPECT: result[0]: 0xf32=[]
// EXPECT: result[1]: 0xf32=[]

#id = affine_map<(i) -> (i)>
func.func @main(%a: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %square = linalg.mul ins(%a, %a : tensor<?xf32>, tensor<?xf32>)
      outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %left = linalg.add ins(%square, %a : tensor<?xf32>, tensor<?xf32>)
      outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %right = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%square : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%x: f32, %z: f32):
    %s = arith.subf %one, %x : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %joined = linalg.mul ins(%left, %right : tensor<?xf32>, tensor<?xf32>)
      outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %joined, %square : tensor<?xf32>, tensor<?xf32>
}
