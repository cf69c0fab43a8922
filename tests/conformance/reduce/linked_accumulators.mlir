// Accumulators that see each other depend on the order of the elements, however plain each of their combiners is.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 2x3xi64=1 2 3 4 5 6
// EXPECT: result[0]: i64=21
// EXPECT: result[1]: i64=56
// CASE:
// INPUT: 3x2xi64=1 2 3 4 5 6
// EXPECT: result[0]: i64=21
// EXPECT: result[1]: i64=56

func.func @main(%x: tensor<?x?xi64>) -> (tensor<i64>, tensor<i64>) {
  %zero = arith.constant 0 : i64
  %e = tensor.empty() : tensor<i64>
  %z = linalg.fill ins(%zero : i64) outs(%e : tensor<i64>) -> tensor<i64>
  // The sum so far, and the sum of those.
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> ()>],
                         iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<?x?xi64>) outs(%z, %z : tensor<i64>, tensor<i64>) {
  ^bb0(%v: i64, %sum: i64, %sums: i64):
    %p = arith.addi %sum, %v : i64
    %q = arith.addi %sums, %p : i64
    linalg.yield %p, %q : i64, i64
  } -> (tensor<i64>, tensor<i64>)
  return %r#0, %r#1 : tensor<i64>, tensor<i64>
}
