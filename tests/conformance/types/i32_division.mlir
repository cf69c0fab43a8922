// Division and remainder round towards zero; the unsigned forms see the same bits differently.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 4xi32=7 -7 7 -7
// INPUT: 4xi32=2 2 -2 -2
// EXPECT: result[0]: 4xi32=[3, -3, -3, 3]
// EXPECT: result[1]: 4xi32=[1, -1, 1, -1]
// EXPECT: result[2]: 4xi32=[3, -4, -4, 3]
// EXPECT: result[3]: 4xi32=[3, 2147483644, 0, 0]
// CASE:
// INPUT: 263xi32=rnd:1
// INPUT: 263xi32=3

#id = affine_map<(i) -> (i)>
func.func @main(%a: tensor<?xi32>, %b: tensor<?xi32>)
    -> (tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xi32>
  %e = tensor.empty(%n) : tensor<?xi32>
  %r:4 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id, #id],
                         iterator_types = ["parallel"]}
      ins(%a, %b : tensor<?xi32>, tensor<?xi32>)
      outs(%e, %e, %e, %e : tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) {
  ^bb0(%x: i32, %y: i32, %p: i32, %q: i32, %s: i32, %t: i32):
    %quotient = arith.divsi %x, %y : i32
    %remainder = arith.remsi %x, %y : i32
    %floor = arith.floordivsi %x, %y : i32
    %unsigned = arith.divui %x, %y : i32
    linalg.yield %quotient, %remainder, %floor, %unsigned : i32, i32, i32, i32
  } -> (tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>
}
