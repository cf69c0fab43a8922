// The affine dialect, in kernels and around tensors.

// INPUT: index=7
// INPUT: index=3
// EXPECT: result[0]: index=17
// EXPECT: result[1]: index=7
// EXPECT: result[2]: index=3
func.func @values(%a: index, %b: index) -> (index, index, index) {
  %r = affine.apply affine_map<(i, j) -> (2 * i + j)>(%a, %b)
  %max = affine.max affine_map<(i, j) -> (i, j)>(%a, %b)
  %min = affine.min affine_map<(i, j) -> (i, j)>(%a, %b)
  return %r, %max, %min : index, index, index
}

// INPUT: index=17
// EXPECT: result[0]: index=2
// EXPECT: result[1]: index=1
// EXPECT: result[2]: index=2
// EXPECT: result[3]: index=17
func.func @linear(%a: index) -> (index, index, index, index) {
  %d:3 = affine.delinearize_index %a into (3, 2, 3) : index, index, index
  %l = affine.linearize_index [%d#0, %d#1, %d#2] by (3, 2, 3) : index
  return %d#0, %d#1, %d#2, %l : index, index, index, index
}

// INPUT: 5xf32=1,2,3,4,5
// EXPECT: result[0]: f32=9
// EXPECT: arg[0]: 5xf32=[2, 2, 4, 4, 6]
func.func @for(%x: memref<?xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %sum = affine.for %i = 0 to %n step 2 iter_args(%s = %zero) -> (f32) {
    %v = affine.load %x[%i] : memref<?xf32>
    %w = arith.addf %v, %one : f32
    affine.store %w, %x[%i] : memref<?xf32>
    %t = arith.addf %s, %v : f32
    affine.yield %t : f32
  }
  return %sum : f32
}

// INPUT: 5xf32=1,2,3,4,5
// EXPECT: arg[0]: 5xf32=[0, 0, 3, 4, 5]
func.func @if(%x: memref<5xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 5 {
    affine.if affine_set<(i) : (1 - i >= 0)>(%i) {
      affine.store %zero, %x[%i] : memref<5xf32>
    }
  }
  return
}

// INPUT: index=1
// EXPECT: result[0]: i32=10
// CASE:
// INPUT: index=2
// EXPECT: result[0]: i32=20
func.func @if_value(%i: index) -> i32 {
  %a = arith.constant 10 : i32
  %b = arith.constant 20 : i32
  %r = affine.if affine_set<(i) : (1 - i >= 0)>(%i) -> i32 {
    affine.yield %a : i32
  } else {
    affine.yield %b : i32
  }
  return %r : i32
}

// INPUT: 2x3xf32=1,2,3,4,5,6
// EXPECT: arg[0]: 2x3xf32=[1, 4, 9, 16, 25, 36]
func.func @parallel(%x: memref<2x3xf32>) {
  affine.parallel (%i, %j) = (0, 0) to (2, 3) {
    %v = affine.load %x[%i, %j] : memref<2x3xf32>
    %s = arith.mulf %v, %v : f32
    affine.store %s, %x[%i, %j] : memref<2x3xf32>
  }
  return
}

// INPUT: 4xf32=1,2,3,4
// EXPECT: result[0]: f32=10
func.func @parallel_reduce(%x: memref<4xf32>) -> f32 {
  %r = affine.parallel (%i) = (0) to (4) reduce ("addf") -> f32 {
    %v = affine.load %x[%i] : memref<4xf32>
    affine.yield %v : f32
  }
  return %r : f32
}

// INPUT: 4xf32=1,2,3,4
// INPUT: 4xf32=0
// EXPECT: arg[1]: 4xf32=[0, 2, 3, 0]
func.func @vectors(%x: memref<4xf32>, %z: memref<4xf32>) {
  affine.for %i = 0 to 1 {
    affine.prefetch %x[%i], read, locality<3>, data : memref<4xf32>
    %v = affine.vector_load %x[%i + 1] : memref<4xf32>, vector<2xf32>
    affine.vector_store %v, %z[%i + 1] : memref<4xf32>, vector<2xf32>
  }
  return
}

// INPUT: 3xf32=1,2,3
// INPUT: index=2
// EXPECT: result[0]: f32=6
// EXPECT: result[1]: 3xf32=[4, 8, 12]
// EXPECT: result[2]: f32=3
func.func @tensors(%x: tensor<?xf32>, %k: index) -> (f32, tensor<?xf32>, f32) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %zero = arith.constant 0.0 : f32
  %sum = affine.for %i = 0 to %n iter_args(%s = %zero) -> (f32) {
    %v = tensor.extract %x[%i] : tensor<?xf32>
    %t = arith.addf %s, %v : f32
    affine.yield %t : f32
  }
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %k4 = affine.apply affine_map<(i) -> (2 * i)>(%k)
    %max = affine.max affine_map<(i) -> (i, 4)>(%k4)
    %min = affine.min affine_map<(i) -> (i, 4)>(%max)
    %d:2 = affine.delinearize_index %min into (3, 5) : index, index
    %l = affine.linearize_index [%d#0, %d#1] by (3, 5) : index
    %i = arith.index_cast %l : index to i32
    %f = arith.sitofp %i : i32 to f32
    %p = arith.mulf %a, %f : f32
    linalg.yield %p : f32
  } -> tensor<?xf32>
  %c = affine.if affine_set<(i) : (1 - i >= 0)>(%k) -> f32 {
    affine.yield %zero : f32
  } else {
    %v = tensor.extract %x[%k] : tensor<?xf32>
    affine.yield %v : f32
  }
  return %sum, %r, %c : f32, tensor<?xf32>, f32
}

