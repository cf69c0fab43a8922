// Layer normalisation of rows with scale and shift.
// RUN-FUNCTION: @main
// TOLERANCE: 2e-5
// CASE:
// INPUT: 2x4xf32=1 2 3 4 -1 -1 1 1
// INPUT: 4xf32=1 2 1 1
// INPUT: 4xf32=0 0 0.5 0
// EXPECT: result[0]: 2x4xf32=[[-1.3416355, -0.8944236, 0.9472118, 1.3416355], [-0.999995, -1.99999, 1.499995, 0.999995]]
// CASE:
// INPUT: 37x129xf32=rnd:1
// INPUT: 129xf32=rnd:2
// INPUT: 129xf32=rnd:3
// CASE:
// INPUT: 5x4099xf32=rnd:5
// INPUT: 4099xf32=rnd:6
// INPUT: 4099xf32=rnd:7

func.func @main(%x: tensor<?x?xf32>, %gamma: tensor<?xf32>, %beta: tensor<?xf32>)
    -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %zero = arith.constant 0.0 : f32
  %epsilon = arith.constant 1.0e-5 : f32
  %count = arith.index_cast %n : index to i64
  %width = arith.sitofp %count : i64 to f32
  %rows = tensor.empty(%m) : tensor<?xf32>
  %full = tensor.empty(%m, %n) : tensor<?x?xf32>
  %none = linalg.fill ins(%zero : f32) outs(%rows : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%none : tensor<?xf32>) {
  ^bb0(%v: f32, %acc: f32):
    %s = arith.addf %acc, %v : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %centred = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<?x?xf32>, tensor<?xf32>) outs(%full : tensor<?x?xf32>) {
  ^bb0(%v: f32, %total: f32, %o: f32):
    %mean = arith.divf %total, %width : f32
    %d = arith.subf %v, %mean : f32
    linalg.yield %d : f32
  } -> tensor<?x?xf32>
  %squares = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%centred : tensor<?x?xf32>) outs(%none : tensor<?xf32>) {
  ^bb0(%v: f32, %acc: f32):
    %p = arith.mulf %v, %v : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
                       affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (j)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%centred, %squares, %gamma, %beta
          : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
      outs(%full : tensor<?x?xf32>) {
  ^bb0(%v: f32, %total: f32, %g: f32, %b: f32, %o: f32):
    %variance = arith.divf %total, %width : f32
    %guarded = arith.addf %variance, %epsilon : f32
    %scale = math.rsqrt %guarded : f32
    %normal = arith.mulf %v, %scale : f32
    %scaled = arith.mulf %normal, %g : f32
    %shifted = arith.addf %scaled, %b : f32
    linalg.yield %shifted : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
