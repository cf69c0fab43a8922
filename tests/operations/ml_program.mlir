// Globals of a program.
ml_program.global private mutable @count(dense<5> : tensor<i64>) : tensor<i64>
ml_program.global private @table(dense<[1.0, 2.0, 4.0]> : tensor<3xf32>) : tensor<3xf32>

// INPUT: i64=3
// EXPECT: result[0]: i64=5
// EXPECT: result[1]: i64=8
func.func @global(%a: tensor<i64>) -> (tensor<i64>, tensor<i64>) {
  %old = ml_program.global_load @count : tensor<i64>
  %sum = arith.addi %old, %a : tensor<i64>
  ml_program.global_store @count = %sum : tensor<i64>
  %new = ml_program.global_load @count : tensor<i64>
  return %old, %new : tensor<i64>, tensor<i64>
}

// EXPECT: result[0]: 3xf32=[2, 4, 8]
func.func @global_load_const() -> tensor<3xf32> {
  %t = ml_program.global_load_const @table : tensor<3xf32>
  %r = arith.addf %t, %t : tensor<3xf32>
  return %r : tensor<3xf32>
}

// -----
// REFUSED: ml_program.func: 'ml_program.func' is not supported
func.func @main() {
  return
}
ml_program.func @other(%a: i32) -> i32 {
  ml_program.return %a : i32
}

// -----
// REFUSED: ml_program.return: 'ml_program.func' is not supported
func.func @main() {
  return
}
ml_program.func @other(%a: i32) -> i32 {
  ml_program.return %a : i32
}

// -----
// REFUSED: ml_program.subgraph: 'ml_program.subgraph' is not supported
func.func @main() {
  return
}
ml_program.subgraph @other(%a: i32) -> i32 {
  ml_program.output %a : i32
}

// -----
// REFUSED: ml_program.output: 'ml_program.subgraph' is not supported
func.func @main() {
  return
}
ml_program.subgraph @other(%a: i32) -> i32 {
  ml_program.output %a : i32
}

// -----
// REFUSED: ml_program.token: 'ml_program.token' is not supported
func.func @main() {
  %t = ml_program.token
  return
}

// -----
// REFUSED: ml_program.global_load_graph: 'ml_program.global_load_graph' is not supported
ml_program.global private mutable @count(dense<5> : tensor<i64>) : tensor<i64>
func.func @main() -> tensor<i64> {
  %v, %u = ml_program.global_load_graph @count ordering (() -> !ml_program.token) : tensor<i64>
  return %v : tensor<i64>
}

// -----
// REFUSED: ml_program.global_store_graph: 'ml_program.global_store_graph' is not supported
ml_program.global private mutable @count(dense<5> : tensor<i64>) : tensor<i64>
func.func @main(%a: tensor<i64>) {
  %u = ml_program.global_store_graph @count = %a ordering (() -> !ml_program.token) : tensor<i64>
  return
}
