// Row softmax written out: maximum, shifted exponential, sum, quotient.
// RUN-FUNCTION: @main
// TOLERANCE: 5e-6
// CASE:
// INPUT: 2x3xf32=1 2 3 1000 1000 1000
// EXPECT: result[0]: 2x3xf32=[[0.09003057, 0.24472848, 0.66524094], [0.33333334, 0.33333334, 0.33333334]]
// CASE:
// INPUT: 1x1xf32=-50
// EXPECT: result[0]: 1x1xf32=[[1]]
// CASE:
// INPUT: 61x127xf32=rnd:1
// CASE:
// INPUT: 0x5xf32=[]
// EXPECT: result[0]: 0x5xf32=[]
// CASE:
// INPUT: 3x5003xf32=rnd:5
// CASE:
// INPUT: 257x1xf32=rnd:6

func.func @main(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %lowest = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %rows = tensor.empty(%m) : tensor<?xf32>
  %full = tensor.empty(%m, %n) : tensor<?x?xf32>
  %low = linalg.fill ins(%lowest : f32) outs(%rows : tensor<?xf32>) -> tensor<?xf32>
  %max = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%low : tensor<?xf32>) {
  ^bb0(%v: f32, %acc: f32):
    %s = arith.maximumf %acc, %v : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %exp = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : tensor<?x?xf32>, tensor<?xf32>) outs(%full : tensor<?x?xf32>) {
  ^bb0(%v: f32, %top: f32, %o: f32):
    %d = arith.subf %v, %top : f32
    %p = math.exp %d : f32
    linalg.yield %p : f32
  } -> tensor<?x?xf32>
  %none = linalg.fill ins(%zero : f32) outs(%rows : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%exp : tensor<?x?xf32>) outs(%none : tensor<?xf32>) {
  ^bb0(%v: f32, %acc: f32):
    %s = arith.addf %acc, %v : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum : tensor<?x?xf32>, tensor<?xf32>) outs(%full : tensor<?x?xf32>) {
  ^bb0(%v: f32, %total: f32, %o: f32):
    %q = arith.divf %v, %total : f32
    linalg.yield %q : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
