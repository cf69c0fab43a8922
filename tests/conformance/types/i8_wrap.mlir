// i8 arithmetic wraps around.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 5xi8=127 -128 100 -1 7
// INPUT: 5xi8=1 -1 100 -1 3
// EXPECT: result[0]: 5xi8=[-128, 127, -56, -2, 10]
// EXPECT: result[1]: 5xi8=[127, -128, 16, 1, 21]
// CASE:
// INPUT: 509xi8=rnd:1
// INPUT: 509xi8=rnd:2

#id = affine_map<(i) -> (i)>
func.func @main(%a: tensor<?xi8>, %b: tensor<?xi8>) -> (tensor<?xi8>, tensor<?xi8>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xi8>
  %e = tensor.empty(%n) : tensor<?xi8>
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<?xi8>, tensor<?xi8>) outs(%e, %e : tensor<?xi8>, tensor<?xi8>) {
  ^bb0(%x: i8, %y: i8, %p: i8, %q: i8):
    %sum = arith.addi %x, %y : i8
    %product = arith.muli %x, %y : i8
    linalg.yield %sum, %product : i8, i8
  } -> (tensor<?xi8>, tensor<?xi8>)
  return %r#0, %r#1 : tensor<?xi8>, tensor<?xi8>
}
