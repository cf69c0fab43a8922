// 64-bit values that do not fit in a double survive; population count and leading zeros.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 4xi64=9007199254740993 -1 0 -9223372036854775808
// EXPECT: result[0]: 4xi64=[9007199254740994, 0, 1, -9223372036854775807]
// EXPECT: result[1]: 4xi64=[2, 64, 0, 1]
// EXPECT: result[2]: 4xi64=[10, 0, 64, 0]
// CASE:
// INPUT: 127xi64=rnd:1

#id = affine_map<(i) -> (i)>
func.func @main(%a: tensor<?xi64>) -> (tensor<?xi64>, tensor<?xi64>, tensor<?xi64>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i64
  %n = tensor.dim %a, %c0 : tensor<?xi64>
  %e = tensor.empty(%n) : tensor<?xi64>
  %r:3 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<?xi64>) outs(%e, %e, %e : tensor<?xi64>, tensor<?xi64>, tensor<?xi64>) {
  ^bb0(%x: i64, %p: i64, %q: i64, %s: i64):
    %next = arith.addi %x, %one : i64
    %bits = math.ctpop %x : i64
    %zeros = math.ctlz %x : i64
    linalg.yield %next, %bits, %zeros : i64, i64, i64
  } -> (tensor<?xi64>, tensor<?xi64>, tensor<?xi64>)
  return %r#0, %r#1, %r#2 : tensor<?xi64>, tensor<?xi64>, tensor<?xi64>
}
