// A parallel loop that writes its outputs in another order than it lists them, through casts: the results change
// places (llvm-project #172981, FoldTensorCastOfOutputIntoForallOp).
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 3xf32=1 2 3
// INPUT: 3xf32=40 50 60
// EXPECT: result[0]: 3xf32=[1, 2, 3]
// EXPECT: result[1]: 3xf32=[40, 50, 60]

func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %e = tensor.empty() : tensor<3xf32>
  %c = tensor.cast %e : tensor<3xf32> to tensor<?xf32>
  %r:2 = scf.forall (%i) in (3) shared_outs(%a = %c, %b = %c) -> (tensor<?xf32>, tensor<?xf32>) {
    %p = tensor.extract_slice %x[%i] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %q = tensor.extract_slice %y[%i] [1] [1] : tensor<3xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %q into %b[%i] [1] [1] : tensor<1xf32> into tensor<?xf32>
      tensor.parallel_insert_slice %p into %a[%i] [1] [1] : tensor<1xf32> into tensor<?xf32>
    }
  }
  return %r#0, %r#1 : tensor<?xf32>, tensor<?xf32>
}
