// Columns that do not fill vectors, a sum of which only the call knows the length, and a reduction behind it.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-4
// CASE:
// INPUT: 64x700xf32=rnd:1
// INPUT: 700x9xf32=rnd:2
// INPUT: 64x9xf32=rnd:3
// CASE:
// INPUT: 64x1xf32=rnd:4
// INPUT: 1x9xf32=rnd:5
// INPUT: 64x9xf32=rnd:6

func.func @main(%a: tensor<64x?xf32>, %b: tensor<?x9xf32>, %c: tensor<64x9xf32>) -> tensor<9xf32> {
  %p = linalg.matmul ins(%a, %b : tensor<64x?xf32>, tensor<?x9xf32>) outs(%c : tensor<64x9xf32>) -> tensor<64x9xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<9xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<9xf32>) -> tensor<9xf32>
  %r = linalg.reduce ins(%p : tensor<64x9xf32>) outs(%z : tensor<9xf32>) dimensions = [0]
    (%x: f32, %most: f32) {
      %m = arith.maximumf %x, %most : f32
      linalg.yield %m : f32
    }
  return %r : tensor<9xf32>
}
