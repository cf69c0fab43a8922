// Rows are read before and after others of the same buffer are overwritten, in a loop.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 4x2xi32=1 2 3 4 5 6 7 8
// EXPECT: result[0]: 4x2xi32=[[1, 2], [4, 6], [9, 12], [16, 20]]
// CASE:
// INPUT: 4x2xi32=rnd:1

func.func @main(%x: tensor<4x2xi32>) -> tensor<4x2xi32> {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c1 to %c4 step %c1 iter_args(%t = %x) -> tensor<4x2xi32> {
    %before = arith.subi %i, %c1 : index
    %a = tensor.extract_slice %t[%before, 0] [1, 2] [1, 1] : tensor<4x2xi32> to tensor<1x2xi32>
    %b = tensor.extract_slice %t[%i, 0] [1, 2] [1, 1] : tensor<4x2xi32> to tensor<1x2xi32>
    %e = tensor.empty() : tensor<1x2xi32>
    %s = linalg.add ins(%a, %b : tensor<1x2xi32>, tensor<1x2xi32>) outs(%e : tensor<1x2xi32>)
        -> tensor<1x2xi32>
    %u = tensor.insert_slice %s into %t[%i, 0] [1, 2] [1, 1] : tensor<1x2xi32> into tensor<4x2xi32>
    scf.yield %u : tensor<4x2xi32>
  }
  return %r : tensor<4x2xi32>
}
