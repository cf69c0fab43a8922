// A parallel loop of one iteration that writes two slices of one output: only the first one is written (as in
// llvm-project #222143, scf::promote in ForallOpSingleOrZeroIterationDimsFolder).
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 2xf32=1 2
// INPUT: 2xf32=30 40
// EXPECT: result[0]: 4xf32=[1, 2, 30, 40]

func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<4xf32> {
  %z = arith.constant dense<0.0> : tensor<4xf32>
  %r = scf.forall (%i) in (1) shared_outs(%a = %z) -> tensor<4xf32> {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %a[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
      tensor.parallel_insert_slice %y into %a[2] [2] [1] : tensor<2xf32> into tensor<4xf32>
    }
  }
  return %r : tensor<4xf32>
}
