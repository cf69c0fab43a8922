// One of two tensors is chosen, whose extents differ: of arguments, of temporaries, and written afterwards.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-6
// CASE:
// INPUT: i1=1
// INPUT: 2xf32=1 2
// INPUT: 3xf32=3 4 5
// EXPECT: result[0]: 2xf32=[1, 2]
// EXPECT: result[1]: 2xf32=[4, 16]
// EXPECT: result[2]: 2xf32=[2, 3]
// EXPECT: result[3]: 2xf32=[1, 2]
// CASE:
// INPUT: i1=0
// INPUT: 2xf32=1 2
// INPUT: 3xf32=3 4 5
// EXPECT: result[0]: 3xf32=[3, 4, 5]
// EXPECT: result[1]: 3xf32=[9, 16, 25]
// EXPECT: result[2]: 3xf32=[4, 5, 6]
// EXPECT: result[3]: 2xf32=[1, 2]
// CASE:
// INPUT: i1=1
// INPUT: 0xf32=0
// INPUT: 1xf32=3
// CASE:
// INPUT: i1=0
// INPUT: 1xf32=3
// INPUT: 0xf32=0
// CASE:
// INPUT: i1=1
// INPUT: 1009xf32=rnd:1
// INPUT: 17xf32=rnd:2
// CASE:
// INPUT: i1=0
// INPUT: 1009xf32=rnd:1
// INPUT: 17xf32=rnd:2

!t = tensor<?xf32>
func.func @main(%c: i1, %x: !t, %y: !t) -> (!t, !t, !t, !t) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %chosen = scf.if %c -> !t {
    scf.yield %x : !t
  } else {
    scf.yield %y : !t
  }
  %twice = arith.addf %x, %x : !t
  %made = arith.select %c, %twice, %y : !t
  %square = arith.mulf %made, %made : !t
  %more = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%chosen : !t) {
  ^bb0(%o: f32):
    %s = arith.addf %o, %one : f32
    linalg.yield %s : f32
  } -> !t
  return %chosen, %square, %more, %x : !t, !t, !t, !t
}
