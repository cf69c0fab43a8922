// A parallel loop of one iteration that writes its outputs in another order than it lists them: the results change
// places (llvm-project #222143, scf::promote in ForallOpSingleOrZeroIterationDimsFolder).
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 2xf32=1 2
// INPUT: 2xf32=30 40
// EXPECT: result[0]: 2xf32=[1, 2]
// EXPECT: result[1]: 2xf32=[30, 40]

func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %e = tensor.empty() : tensor<2xf32>
  %r:2 = scf.forall (%i) in (1) shared_outs(%a = %e, %b = %e) -> (tensor<2xf32>, tensor<2xf32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %b[0] [2] [1] : tensor<2xf32> into tensor<2xf32>
      tensor.parallel_insert_slice %x into %a[0] [2] [1] : tensor<2xf32> into tensor<2xf32>
    }
  }
  return %r#0, %r#1 : tensor<2xf32>, tensor<2xf32>
}
