// Four elementwise ops in a row, each with its own result: a fusion must not change a value.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-6
// CASE:
// INPUT: 17x13xf32=rnd:1
// INPUT: 17x13xf32=rnd:2
// CASE:
// INPUT: 0x5xf32=[]
// INPUT: 0x5xf32=[]
// EXPECT: result[0]: 0x5xf32=[]
// CASE:
// INPUT: 2x3xf32=1 -2 3 -4 5 -6
// INPUT: 2x3xf32=0.5 0.25 -1 2 8 -0.5
// EXPECT: result[0]: 2x3xf32=[[0.5, 2, 0.5], [0.5, 35.5, 9.5]]
// CASE:
// INPUT: 257x129xf32=rnd:3
// INPUT: 257x129xf32=rnd:4

#id = affine_map<(i, j) -> (i, j)>
func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %a, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %s = arith.mulf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0, %a : tensor<?x?xf32>, tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %s = arith.subf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%1 : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%x: f32, %z: f32):
    %s = arith.maximumf %x, %zero : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  %3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%2 : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%x: f32, %z: f32):
    %s = arith.addf %x, %half : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %3 : tensor<?x?xf32>
}
