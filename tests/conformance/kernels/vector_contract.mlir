// A small product by vector.contract and transfers of two dimensions.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// CASE:
// INPUT: 2x3xf32=1 2 3 4 5 6
// INPUT: 3x2xf32=1 0 0 1 1 1
// INPUT: 2x2xf32=100
// EXPECT: arg[2]: 2x2xf32=[[104, 105], [110, 111]]
// CASE:
// INPUT: 2x3xf32=rnd:1
// INPUT: 3x2xf32=rnd:2
// INPUT: 2x2xf32=0

func.func @main(%a: memref<2x3xf32>, %b: memref<3x2xf32>, %c: memref<2x2xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %x = vector.transfer_read %a[%c0, %c0], %zero : memref<2x3xf32>, vector<2x3xf32>
  %y = vector.transfer_read %b[%c0, %c0], %zero : memref<3x2xf32>, vector<3x2xf32>
  %z = vector.transfer_read %c[%c0, %c0], %zero : memref<2x2xf32>, vector<2x2xf32>
  %r = vector.contract {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                       affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
      %x, %y, %z : vector<2x3xf32>, vector<3x2xf32> into vector<2x2xf32>
  vector.transfer_write %r, %c[%c0, %c0] : vector<2x2xf32>, memref<2x2xf32>
  return
}
