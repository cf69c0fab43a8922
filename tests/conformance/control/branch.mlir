// Unstructured branches that carry a tensor and a scalar as block arguments.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: i32=3
// INPUT: 3xf32=1 2 3
// EXPECT: result[0]: 3xf32=[2, 4, 6]
// EXPECT: result[1]: i32=3
// CASE:
// INPUT: i32=-3
// INPUT: 3xf32=1 2 3
// EXPECT: result[0]: 3xf32=[1, 2, 3]
// EXPECT: result[1]: i32=0

func.func @main(%k: i32, %x: tensor<?xf32>) -> (tensor<?xf32>, i32) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %positive = arith.cmpi sgt, %k, %zero : i32
  cf.cond_br %positive, ^double, ^join(%x, %zero : tensor<?xf32>, i32)
^double:
  %a = linalg.add ins(%x, %x : tensor<?xf32>, tensor<?xf32>)
      outs(%e : tensor<?xf32>) -> tensor<?xf32>
  cf.br ^join(%a, %k : tensor<?xf32>, i32)
^join(%r: tensor<?xf32>, %s: i32):
  return %r, %s : tensor<?xf32>, i32
}
