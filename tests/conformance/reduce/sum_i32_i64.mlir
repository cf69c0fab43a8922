// Integer sums: i32 wraps, i64 holds.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 3xi32=2147483647 1 5
// EXPECT: result[0]: i32=-2147483643
// EXPECT: result[1]: i64=2147483653
// CASE:
// INPUT: 0xi32=[]
// EXPECT: result[0]: i32=0
// EXPECT: result[1]: i64=0
// CASE:
// INPUT: 1009xi32=rnd:1

func.func @main(%x: tensor<?xi32>) -> (tensor<i32>, tensor<i64>) {
  %zero = arith.constant 0 : i32
  %wide = arith.constant 0 : i64
  %e = tensor.empty() : tensor<i32>
  %f = tensor.empty() : tensor<i64>
  %z = linalg.fill ins(%zero : i32) outs(%e : tensor<i32>) -> tensor<i32>
  %w = linalg.fill ins(%wide : i64) outs(%f : tensor<i64>) -> tensor<i64>
  %r:2 = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> ()>],
      iterator_types = ["reduction"]}
      ins(%x : tensor<?xi32>) outs(%z, %w : tensor<i32>, tensor<i64>) {
  ^bb0(%v: i32, %a: i32, %b: i64):
    %s = arith.addi %a, %v : i32
    %l = arith.extsi %v : i32 to i64
    %t = arith.addi %b, %l : i64
    linalg.yield %s, %t : i32, i64
  } -> (tensor<i32>, tensor<i64>)
  return %r#0, %r#1 : tensor<i32>, tensor<i64>
}
