// A reduction over nothing, whose result an elementwise op takes: one workgroup has no tiles to divide.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 3x0xf32=[]
// INPUT: 3xf32=1 2 3
// EXPECT: result[0]: 3xf32=[1, 2, 3]
// CASE:
// INPUT: 0x0xf32=[]
// INPUT: 0xf32=[]
// EXPECT: result[0]: 0xf32=[]
// CASE:
// INPUT: 70001x0xf32=[]
// INPUT: 70001xf32=2

func.func @main(%x: tensor<?x0xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x0xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.reduce {arith.addf} ins(%x : tensor<?x0xf32>) outs(%f : tensor<?xf32>) dimensions = [1]
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>,
                                        affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%s, %y : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
