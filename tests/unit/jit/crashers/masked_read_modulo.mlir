// A masked transfer whose map has a remainder by zero.
func.func @main(%x: memref<8xf32>, %m: vector<4xi1>) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %v = vector.transfer_read %x[%c0], %z, %m {permutation_map = affine_map<(d0) -> (d0 mod 0)>} : memref<8xf32>, vector<4xf32>
  return
}
