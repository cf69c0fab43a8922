// Vector reduction, shuffle, broadcast, extract and insert.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-6
// CASE:
// INPUT: 8xf32=1 2 3 4 5 6 7 8
// INPUT: 4xf32=0
// EXPECT: result[0]: f32=36
// EXPECT: arg[1]: 4xf32=[1, 3, 5, 36]
// CASE:
// INPUT: 8xf32=rnd:1
// INPUT: 4xf32=0

func.func @main(%x: memref<8xf32>, %y: memref<4xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %v = vector.load %x[%c0] : memref<8xf32>, vector<8xf32>
  %sum = vector.reduction <add>, %v : vector<8xf32> into f32
  %even = vector.shuffle %v, %v [0, 2, 4, 6] : vector<8xf32>, vector<8xf32>
  %first = vector.extract %v[0] : f32 from vector<8xf32>
  %b = vector.broadcast %first : f32 to vector<4xf32>
  %m = arith.mulf %even, %b : vector<4xf32>
  %i = vector.insert %sum, %m[3] : f32 into vector<4xf32>
  vector.store %i, %y[%c0] : memref<4xf32>, vector<4xf32>
  return %sum : f32
}
