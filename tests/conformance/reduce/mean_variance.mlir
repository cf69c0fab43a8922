// Mean and mean square in one pass over a matrix, f64.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-12
// CASE:
// INPUT: 2x2xf64=1 2 3 6
// EXPECT: result[0]: 2xf64=[2, 4]
// EXPECT: result[1]: 2xf64=[5, 20]
// CASE:
// INPUT: 101x53xf64=rnd:1

func.func @main(%x: tensor<?x?xf64>) -> (tensor<?xf64>, tensor<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %m = tensor.dim %x, %c0 : tensor<?x?xf64>
  %n = tensor.dim %x, %c1 : tensor<?x?xf64>
  %count = arith.index_cast %m : index to i64
  %rows = arith.sitofp %count : i64 to f64
  %e = tensor.empty(%n) : tensor<?xf64>
  %z = linalg.fill ins(%zero : f64) outs(%e : tensor<?xf64>) -> tensor<?xf64>
  %r:2 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
                       affine_map<(i, j) -> (j)>],
      iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<?x?xf64>) outs(%z, %z : tensor<?xf64>, tensor<?xf64>) {
  ^bb0(%v: f64, %a: f64, %b: f64):
    %q = arith.divf %v, %rows : f64
    %s = arith.addf %a, %q : f64
    %p = arith.mulf %q, %v : f64
    %t = arith.addf %b, %p : f64
    linalg.yield %s, %t : f64, f64
  } -> (tensor<?xf64>, tensor<?xf64>)
  return %r#0, %r#1 : tensor<?xf64>, tensor<?xf64>
}
