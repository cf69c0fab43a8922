// Vectors, in kernels; in functions over tensors where a transfer takes them from one.
// EACH: OP       WANT  TWICE
//      add       11    13
//      mul       48    96
//      minnumf   2     2
//      maxnumf   4     4
//      minimumf  2     2
//      maximumf  4     4

// INPUT: 4xf32=2,2,3,4
// EXPECT: result[0]: f32=$WANT
func.func @reduction_$OP(%m: memref<4xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %v = vector.load %m[%c0] : memref<4xf32>, vector<4xf32>
  %r = vector.reduction <$OP>, %v : vector<4xf32> into f32
  return %r : f32
}

// INPUT: 2x2xf32=2,2,3,4
// EXPECT: result[0]: f32=$TWICE
func.func @multi_reduction_$OP(%m: memref<2x2xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %v = vector.transfer_read %m[%c0, %c0], %zero : memref<2x2xf32>, vector<2x2xf32>
  %first = vector.extract %v[0, 0] : f32 from vector<2x2xf32>
  %r = vector.multi_reduction <$OP>, %v, %first [0, 1] : vector<2x2xf32> to f32
  return %r : f32
}

// -----
// EACH: OP     WANT
//      add    12
//      mul    -35
//      and    1
//      or     -1
//      xor    -4
//      minsi  -1
//      maxsi  7
//      minui  1
//      maxui  -1

// INPUT: 4xi32=1,-1,5,7
// EXPECT: result[0]: i32=$WANT
func.func @reduction_$OP(%m: memref<4xi32>) -> i32 {
  %c0 = arith.constant 0 : index
  %v = vector.load %m[%c0] : memref<4xi32>, vector<4xi32>
  %r = vector.reduction <$OP>, %v : vector<4xi32> into i32
  return %r : i32
}

// -----
// Memory.

// INPUT: 4xf32=1,2,3,4
// INPUT: 4xf32=0
// EXPECT: arg[1]: 4xf32=[1, 2, 3, 4]
func.func @load_store(%x: memref<4xf32>, %z: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %v = vector.load %x[%c0] : memref<4xf32>, vector<4xf32>
  vector.store %v, %z[%c0] : memref<4xf32>, vector<4xf32>
  return
}

// INPUT: 3xf32=1,2,3
// INPUT: 3xf32=0
// EXPECT: arg[1]: 3xf32=[0, 2, 3]
func.func @transfer(%x: memref<?xf32>, %z: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %pad = arith.constant -7.0 : f32
  %v = vector.transfer_read %x[%c1], %pad : memref<?xf32>, vector<4xf32>
  vector.transfer_write %v, %z[%c1] : vector<4xf32>, memref<?xf32>
  return
}

// INPUT: 3xf32=1,2,3
// EXPECT: result[0]: 4xf32=[2, 3, -7, -7]
func.func @transfer_tensor(%x: tensor<?xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %pad = arith.constant -7.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %v = vector.transfer_read %x[%c1], %pad : tensor<?xf32>, vector<4xf32>
  %r = vector.transfer_write %v, %e[%c0] : vector<4xf32>, tensor<4xf32>
  return %r : tensor<4xf32>
}

// INPUT: 4xf32=1,2,3,4
// INPUT: 4xf32=0
// EXPECT: arg[1]: 4xf32=[1, -1, 3, 0]
func.func @masked(%x: memref<4xf32>, %z: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %m = arith.constant dense<[true, false, true, false]> : vector<4xi1>
  %n = arith.constant dense<[true, true, true, false]> : vector<4xi1>
  %p = arith.constant dense<-1.0> : vector<4xf32>
  %v = vector.maskedload %x[%c0], %m, %p : memref<4xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  vector.maskedstore %z[%c0], %n, %v : memref<4xf32>, vector<4xi1>, vector<4xf32>
  return
}

// INPUT: 4xf32=1,2,3,4
// INPUT: 4xf32=0
// EXPECT: arg[1]: 4xf32=[1, 2, 0, 0]
func.func @expandload_compressstore(%x: memref<4xf32>, %z: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %m = arith.constant dense<[true, false, true, false]> : vector<4xi1>
  %p = arith.constant dense<-1.0> : vector<4xf32>
  %v = vector.expandload %x[%c0], %m, %p : memref<4xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  vector.compressstore %z[%c0], %m, %v : memref<4xf32>, vector<4xi1>, vector<4xf32>
  return
}

