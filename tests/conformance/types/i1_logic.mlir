// i1 tensors as inputs and results.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 4xi1=0 0 1 1
// INPUT: 4xi1=0 1 0 1
// EXPECT: result[0]: 4xi1=[0, 0, 0, 1]
// EXPECT: result[1]: 4xi1=[0, 1, 1, 0]
// EXPECT: result[2]: 4xi32=[0, 1, 1, 0]
// CASE:
// INPUT: 1013xi1=rnd:1
// INPUT: 1013xi1=rnd:2

#id = affine_map<(i) -> (i)>
func.func @main(%a: tensor<?xi1>, %b: tensor<?xi1>) -> (tensor<?xi1>, tensor<?xi1>, tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xi1>
  %e = tensor.empty(%n) : tensor<?xi1>
  %f = tensor.empty(%n) : tensor<?xi32>
  %r:3 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<?xi1>, tensor<?xi1>)
      outs(%e, %e, %f : tensor<?xi1>, tensor<?xi1>, tensor<?xi32>) {
  ^bb0(%x: i1, %y: i1, %p: i1, %q: i1, %z: i32):
    %and = arith.andi %x, %y : i1
    %xor = arith.xori %x, %y : i1
    %wide = arith.extui %xor : i1 to i32
    linalg.yield %and, %xor, %wide : i1, i1, i32
  } -> (tensor<?xi1>, tensor<?xi1>, tensor<?xi32>)
  return %r#0, %r#1, %r#2 : tensor<?xi1>, tensor<?xi1>, tensor<?xi32>
}
