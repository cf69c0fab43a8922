// Tensors: making them, reading them, changing their shape. The functions of one module are compiled together.

// INPUT: 4xf32=1,2,3,4
// EXPECT: result[0]: f32=2
func.func @cast(%x: tensor<4xf32>) -> f32 {
  %c1 = arith.constant 1 : index
  %d = tensor.cast %x : tensor<4xf32> to tensor<?xf32>
  %v = tensor.extract %d[%c1] : tensor<?xf32>
  return %v : f32
}

// INPUT: 2x2xf32=1,2,3,4
// EXPECT: result[0]: 4xf32=[1, 2, 3, 4]
func.func @collapse_shape(%x: tensor<2x?xf32>) -> tensor<?xf32> {
  %d = tensor.collapse_shape %x [[0, 1]] : tensor<2x?xf32> into tensor<?xf32>
  return %d : tensor<?xf32>
}

// INPUT: 4xf32=1,2,3,4
// EXPECT: result[0]: 2x2xf32=[1, 2, 3, 4]
func.func @expand_shape(%x: tensor<?xf32>) -> tensor<2x?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %h = arith.divui %n, %c2 : index
  %d = tensor.expand_shape %x [[0, 1]] output_shape [2, %h] : tensor<?xf32> into tensor<2x?xf32>
  return %d : tensor<2x?xf32>
}

