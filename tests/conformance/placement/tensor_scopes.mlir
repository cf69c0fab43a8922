// Intermediate tensors with every scope that a host can serve, each in a chain that would fuse without.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// CASE:
// INPUT: 2x3xf32=1 2 3 4 5 6
// INPUT: 3x2xf32=1 0 0 1 1 1
// EXPECT: result[0]: 2x2xf32=[[0, 0], [8, 10]]
// EXPECT: result[1]: 2x2xf32=[[8, 10], [20, 22]]
// CASE:
// INPUT: 17x13xf32=rnd:1
// INPUT: 13x19xf32=rnd:2
// CASE:
// INPUT: 1x0xf32=rnd:1
// INPUT: 0x1xf32=rnd:2
// CASE:
// INPUT: 0x5xf32=rnd:1
// INPUT: 5x7xf32=rnd:2

#id = affine_map<(i, j) -> (i, j)>
func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %seven = arith.constant 7.0 : f32
  %two = arith.constant 2.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %e0 = tensor.empty(%m, %n) {plim.scope = "global.workspace", plim.max_bytes = 65536 : i64} : tensor<?x?xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%f0 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %e1 = tensor.empty(%m, %n) {plim.scope = "global.workspace", plim.accessors = ["external"]} : tensor<?x?xf32>
  %shifted = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<?x?xf32>) outs(%e1 : tensor<?x?xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.subf %x, %seven : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  %e2 = bufferization.alloc_tensor(%m, %n) {plim.candidate_pools = ["stack", "workspace"]} : tensor<?x?xf32>
  %doubled = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<?x?xf32>) outs(%e2 : tensor<?x?xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.mulf %x, %two : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  %e3 = tensor.empty(%m, %n) {plim.scope = "workgroup"} : tensor<?x?xf32>
  %positive = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%shifted : tensor<?x?xf32>) outs(%e3 : tensor<?x?xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.maximumf %x, %zero : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  %e4 = tensor.empty(%m, %n) : tensor<?x?xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%positive, %p : tensor<?x?xf32>, tensor<?x?xf32>) outs(%e4 : tensor<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %has = arith.cmpf ogt, %x, %zero : f32
    %s = arith.addf %x, %y : f32
    %t = arith.subf %s, %seven : f32
    %u = arith.addf %t, %two : f32
    %v = arith.select %has, %u, %zero : f32
    linalg.yield %v : f32
  } -> tensor<?x?xf32>
  return %r, %doubled : tensor<?x?xf32>, tensor<?x?xf32>
}
