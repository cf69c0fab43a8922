// Signed and unsigned order, min and max differ on the same bits.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 4xi32=-1 5 -8 2147483647
// INPUT: 4xi32=1 5 -9 -2147483648
// EXPECT: result[0]: 4xi1=[1, 0, 0, 0]
// EXPECT: result[1]: 4xi1=[0, 0, 0, 1]
// EXPECT: result[2]: 4xi32=[-1, 5, -9, -2147483648]
// EXPECT: result[3]: 4xi32=[1, 5, -9, 2147483647]
// CASE:
// INPUT: 317xi32=rnd:1
// INPUT: 317xi32=rnd:2

#id = affine_map<(i) -> (i)>
func.func @main(%a: tensor<?xi32>, %b: tensor<?xi32>)
    -> (tensor<?xi1>, tensor<?xi1>, tensor<?xi32>, tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xi32>
  %m = tensor.empty(%n) : tensor<?xi1>
  %e = tensor.empty(%n) : tensor<?xi32>
  %r:4 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id, #id],
                         iterator_types = ["parallel"]}
      ins(%a, %b : tensor<?xi32>, tensor<?xi32>)
      outs(%m, %m, %e, %e : tensor<?xi1>, tensor<?xi1>, tensor<?xi32>, tensor<?xi32>) {
  ^bb0(%x: i32, %y: i32, %p: i1, %q: i1, %s: i32, %t: i32):
    %signed = arith.cmpi slt, %x, %y : i32
    %unsigned = arith.cmpi ult, %x, %y : i32
    %smallest = arith.minsi %x, %y : i32
    %lowest = arith.minui %x, %y : i32
    linalg.yield %signed, %unsigned, %smallest, %lowest : i1, i1, i32, i32
  } -> (tensor<?xi1>, tensor<?xi1>, tensor<?xi32>, tensor<?xi32>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<?xi1>, tensor<?xi1>, tensor<?xi32>, tensor<?xi32>
}
