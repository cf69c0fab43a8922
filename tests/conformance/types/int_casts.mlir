// Sign extension, zero extension and truncation.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 4xi32=-1 300 127 -129
// EXPECT: result[0]: 4xi8=[-1, 44, 127, 127]
// EXPECT: result[1]: 4xi64=[-1, 300, 127, -129]
// EXPECT: result[2]: 4xi64=[4294967295, 300, 127, 4294967167]
// CASE:
// INPUT: 257xi32=rnd:1

#id = affine_map<(i) -> (i)>
func.func @main(%a: tensor<?xi32>) -> (tensor<?xi8>, tensor<?xi64>, tensor<?xi64>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xi32>
  %narrow = tensor.empty(%n) : tensor<?xi8>
  %wide = tensor.empty(%n) : tensor<?xi64>
  %r:3 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<?xi32>)
          outs(%narrow, %wide, %wide : tensor<?xi8>, tensor<?xi64>, tensor<?xi64>) {
  ^bb0(%x: i32, %p: i8, %q: i64, %s: i64):
    %t = arith.trunci %x : i32 to i8
    %signed = arith.extsi %x : i32 to i64
    %unsigned = arith.extui %x : i32 to i64
    linalg.yield %t, %signed, %unsigned : i8, i64, i64
  } -> (tensor<?xi8>, tensor<?xi64>, tensor<?xi64>)
  return %r#0, %r#1, %r#2 : tensor<?xi8>, tensor<?xi64>, tensor<?xi64>
}
