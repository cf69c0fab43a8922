// Reads and writes of overlapping parts of one tensor: an in-place update would be wrong.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 6xf32=1 2 3 4 5 6
// EXPECT: result[0]: 6xf32=[4, 5, 6, 1, 2, 3]
// CASE:
// INPUT: 514xf32=rnd:1

func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %half = arith.divui %n, %c2 : index
  %low = tensor.extract_slice %x[0] [%half] [1] : tensor<?xf32> to tensor<?xf32>
  %high = tensor.extract_slice %x[%half] [%half] [1] : tensor<?xf32> to tensor<?xf32>
  %a = tensor.insert_slice %high into %x[0] [%half] [1] : tensor<?xf32> into tensor<?xf32>
  %b = tensor.insert_slice %low into %a[%half] [%half] [1] : tensor<?xf32> into tensor<?xf32>
  return %b : tensor<?xf32>
}
