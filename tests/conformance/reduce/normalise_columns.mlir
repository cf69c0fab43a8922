// A reduction whose consumer reads it along the other dimension, after an elementwise producer.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// CASE:
// INPUT: 2x2xf32=1 2 3 -4
// EXPECT: result[0]: 2x2xf32=[[0.2, 0.2857143], [0.6, 0.5714286]]
// CASE:
// INPUT: 67x71xf32=rnd:1

func.func @main(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %full = tensor.empty(%m, %n) : tensor<?x?xf32>
  %columns = tensor.empty(%n) : tensor<?xf32>
  %none = linalg.fill ins(%zero : f32) outs(%columns : tensor<?xf32>) -> tensor<?xf32>
  %abs = linalg.abs ins(%x : tensor<?x?xf32>) outs(%full : tensor<?x?xf32>) -> tensor<?x?xf32>
  %sum = linalg.reduce {arith.addf} ins(%abs : tensor<?x?xf32>) outs(%none : tensor<?xf32>)
      dimensions = [0]
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%abs, %sum : tensor<?x?xf32>, tensor<?xf32>) outs(%full : tensor<?x?xf32>) {
  ^bb0(%v: f32, %total: f32, %o: f32):
    %d = arith.addf %total, %one : f32
    %q = arith.divf %v, %d : f32
    linalg.yield %q : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
