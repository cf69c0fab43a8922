// absi, cttz, ctpop and ipowi on i32.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 6xi32=0 1 -8 12 -7 1024
// EXPECT: result[0]: 6xi32=[0, 1, 8, 12, 7, 1024]
// EXPECT: result[1]: 6xi32=[32, 0, 3, 2, 0, 10]
// EXPECT: result[2]: 6xi32=[0, 1, 29, 2, 30, 1]
// EXPECT: result[3]: 6xi32=[0, 1, 64, 144, 49, 1048576]
// CASE:
// INPUT: 97xi32=rnd:1

#id = affine_map<(i) -> (i)>
func.func @main(%a: tensor<?xi32>) -> (tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xi32>
  %e = tensor.empty(%n) : tensor<?xi32>
  %r:4 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<?xi32>)
      outs(%e, %e, %e, %e : tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) {
  ^bb0(%x: i32, %o0: i32, %o1: i32, %o2: i32, %o3: i32):
    %two = arith.constant 2 : i32
    %0 = math.absi %x : i32
    %1 = math.cttz %x : i32
    %2 = math.ctpop %x : i32
    %3 = math.ipowi %x, %two : i32
    linalg.yield %0, %1, %2, %3 : i32, i32, i32, i32
  } -> (tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>
}