// INPUT: 4xf32=1,2,3,4
// INPUT: 4xf32=0
// EXPECT: arg[1]: 4xf32=[0, -1, 0, 4]
func.func @gather_scatter(%x: memref<4xf32>, %z: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %i = arith.constant dense<[3, 0]> : vector<2xindex>
  %j = arith.constant dense<[3, 1]> : vector<2xindex>
  %m = arith.constant dense<[true, false]> : vector<2xi1>
  %n = arith.constant dense<true> : vector<2xi1>
  %p = arith.constant dense<-1.0> : vector<2xf32>
  %v = vector.gather %x[%c0] [%i], %m, %p : memref<4xf32>, vector<2xindex>, vector<2xi1>, vector<2xf32> into vector<2xf32>
  vector.scatter %z[%c0] [%j], %n, %v : memref<4xf32>, vector<2xindex>, vector<2xi1>, vector<2xf32>
  return
}

// INPUT: 4xf32=1,2,3,4
// EXPECT: result[0]: 2xf32=[4, -1]
func.func @gather_tensor(%x: tensor<?xf32>) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %i = arith.constant dense<[3, 0]> : vector<2xindex>
  %m = arith.constant dense<[true, false]> : vector<2xi1>
  %p = arith.constant dense<-1.0> : vector<2xf32>
  %e = tensor.empty() : tensor<2xf32>
  %v = vector.gather %x[%c0] [%i], %m, %p : tensor<?xf32>, vector<2xindex>, vector<2xi1>, vector<2xf32> into vector<2xf32>
  %r = vector.transfer_write %v, %e[%c0] : vector<2xf32>, tensor<2xf32>
  return %r : tensor<2xf32>
}

// INPUT: 4xf32=1,2,3,4
// EXPECT: result[0]: f32=2
func.func @type_cast(%x: memref<4xf32>) -> f32 {
  %t = vector.type_cast %x : memref<4xf32> to memref<vector<4xf32>>
  %v = memref.load %t[] : memref<vector<4xf32>>
  %r = vector.extract %v[1] : f32 from vector<4xf32>
  return %r : f32
}

// INPUT: 3xf32=1,2,3
// EXPECT: result[0]: f32=6
func.func @mask(%x: memref<?xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %pad = arith.constant 9.0 : f32
  %m = vector.create_mask %n : vector<4xi1>
  %v = vector.mask %m { vector.transfer_read %x[%c0], %pad {in_bounds = [true]} : memref<?xf32>, vector<4xf32> } : vector<4xi1> -> vector<4xf32>
  %r = vector.mask %m { vector.reduction <add>, %v : vector<4xf32> into f32 } : vector<4xi1> -> f32
  return %r : f32
}

// A mask goes along the memory, what stands in the place of its lanes along the vector.
// INPUT: 2x2xf32=1,2,3,4
// INPUT: 2x2xf32=10,20,30,40
// EXPECT: arg[1]: 2x2xf32=[[1, 20], [2, 40]]
func.func @transposed_mask(%x: memref<2x2xf32>, %p: memref<2x2xf32>) {
  %c0 = arith.constant 0 : index
  %pad = arith.constant 9.0 : f32
  %m = vector.constant_mask [1, 2] : vector<2x2xi1>
  %v = vector.transfer_read %p[%c0, %c0], %pad : memref<2x2xf32>, vector<2x2xf32>
  %r = vector.mask %m, %v {
    vector.transfer_read %x[%c0, %c0], %pad {permutation_map = affine_map<(i, j) -> (j, i)>} : memref<2x2xf32>, vector<2x2xf32>
  } : vector<2x2xi1> -> vector<2x2xf32>
  vector.transfer_write %r, %p[%c0, %c0] : vector<2x2xf32>, memref<2x2xf32>
  return
}

// INPUT: 2x3xf32=1,2,3,4,5,6
// INPUT: 3x2xf32=10,20,30,40,50,60
// EXPECT: arg[1]: 3x2xf32=[[4, 4], [5, 5], [50, 60]]
func.func @repeating_mask(%x: memref<2x3xf32>, %p: memref<3x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %pad = arith.constant 9.0 : f32
  %m = vector.constant_mask [2] : vector<3xi1>
  %v = vector.transfer_read %p[%c0, %c0], %pad : memref<3x2xf32>, vector<3x2xf32>
  %r = vector.mask %m, %v {
    vector.transfer_read %x[%c1, %c0], %pad {permutation_map = affine_map<(i, j) -> (j, 0)>, in_bounds = [true, true]} : memref<2x3xf32>, vector<3x2xf32>
  } : vector<3xi1> -> vector<3x2xf32>
  vector.transfer_write %r, %p[%c0, %c0] : vector<3x2xf32>, memref<3x2xf32>
  return
}

