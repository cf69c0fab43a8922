// i8 operands are widened into an i32 accumulator; the products overflow i8 and i16.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 2x2xi8=127 127 -128 -128
// INPUT: 2x2xi8=127 -128 127 -128
// EXPECT: result[0]: 2x2xi32=[[32258, -32512], [-32512, 32768]]
// CASE:
// INPUT: 37x129xi8=rnd:1
// INPUT: 129x41xi8=rnd:2
// CASE:
// INPUT: 64x64xi8=127
// INPUT: 64x64xi8=-128
// CASE:
// INPUT: 33x1030xi8=rnd:5
// INPUT: 1030x65xi8=rnd:6

func.func @main(%a: tensor<?x?xi8>, %b: tensor<?x?xi8>) -> tensor<?x?xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %m = tensor.dim %a, %c0 : tensor<?x?xi8>
  %n = tensor.dim %b, %c1 : tensor<?x?xi8>
  %e = tensor.empty(%m, %n) : tensor<?x?xi32>
  %z = linalg.fill ins(%zero : i32) outs(%e : tensor<?x?xi32>) -> tensor<?x?xi32>
  %p = linalg.matmul ins(%a, %b : tensor<?x?xi8>, tensor<?x?xi8>)
      outs(%z : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %p : tensor<?x?xi32>
}
