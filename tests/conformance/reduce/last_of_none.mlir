// A reduction that keeps the last element of each row, and what was there where a row has none.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 4x3xf32=1 2 3 4 5 6 7 8 9 10 11 12
// INPUT: 4xf32=1 2 3 4
// EXPECT: result[0]: 4xf32=[3, 6, 9, 12]
// CASE:
// INPUT: 4x0xf32=[]
// INPUT: 4xf32=1 2 3 4
// EXPECT: result[0]: 4xf32=[1, 2, 3, 4]
// CASE:
// INPUT: 0x5xf32=[]
// INPUT: 0xf32=[]
// EXPECT: result[0]: 0xf32=[]

func.func @main(%x: tensor<?x?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%y : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