// Of lanes that are masked twice both masks have to take them.
// INPUT: 4xf32=1,2,3,4
// INPUT: 4xf32=10,20,30,40
// EXPECT: arg[1]: 4xf32=[10, 2, 9, 40]
func.func @masked_twice(%x: memref<4xf32>, %y: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %pad = arith.constant 9.0 : f32
  %two = vector.constant_mask [2] : vector<4xi1>
  %three = vector.constant_mask [3] : vector<4xi1>
  %behind = arith.constant dense<[false, true, true, true]> : vector<4xi1>
  %v = vector.mask %three { vector.transfer_read %x[%c0], %pad, %two : memref<4xf32>, vector<4xf32> } : vector<4xi1> -> vector<4xf32>
  vector.mask %three { vector.transfer_write %v, %y[%c0], %behind : vector<4xf32>, memref<4xf32> } : vector<4xi1>
  return
}

// Without an operation there is nothing to mask, but to choose.
// INPUT: 4xf32=1,2,3,4
// EXPECT: arg[0]: 4xf32=[1, 2, 6, 8]
func.func @mask_of_a_value(%x: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %pad = arith.constant 9.0 : f32
  %m = vector.constant_mask [2] : vector<4xi1>
  %v = vector.transfer_read %x[%c0], %pad : memref<4xf32>, vector<4xf32>
  vector.mask %m { } : vector<4xi1>
  %p = arith.addf %v, %v : vector<4xf32>
  %r = vector.mask %m, %p { vector.yield %v : vector<4xf32> } : vector<4xi1> -> vector<4xf32>
  vector.transfer_write %r, %x[%c0] : vector<4xf32>, memref<4xf32>
  return
}

// -----
// Within registers.

// INPUT: 4xf32=1,2,3,4
// INPUT: 4xi32=0
// EXPECT: arg[1]: 4xi32=[1065353216, 1073741824, 1077936128, 1082130432]
func.func @bitcast(%x: memref<4xf32>, %z: memref<4xi32>) {
  %c0 = arith.constant 0 : index
  %v = vector.load %x[%c0] : memref<4xf32>, vector<4xf32>
  %b = vector.bitcast %v : vector<4xf32> to vector<4xi32>
  vector.store %b, %z[%c0] : memref<4xi32>, vector<4xi32>
  return
}

// INPUT: f32=2
// INPUT: 2x3xf32=0
// EXPECT: arg[1]: 2x3xf32=[2, 2, 2, 2, 2, 2]
func.func @broadcast(%a: f32, %z: memref<2x3xf32>) {
  %c0 = arith.constant 0 : index
  %v = vector.broadcast %a : f32 to vector<3xf32>
  %w = vector.broadcast %v : vector<3xf32> to vector<2x3xf32>
  vector.transfer_write %w, %z[%c0, %c0] : vector<2x3xf32>, memref<2x3xf32>
  return
}

// INPUT: 4xi1=0
// EXPECT: arg[0]: 4xi1=[1, 1, 1, 0]
func.func @constant_mask(%z: memref<4xi1>) {
  %c0 = arith.constant 0 : index
  %m = vector.constant_mask [3] : vector<4xi1>
  vector.store %m, %z[%c0] : memref<4xi1>, vector<4xi1>
  return
}

// INPUT: index=2
// INPUT: 4xi1=0
// EXPECT: arg[1]: 4xi1=[1, 1, 0, 0]
func.func @create_mask(%n: index, %z: memref<4xi1>) {
  %c0 = arith.constant 0 : index
  %m = vector.create_mask %n : vector<4xi1>
  vector.store %m, %z[%c0] : memref<4xi1>, vector<4xi1>
  return
}

