// A mutable global is written inside a loop, and read by another function.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: index=0
// EXPECT: result[0]: i32=1
// CASE:
// INPUT: index=4
// EXPECT: result[0]: i32=16

ml_program.global private mutable @counter(dense<1> : tensor<i32>) : tensor<i32>

func.func private @read() -> i32 {
  %t = ml_program.global_load @counter : tensor<i32>
  %v = tensor.extract %t[] : tensor<i32>
  return %v : i32
}

func.func @main(%trips: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %trips step %c1 {
    %v = func.call @read() : () -> i32
    %w = arith.addi %v, %v : i32
    %t = tensor.from_elements %w : tensor<i32>
    ml_program.global_store @counter = %t : tensor<i32>
  }
  %r = call @read() : () -> i32
  return %r : i32
}
