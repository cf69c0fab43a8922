// A product with a bias and a ReLU behind it: the usual epilogue.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// CASE:
// INPUT: 2x2xf32=1 2 3 4
// INPUT: 2x3xf32=1 0 -1 0 1 -1
// INPUT: 3xf32=0.5 -3 1
// EXPECT: result[0]: 2x3xf32=[[1.5, 0, 0], [3.5, 1, 0]]
// CASE:
// INPUT: 29x31xf32=rnd:1
// INPUT: 31x37xf32=rnd:2
// INPUT: 37xf32=rnd:3
// CASE:
// INPUT: 1x784xf32=rnd:4
// INPUT: 784x10xf32=rnd:5
// INPUT: 10xf32=rnd:6
// CASE:
// INPUT: 257x129xf32=rnd:7
// INPUT: 129x65xf32=rnd:8
// INPUT: 65xf32=rnd:9

func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %bias: tensor<?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>)
      outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%p, %bias : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    %t = arith.maximumf %s, %zero : f32
    linalg.yield %t : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
