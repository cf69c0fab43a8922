// As insert_slice_units, with all sizes of the slice dynamic, so that the cast to the wrong shape stays legal: rows of
// a slice of something larger are read where they are not (llvm-project #217361).
// RUN-FUNCTION: @main
// TOLERANCE: 0
// x[0, 0..1, 0..1] = [[1, 2], [4, 5]]
// CASE:
// INPUT: 2x3x3xf32=1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18
// INPUT: i64=1
// EXPECT: result[0]: 1x2x1x2xf32=[[[[1, 2]], [[4, 5]]]]

func.func @main(%x: tensor<?x?x?xf32>, %k: i64) -> tensor<1x2x1x2xf32> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = arith.index_cast %k : i64 to index
  %m = arith.addi %n, %n : index
  %z = arith.constant dense<0.0> : tensor<1x2x1x2xf32>
  %s = tensor.extract_slice %x[0, 0, 0] [%n, %m, %m] [1, 1, 1] : tensor<?x?x?xf32> to tensor<?x?x?xf32>
  %a = tensor.insert_slice %s into %z[0, 0, 0, 0] [%c1, %c2, 1, %c2] [1, 1, 1, 1]
      : tensor<?x?x?xf32> into tensor<1x2x1x2xf32>
  return %a : tensor<1x2x1x2xf32>
}