// A tensor that a loop carries.
// INPUT: 3xf32=1,2,3
// EXPECT: result[0]: 3xf32=[4, 8, 12]
func.func @for_tensor(%x: tensor<?xf32>) -> tensor<?xf32> {
  %r = affine.for %i = 0 to 2 iter_args(%t = %x) -> (tensor<?xf32>) {
    %d = arith.addf %t, %t : tensor<?xf32>
    affine.yield %d : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----
// INPUT: 4xf32=1,2,3,4
// EXPECT: result[0]: f32=10
func.func @parallel_tensor(%x: tensor<4xf32>) -> f32 {
  %r = affine.parallel (%i) = (0) to (4) reduce ("addf") -> f32 {
    %v = tensor.extract %x[%i] : tensor<4xf32>
    affine.yield %v : f32
  }
  return %r : f32
}

// -----
// INPUT: index=1
// INPUT: 3xf32=1,2,3
// EXPECT: result[0]: 3xf32=[1, 2, 3]
// CASE:
// INPUT: index=2
// INPUT: 3xf32=1,2,3
// EXPECT: result[0]: 3xf32=[2, 4, 6]
func.func @if_tensor(%i: index, %x: tensor<?xf32>) -> tensor<?xf32> {
  %r = affine.if affine_set<(i) : (1 - i >= 0)>(%i) -> tensor<?xf32> {
    affine.yield %x : tensor<?xf32>
  } else {
    %d = arith.addf %x, %x : tensor<?xf32>
    affine.yield %d : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----
// REFUSED: affine.dma_start: no memory here is copied beside the program
func.func @main(%a: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %b = memref.alloc() : memref<4xf32, 1>
  %tag = memref.alloc() : memref<1xi32>
  affine.dma_start %a[%c0], %b[%c0], %tag[%c0], %c4 : memref<4xf32>, memref<4xf32, 1>, memref<1xi32>
  return
}

// -----
// REFUSED: affine.dma_wait: no memory here is copied beside the program
func.func @main(%tag: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  affine.dma_wait %tag[%c0], %c4 : memref<1xi32>
  return
}
