// Queries, keys and values: three products that share their input and nothing else, then what needs
// all of them. They may run at once; one that ran too late or too early would show in the result.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-4
// CASE:
// INPUT: 1x2xf32=1 2
// INPUT: 2x2xf32=1 0 0 1
// INPUT: 2x2xf32=1 1 0 1
// INPUT: 2x2xf32=2 0 0 3
// EXPECT: result[0]: 1x2xf32=[[14, 42]]
// CASE:
// INPUT: 67x48xf32=rnd:1
// INPUT: 48x48xf32=rnd:2
// INPUT: 48x48xf32=rnd:3
// INPUT: 48x48xf32=rnd:4
// CASE:
// INPUT: 257x131xf32=rnd:5
// INPUT: 131x131xf32=rnd:6
// INPUT: 131x131xf32=rnd:7
// INPUT: 131x131xf32=rnd:8
// CASE:
// INPUT: 0x3xf32=[]
// INPUT: 3x3xf32=rnd:9
// INPUT: 3x3xf32=rnd:10
// INPUT: 3x3xf32=rnd:11
// EXPECT: result[0]: 0x3xf32=[]

func.func @main(%x: tensor<?x?xf32>, %wq: tensor<?x?xf32>, %wk: tensor<?x?xf32>,
                %wv: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x?xf32>
  %inner = tensor.dim %wq, %c1 : tensor<?x?xf32>
  %outer = tensor.dim %wv, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%rows, %inner) : tensor<?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %q = linalg.matmul ins(%x, %wq : tensor<?x?xf32>, tensor<?x?xf32>)
      outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  %k = linalg.matmul ins(%x, %wk : tensor<?x?xf32>, tensor<?x?xf32>)
      outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  %ev = tensor.empty(%rows, %outer) : tensor<?x?xf32>
  %zv = linalg.fill ins(%zero : f32) outs(%ev : tensor<?x?xf32>) -> tensor<?x?xf32>
  %v = linalg.matmul ins(%x, %wv : tensor<?x?xf32>, tensor<?x?xf32>)
      outs(%zv : tensor<?x?xf32>) -> tensor<?x?xf32>
  %es = tensor.empty(%rows, %rows) : tensor<?x?xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = linalg.generic {
      indexing_maps = [affine_map<(i, j, d) -> (i, d)>, affine_map<(i, j, d) -> (j, d)>,
                       affine_map<(i, j, d) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<?x?xf32>, tensor<?x?xf32>) outs(%zs : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %sum, %p : f32
    linalg.yield %t : f32
  } -> tensor<?x?xf32>
  %r = linalg.matmul ins(%s, %v : tensor<?x?xf32>, tensor<?x?xf32>)
      outs(%zv : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
