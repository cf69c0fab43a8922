// Weights of 4 bits and signs of 2, one in a byte: with a sign, without, computed, and in vectors.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 6xi4=-8,7,-1,15,3,0
// INPUT: 6xi2=1,-1,-2,0,3,2
// INPUT: i4=3
// INPUT: 8xi4=0,1,2,3,4,5,6,7
// EXPECT: result[0]: 6xi32=[-8, -7, 2, 0, -3, 0]
// EXPECT: result[1]: 6xi4=[-5, -6, 2, 2, 6, 3]
// EXPECT: result[2]: 6xf32=[1, 3, 2, 0, 3, 2]
// EXPECT: arg[3]: 8xi4=[0, 2, 4, 6, -8, -6, -4, -2]
// CASE:
// INPUT: 301xi4=rnd:1
// INPUT: 301xi2=rnd:2
// INPUT: i4=-5
// INPUT: 8xi4=rnd:3

#id = affine_map<(i) -> (i)>
func.func @main(%w: tensor<?xi4>, %s: tensor<?xi2>, %k: i4, %m: memref<8xi4>)
    -> (tensor<?xi32>, tensor<?xi4>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %w, %c0 : tensor<?xi4>
  %e = tensor.empty(%n) : tensor<?xi32>
  %f = tensor.empty(%n) : tensor<?xi4>
  %g = tensor.empty(%n) : tensor<?xf32>
  %r:3 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%w, %s : tensor<?xi4>, tensor<?xi2>) outs(%e, %f, %g : tensor<?xi32>, tensor<?xi4>, tensor<?xf32>) {
  ^bb0(%a: i4, %b: i2, %o: i32, %p: i4, %q: f32):
    %x = arith.extsi %a : i4 to i32
    %y = arith.extsi %b : i2 to i32
    %product = arith.muli %x, %y : i32
    %sum = arith.addi %a, %k : i4
    %u = arith.uitofp %b : i2 to f32
    linalg.yield %product, %sum, %u : i32, i4, f32
  } -> (tensor<?xi32>, tensor<?xi4>, tensor<?xf32>)
  %v = vector.load %m[%c0] : memref<8xi4>, vector<8xi4>
  %d = arith.addi %v, %v : vector<8xi4>
  vector.store %d, %m[%c0] : memref<8xi4>, vector<8xi4>
  return %r#0, %r#1, %r#2 : tensor<?xi32>, tensor<?xi4>, tensor<?xf32>
}
