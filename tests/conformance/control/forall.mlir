// scf.forall whose iterations each write their own slice.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 3x2xf32=1 2 3 4 5 6
// EXPECT: result[0]: 3x2xf32=[[2, 4], [6, 8], [10, 12]]
// CASE:
// INPUT: 13x29xf32=rnd:1
// CASE:
// INPUT: 0x4xf32=[]
// EXPECT: result[0]: 0x4xf32=[]

func.func @main(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %init = tensor.empty(%m, %n) : tensor<?x?xf32>
  %r = scf.forall (%i) in (%m) shared_outs(%o = %init) -> (tensor<?x?xf32>) {
    %row = tensor.extract_slice %x[%i, 0] [1, %n] [1, 1] : tensor<?x?xf32> to tensor<1x?xf32>
    %e = tensor.empty(%n) : tensor<1x?xf32>
    %s = linalg.add ins(%row, %row : tensor<1x?xf32>, tensor<1x?xf32>)
        outs(%e : tensor<1x?xf32>) -> tensor<1x?xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i, 0] [1, %n] [1, 1]
          : tensor<1x?xf32> into tensor<?x?xf32>
    }
  }
  return %r : tensor<?x?xf32>
}
