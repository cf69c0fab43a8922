// Padding with a constant, different on each side, static and dynamic amounts.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 2x2xf32=1 2 3 4
// INPUT: index=1
// EXPECT: result[0]: 3x5xf32=[[-1.5, -1.5, -1.5, -1.5, -1.5], [-1.5, 1, 2, -1.5, -1.5], [-1.5, 3, 4, -1.5, -1.5]]
// CASE:
// INPUT: 0x3xf32=[]
// INPUT: index=2
// EXPECT: result[0]: 1x7xf32=[[-1.5, -1.5, -1.5, -1.5, -1.5, -1.5, -1.5]]
// CASE:
// INPUT: 13x7xf32=rnd:1
// INPUT: index=0
// CASE:
// INPUT: 13x7xf32=rnd:1
// INPUT: index=5

func.func @main(%x: tensor<?x?xf32>, %k: index) -> tensor<?x?xf32> {
  %v = arith.constant -1.5 : f32
  %r = tensor.pad %x low[1, %k] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } : tensor<?x?xf32> to tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