// INPUT: 2x3xf32=1,2,3,4,5,6
// INPUT: 3x2xf32=1,0,0,1,1,1
// INPUT: 2x2xf32=10,20,30,40
// EXPECT: arg[2]: 2x2xf32=[14, 25, 40, 51]
func.func @contract(%x: memref<2x3xf32>, %y: memref<3x2xf32>, %z: memref<2x2xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %a = vector.transfer_read %x[%c0, %c0], %zero : memref<2x3xf32>, vector<2x3xf32>
  %b = vector.transfer_read %y[%c0, %c0], %zero : memref<3x2xf32>, vector<3x2xf32>
  %c = vector.transfer_read %z[%c0, %c0], %zero : memref<2x2xf32>, vector<2x2xf32>
  %r = vector.contract {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                        iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
      %a, %b, %c : vector<2x3xf32>, vector<3x2xf32> into vector<2x2xf32>
  vector.transfer_write %r, %z[%c0, %c0] : vector<2x2xf32>, memref<2x2xf32>
  return
}

// INPUT: 4xf32=1,2,3,4
// INPUT: 4xf32=0
// EXPECT: arg[1]: 4xf32=[2, 1, 4, 3]
func.func @interleave(%x: memref<4xf32>, %z: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %v = vector.load %x[%c0] : memref<4xf32>, vector<4xf32>
  %a, %b = vector.deinterleave %v : vector<4xf32> -> vector<2xf32>
  %r = vector.interleave %b, %a : vector<2xf32> -> vector<4xf32>
  vector.store %r, %z[%c0] : memref<4xf32>, vector<4xf32>
  return
}

// INPUT: 4xf32=1,2,3,4
// INPUT: index=2
// INPUT: f32=9
// EXPECT: arg[0]: 4xf32=[9, 2, 3, 4]
// EXPECT: result[0]: f32=3
func.func @extract_insert(%x: memref<4xf32>, %i: index, %v: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %a = vector.load %x[%c0] : memref<4xf32>, vector<4xf32>
  %r = vector.extract %a[%i] : f32 from vector<4xf32>
  %b = vector.insert %v, %a[0] : f32 into vector<4xf32>
  vector.store %b, %x[%c0] : memref<4xf32>, vector<4xf32>
  return %r : f32
}

// INPUT: 4xf32=1,2,3,4
// EXPECT: arg[0]: 4xf32=[2, 3, 3, 4]
func.func @strided_slices(%x: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %a = vector.load %x[%c0] : memref<4xf32>, vector<4xf32>
  %s = vector.extract_strided_slice %a {offsets = [1], sizes = [2], strides = [1]} : vector<4xf32> to vector<2xf32>
  %b = vector.insert_strided_slice %s, %a {offsets = [0], strides = [1]} : vector<2xf32> into vector<4xf32>
  vector.store %b, %x[%c0] : memref<4xf32>, vector<4xf32>
  return
}

// INPUT: 2xf32=1,2
// EXPECT: arg[0]: 2xf32=[4, 8]
func.func @fma(%x: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %a = vector.load %x[%c0] : memref<2xf32>, vector<2xf32>
  %k = arith.constant dense<3.0> : vector<2xf32>
  %b = vector.fma %a, %k, %a : vector<2xf32>
  vector.store %b, %x[%c0] : memref<2xf32>, vector<2xf32>
  return
}

// INPUT: f32=1
// INPUT: f32=2
// INPUT: 2xf32=0
// EXPECT: arg[2]: 2xf32=[2, 1]
// EXPECT: result[0]: f32=3
func.func @elements(%a: f32, %b: f32, %z: memref<2xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %v = vector.from_elements %b, %a : vector<2xf32>
  %p:2 = vector.to_elements %v : vector<2xf32>
  %s = arith.addf %p#0, %p#1 : f32
  vector.store %v, %z[%c0] : memref<2xf32>, vector<2xf32>
  return %s : f32
}

// INPUT: 2xf32=1,2
// INPUT: 2xf32=3,4
// INPUT: 2x2xf32=10
// EXPECT: arg[2]: 2x2xf32=[13, 14, 16, 18]
func.func @outerproduct(%x: memref<2xf32>, %y: memref<2xf32>, %z: memref<2x2xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %a = vector.load %x[%c0] : memref<2xf32>, vector<2xf32>
  %b = vector.load %y[%c0] : memref<2xf32>, vector<2xf32>
  %c = vector.transfer_read %z[%c0, %c0], %zero : memref<2x2xf32>, vector<2x2xf32>
  %r = vector.outerproduct %a, %b, %c : vector<2xf32>, vector<2xf32>
  vector.transfer_write %r, %z[%c0, %c0] : vector<2x2xf32>, memref<2x2xf32>
  return
}

// INPUT: 2x2xf32=1,2,3,4
// EXPECT: arg[0]: 2x2xf32=[1, 2, 4, 6]
func.func @scan(%x: memref<2x2xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %a = vector.transfer_read %x[%c0, %c0], %zero : memref<2x2xf32>, vector<2x2xf32>
  %i = arith.constant dense<0.0> : vector<2xf32>
  %r, %last = vector.scan <add>, %a, %i {inclusive = true, reduction_dim = 0 : i64} : vector<2x2xf32>, vector<2xf32>
  vector.transfer_write %r, %x[%c0, %c0] : vector<2x2xf32>, memref<2x2xf32>
  return
}

// INPUT: 2x2xf32=1,2,3,4
// INPUT: 4xf32=0
// EXPECT: arg[1]: 4xf32=[1, 2, 3, 4]
func.func @shape_cast(%x: memref<2x2xf32>, %z: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %a = vector.transfer_read %x[%c0, %c0], %zero : memref<2x2xf32>, vector<2x2xf32>
  %b = vector.shape_cast %a : vector<2x2xf32> to vector<4xf32>
  vector.store %b, %z[%c0] : memref<4xf32>, vector<4xf32>
  return
}

// INPUT: 2xf32=1,2
// INPUT: 2xf32=3,4
// INPUT: 3xf32=0
// EXPECT: arg[2]: 3xf32=[4, 1, 3]
func.func @shuffle(%x: memref<2xf32>, %y: memref<2xf32>, %z: memref<3xf32>) {
  %c0 = arith.constant 0 : index
  %a = vector.load %x[%c0] : memref<2xf32>, vector<2xf32>
  %b = vector.load %y[%c0] : memref<2xf32>, vector<2xf32>
  %r = vector.shuffle %a, %b [3, 0, 2] : vector<2xf32>, vector<2xf32>
  vector.store %r, %z[%c0] : memref<3xf32>, vector<3xf32>
  return
}

// INPUT: 4xindex=0
// EXPECT: arg[0]: 4xindex=[0, 1, 2, 3]
func.func @step(%z: memref<4xindex>) {
  %c0 = arith.constant 0 : index
  %s = vector.step : vector<4xindex>
  vector.store %s, %z[%c0] : memref<4xindex>, vector<4xindex>
  return
}

// INPUT: 2x3xf32=1,2,3,4,5,6
// INPUT: 3x2xf32=0
// EXPECT: arg[1]: 3x2xf32=[1, 4, 2, 5, 3, 6]
func.func @transpose(%x: memref<2x3xf32>, %z: memref<3x2xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %a = vector.transfer_read %x[%c0, %c0], %zero : memref<2x3xf32>, vector<2x3xf32>
  %t = vector.transpose %a, [1, 0] : vector<2x3xf32> to vector<3x2xf32>
  vector.transfer_write %t, %z[%c0, %c0] : vector<3x2xf32>, memref<3x2xf32>
  return
}

// Vectors that a tensor gives and takes.
// INPUT: 2x2xf32=1,2,3,4
// EXPECT: result[0]: 2x2xf32=[2, 6, 4, 8]
func.func @transpose_tensor(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2xf32>
  %a = vector.transfer_read %x[%c0, %c0], %zero : tensor<2x2xf32>, vector<2x2xf32>
  %t = vector.transpose %a, [1, 0] : vector<2x2xf32> to vector<2x2xf32>
  %d = arith.addf %t, %t : vector<2x2xf32>
  %r = vector.transfer_write %d, %e[%c0, %c0] : vector<2x2xf32>, tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}

// -----
// REFUSED: vector.vscale: 'vector.vscale' is not supported
func.func @main() -> index {
  %r = vector.vscale
  return %r : index
}

// -----
// REFUSED: vector.scalable.insert: 'vector.scalable.insert' is not supported
func.func @main(%m: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %v = vector.load %m[%c0] : memref<4xf32>, vector<4xf32>
  %e = arith.constant dense<0.0> : vector<[4]xf32>
  %s = vector.scalable.insert %v, %e[0] : vector<4xf32> into vector<[4]xf32>
  return
}

// -----
// REFUSED: vector.scalable.extract: 'vector.scalable.extract' is not supported
func.func @main(%m: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %e = vector.load %m[%c0] : memref<?xf32>, vector<[4]xf32>
  %s = vector.scalable.extract %e[0] : vector<4xf32> from vector<[4]xf32>
  return
}

// -----
// REFUSED: vector.print: 'vector.print' is not supported
func.func @main(%a: f32) {
  vector.print %a : f32
  return
}