// INPUT: 2xf32=1,2
// INPUT: 3xf32=3,4,5
// EXPECT: result[0]: 5xf32=[1, 2, 3, 4, 5]
func.func @concat(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %r = tensor.concat dim(0) %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// INPUT: 2x3xf32=0
// EXPECT: result[0]: index=3
// EXPECT: result[1]: index=2
func.func @dim(%x: tensor<?x?xf32>) -> (index, index) {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %r = tensor.rank %x : tensor<?x?xf32>
  return %n, %r : index, index
}

// INPUT: 3xf32=1,2,3
// EXPECT: result[0]: 3xf32=[2, 4, 6]
func.func @empty(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.add ins(%x, %x : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// INPUT: 3xf32=1,2,3
// INPUT: index=1
// INPUT: f32=9
// EXPECT: result[0]: f32=2
// EXPECT: result[1]: 3xf32=[1, 9, 3]
func.func @extract_insert(%x: tensor<?xf32>, %i: index, %v: f32) -> (f32, tensor<?xf32>) {
  %a = tensor.extract %x[%i] : tensor<?xf32>
  %r = tensor.insert %v into %x[%i] : tensor<?xf32>
  return %a, %r : f32, tensor<?xf32>
}

// INPUT: 5xf32=1,2,3,4,5
// INPUT: 2xf32=8,9
// INPUT: index=1
// EXPECT: result[0]: 2xf32=[2, 4]
// EXPECT: result[1]: 5xf32=[1, 8, 3, 9, 5]
func.func @slices(%x: tensor<?xf32>, %y: tensor<2xf32>, %i: index) -> (tensor<2xf32>, tensor<?xf32>) {
  %s = tensor.extract_slice %x[%i] [2] [2] : tensor<?xf32> to tensor<2xf32>
  %r = tensor.insert_slice %y into %x[%i] [2] [2] : tensor<2xf32> into tensor<?xf32>
  return %s, %r : tensor<2xf32>, tensor<?xf32>
}

// INPUT: f32=1
// INPUT: f32=2
// EXPECT: result[0]: 2x2xf32=[1, 2, 2, 1]
func.func @from_elements(%a: f32, %b: f32) -> tensor<2x2xf32> {
  %r = tensor.from_elements %a, %b, %b, %a : tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}

// INPUT: index=3
// EXPECT: result[0]: 3x2xindex=[0, 1, 10, 11, 20, 21]
func.func @generate(%n: index) -> tensor<?x2xindex> {
  %c10 = arith.constant 10 : index
  %r = tensor.generate %n {
  ^bb0(%i: index, %j: index):
    %a = arith.muli %i, %c10 : index
    %b = arith.addi %a, %j : index
    tensor.yield %b : index
  } : tensor<?x2xindex>
  return %r : tensor<?x2xindex>
}

// INPUT: 2xf32=1,2
// INPUT: index=1
// INPUT: f32=7
// EXPECT: result[0]: 5xf32=[7, 1, 2, 7, 7]
func.func @pad(%x: tensor<?xf32>, %low: index, %v: f32) -> tensor<?xf32> {
  %r = tensor.pad %x low[%low] high[2] {
  ^bb0(%i: index):
    tensor.yield %v : f32
  } : tensor<?xf32> to tensor<?xf32>
  return %r : tensor<?xf32>
}

// INPUT: 6xf32=1,2,3,4,5,6
// INPUT: 2xindex=3,2
// EXPECT: result[0]: 3x2xf32=[1, 2, 3, 4, 5, 6]
func.func @reshape(%x: tensor<?xf32>, %shape: tensor<2xindex>) -> tensor<?x?xf32> {
  %r = tensor.reshape %x(%shape) : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// INPUT: f32=3
// INPUT: index=2
// EXPECT: result[0]: 2x2xf32=[3, 3, 3, 3]
func.func @splat(%v: f32, %n: index) -> tensor<?x2xf32> {
  %r = tensor.splat %v[%n] : tensor<?x2xf32>
  return %r : tensor<?x2xf32>
}

// -----
// Bits stay, types change.
// INPUT: 2xi32=-1,5
// EXPECT: result[0]: 2xi32=[-2, 10]
func.func @bitcast(%x: tensor<2xi32>) -> tensor<2xi32> {
  %u = tensor.bitcast %x : tensor<2xi32> to tensor<2xui32>
  %s = tensor.bitcast %u : tensor<2xui32> to tensor<2xi32>
  %r = arith.addi %s, %s : tensor<2xi32>
  return %r : tensor<2xi32>
}

// INPUT: 2xi32=1065353216,1073741824
// EXPECT: result[0]: 2xf32=[1, 2]
func.func @bitcast_float(%x: tensor<?xi32>) -> tensor<?xf32> {
  %r = tensor.bitcast %x : tensor<?xi32> to tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----
// Slices at coordinates that are data.
// INPUT: 3x2xf32=1,2,3,4,5,6
// INPUT: 2x1xindex=2,0
// EXPECT: result[0]: 2x1x2xf32=[5, 6, 1, 2]
func.func @gather(%x: tensor<?x2xf32>, %i: tensor<2x1xindex>) -> tensor<2x1x2xf32> {
  %r = tensor.gather %x[%i] gather_dims([0]) : (tensor<?x2xf32>, tensor<2x1xindex>) -> tensor<2x1x2xf32>
  return %r : tensor<2x1x2xf32>
}

// The gathered dimension is dropped, coordinates are i32, the number of them is dynamic.
// INPUT: 2x3xf32=1,2,3,4,5,6
// INPUT: 3x1xi32=2,0,2
// EXPECT: result[0]: 3x2xf32=[3, 6, 1, 4, 3, 6]
func.func @gather_columns(%x: tensor<2x?xf32>, %i: tensor<?x1xi32>) -> tensor<?x2xf32> {
  %r = tensor.gather %x[%i] gather_dims([1]) : (tensor<2x?xf32>, tensor<?x1xi32>) -> tensor<?x2xf32>
  return %r : tensor<?x2xf32>
}

// INPUT: 2x3xf32=1,2,3,4,5,6
// INPUT: 2x2xindex=1,2,0,0
// EXPECT: result[0]: 2xf32=[6, 1]
func.func @gather_elements(%x: tensor<2x3xf32>, %i: tensor<2x2xindex>) -> tensor<2xf32> {
  %r = tensor.gather %x[%i] gather_dims([0, 1]) : (tensor<2x3xf32>, tensor<2x2xindex>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// INPUT: 2x3xf32=1,2,3,4,5,6
// INPUT: 1x1xindex=2
// FAILS: out of range
func.func @gather_outside(%x: tensor<2x3xf32>, %i: tensor<1x1xindex>) -> tensor<1x3xf32> {
  %r = tensor.gather %x[%i] gather_dims([0]) : (tensor<2x3xf32>, tensor<1x1xindex>) -> tensor<1x3xf32>
  return %r : tensor<1x3xf32>
}

// -----
// INPUT: 2x1x2xf32=10,20,30,40
// INPUT: 3x2xf32=1,2,3,4,5,6
// INPUT: 2x1xindex=2,0
// EXPECT: result[0]: 3x2xf32=[30, 40, 3, 4, 10, 20]
func.func @scatter(%s: tensor<2x1x2xf32>, %x: tensor<3x2xf32>, %i: tensor<2x1xindex>) -> tensor<3x2xf32> {
  %r = tensor.scatter %s into %x[%i] scatter_dims([0]) unique
      : (tensor<2x1x2xf32>, tensor<3x2xf32>, tensor<2x1xindex>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

// INPUT: 3x2xf32=30,60,10,40,31,61
// INPUT: 2x4xf32=1,2,3,4,5,6,7,8
// INPUT: 3x1xi32=2,0,3
// EXPECT: result[0]: 2x4xf32=[10, 2, 30, 31, 40, 6, 60, 61]
func.func @scatter_columns(%s: tensor<?x2xf32>, %x: tensor<2x?xf32>, %i: tensor<?x1xi32>) -> tensor<2x?xf32> {
  %r = tensor.scatter %s into %x[%i] scatter_dims([1]) unique
      : (tensor<?x2xf32>, tensor<2x?xf32>, tensor<?x1xi32>) -> tensor<2x?xf32>
  return %r : tensor<2x?xf32>
}

// INPUT: 1x2xf32=10,20
// INPUT: 3x2xf32=1,2,3,4,5,6
// INPUT: 1x1xindex=3
// FAILS: in steps of 1 leaves dimension 0 of tensor<3x2xf32>, which has 3
func.func @scatter_outside(%s: tensor<1x2xf32>, %x: tensor<3x2xf32>, %i: tensor<1x1xindex>) -> tensor<3x2xf32> {
  %r = tensor.scatter %s into %x[%i] scatter_dims([0]) unique
      : (tensor<1x2xf32>, tensor<3x2xf32>, tensor<1x1xindex>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}
