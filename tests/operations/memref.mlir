// Buffers, in kernels; and around tensors what makes sense there.

// INPUT: index=3
// INPUT: f32=2
// EXPECT: result[0]: f32=4
func.func @alloc(%n: index, %v: f32) -> f32 {
  %c1 = arith.constant 1 : index
  %m = memref.alloc(%n) : memref<?xf32>
  memref.store %v, %m[%c1] : memref<?xf32>
  %a = memref.load %m[%c1] : memref<?xf32>
  %s = arith.addf %a, %v : f32
  memref.dealloc %m : memref<?xf32>
  return %s : f32
}

// INPUT: f32=2
// EXPECT: result[0]: f32=4
func.func @alloca(%v: f32) -> f32 {
  %c1 = arith.constant 1 : index
  %m = memref.alloca() : memref<3xf32>
  memref.store %v, %m[%c1] : memref<3xf32>
  %a = memref.load %m[%c1] : memref<3xf32>
  %s = arith.addf %a, %v : f32
  return %s : f32
}

// INPUT: f32=2
// INPUT: index=5
// EXPECT: result[0]: f32=10
func.func @alloca_scope(%v: f32, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (f32) {
    %t = memref.alloca_scope -> (f32) {
      %m = memref.alloca() : memref<4xf32>
      memref.store %v, %m[%c1] : memref<4xf32>
      %a = memref.load %m[%c1] : memref<4xf32>
      %b = arith.addf %a, %s : f32
      memref.alloca_scope.return %b : f32
    }
    scf.yield %t : f32
  }
  return %sum : f32
}

// INPUT: 4xf32=1,2,3,4
// EXPECT: result[0]: f32=10
func.func @assume_alignment(%m: memref<4xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %a = memref.assume_alignment %m, 4 : memref<4xf32>
  %v = vector.load %a[%c0] : memref<4xf32>, vector<4xf32>
  %s = vector.reduction <add>, %v : vector<4xf32> into f32
  return %s : f32
}

// INPUT: 2xi32=5,7
// INPUT: i32=3
// EXPECT: arg[0]: 2xi32=[5, 10]
// EXPECT: result[0]: i32=7
func.func @atomic_rmw(%m: memref<?xi32>, %v: i32) -> i32 {
  %c1 = arith.constant 1 : index
  %old = memref.atomic_rmw addi %v, %m[%c1] : (i32, memref<?xi32>) -> i32
  return %old : i32
}

// INPUT: 2xf32=5,7
// INPUT: f32=3
// EXPECT: arg[0]: 2xf32=[5, 10]
func.func @atomic_rmw_float(%m: memref<?xf32>, %v: f32) {
  %c1 = arith.constant 1 : index
  %old = memref.atomic_rmw addf %v, %m[%c1] : (f32, memref<?xf32>) -> f32
  return
}

// INPUT: 2xi32=5,7
// INPUT: i32=3
// EXPECT: arg[0]: 2xi32=[5, 21]
// EXPECT: result[0]: i32=21
func.func @generic_atomic_rmw(%m: memref<?xi32>, %v: i32) -> i32 {
  %c1 = arith.constant 1 : index
  %new = memref.generic_atomic_rmw %m[%c1] : memref<?xi32> {
  ^bb0(%old: i32):
    %p = arith.muli %old, %v : i32
    memref.atomic_yield %p : i32
  }
  return %new : i32
}

// INPUT: 4xf32=1,2,3,4
// EXPECT: result[0]: f32=2
func.func @cast(%m: memref<4xf32>) -> f32 {
  %c1 = arith.constant 1 : index
  %d = memref.cast %m : memref<4xf32> to memref<?xf32>
  %v = memref.load %d[%c1] : memref<?xf32>
  return %v : f32
}

// INPUT: 2x2xf32=1,2,3,4
// INPUT: index=3
// EXPECT: result[0]: f32=4
func.func @collapse_shape(%m: memref<2x?xf32>, %i: index) -> f32 {
  %d = memref.collapse_shape %m [[0, 1]] : memref<2x?xf32> into memref<?xf32>
  %v = memref.load %d[%i] : memref<?xf32>
  return %v : f32
}

// INPUT: 4xf32=1,2,3,4
// EXPECT: result[0]: f32=4
func.func @expand_shape(%m: memref<?xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = memref.dim %m, %c0 : memref<?xf32>
  %h = arith.divui %n, %c2 : index
  %d = memref.expand_shape %m [[0, 1]] output_shape [2, %h] : memref<?xf32> into memref<2x?xf32>
  %v = memref.load %d[%c1, %c1] : memref<2x?xf32>
  return %v : f32
}

// INPUT: 3xf32=1,2,3
// INPUT: 3xf32=0
// EXPECT: arg[1]: 3xf32=[1, 2, 3]
func.func @copy(%m: memref<?xf32>, %d: memref<?xf32>) {
  memref.copy %m, %d : memref<?xf32> to memref<?xf32>
  return
}

// What a call returns is the caller's.
// INPUT: f32=2
// EXPECT: result[0]: f32=2
func.func @dealloc_of_call(%v: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %m = func.call @make(%v) : (f32) -> memref<2xf32>
  %a = memref.load %m[%c0] : memref<2xf32>
  memref.dealloc %m : memref<2xf32>
  return %a : f32
}
func.func private @make(%v: f32) -> memref<2xf32> {
  %c0 = arith.constant 0 : index
  %m = memref.alloc() : memref<2xf32>
  memref.store %v, %m[%c0] : memref<2xf32>
  return %m : memref<2xf32>
}

// INPUT: 3x2xf32=0
// EXPECT: result[0]: index=3
// EXPECT: result[1]: index=2
func.func @dim(%m: memref<?x?xf32>) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.dim %m, %c0 : memref<?x?xf32>
  %b = memref.dim %m, %c1 : memref<?x?xf32>
  return %a, %b : index, index
}

// INPUT: 2xf32=1,2
// INPUT: 2xf32=3,4
// EXPECT: arg[1]: 2xf32=[1, 4]
func.func @distinct_objects(%x: memref<2xf32>, %y: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %a, %b = memref.distinct_objects %x, %y : memref<2xf32>, memref<2xf32>
  %v = memref.load %a[%c0] : memref<2xf32>
  memref.store %v, %b[%c0] : memref<2xf32>
  return
}

// The address itself is not the same in two runs; that of a second element is 4 bytes further.
// INPUT: 2xf32=1,2
// EXPECT: result[0]: index=0
func.func @extract_aligned_pointer_as_index(%x: memref<2xf32>) -> index {
  %p = memref.extract_aligned_pointer_as_index %x : memref<2xf32> -> index
  %c4 = arith.constant 4 : index
  %r = arith.remui %p, %c4 : index
  return %r : index
}

// INPUT: 5x3xf32=0
// EXPECT: result[0]: index=7
// EXPECT: result[1]: index=2
// EXPECT: result[2]: index=6
func.func @extract_strided_metadata(%x: memref<5x3xf32>) -> (index, index, index) {
  %s = memref.subview %x[2, 1] [2, 2] [2, 1] : memref<5x3xf32> to memref<2x2xf32, strided<[6, 1], offset: 7>>
  %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %s
      : memref<2x2xf32, strided<[6, 1], offset: 7>> -> memref<f32>, index, index, index, index, index
  return %offset, %sizes#0, %strides#0 : index, index, index
}

memref.global "private" constant @table : memref<3xf32> = dense<[1.0, 2.0, 4.0]>
memref.global "private" @state : memref<2xi32> = dense<[5, 6]>

// INPUT: index=2
// EXPECT: result[0]: f32=4
func.func @get_global(%i: index) -> f32 {
  %t = memref.get_global @table : memref<3xf32>
  %v = memref.load %t[%i] : memref<3xf32>
  return %v : f32
}

// INPUT: index=1
// EXPECT: result[0]: 3xf32=[2, 4, 8]
func.func @get_global_tensor(%i: index) -> tensor<3xf32> {
  %t = memref.get_global @table : memref<3xf32>
  %x = bufferization.to_tensor %t restrict : memref<3xf32> to tensor<3xf32>
  %r = arith.addf %x, %x : tensor<3xf32>
  return %r : tensor<3xf32>
}

// INPUT: i32=9
// EXPECT: result[0]: i32=6
func.func @global(%v: i32) -> i32 {
  %c1 = arith.constant 1 : index
  %t = memref.get_global @state : memref<2xi32>
  %old = memref.load %t[%c1] : memref<2xi32>
  memref.store %v, %t[%c1] : memref<2xi32>
  return %old : i32
}

// INPUT: 2xf32=1,2
// EXPECT: result[0]: f32=2
func.func @memory_space_cast(%m: memref<2xf32>) -> f32 {
  %c1 = arith.constant 1 : index
  %d = memref.memory_space_cast %m : memref<2xf32> to memref<2xf32, 1>
  %v = memref.load %d[%c1] : memref<2xf32, 1>
  return %v : f32
}

// INPUT: 2xf32=1,2
// EXPECT: result[0]: f32=2
func.func @prefetch(%m: memref<?xf32>) -> f32 {
  %c1 = arith.constant 1 : index
  memref.prefetch %m[%c1], read, locality<3>, data : memref<?xf32>
  %v = memref.load %m[%c1] : memref<?xf32>
  return %v : f32
}

// INPUT: 2x3xf32=1
// EXPECT: result[0]: index=2
func.func @rank(%m: memref<?x?xf32>) -> index {
  %r = memref.rank %m : memref<?x?xf32>
  return %r : index
}

// INPUT: 6xf32=1,2,3,4,5,6
// INPUT: index=2
// EXPECT: result[0]: f32=5
func.func @reinterpret_cast(%m: memref<?xf32>, %n: index) -> f32 {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %d = memref.reinterpret_cast %m to offset: [0], sizes: [%n, 3], strides: [3, 1]
      : memref<?xf32> to memref<?x3xf32>
  %v = memref.load %d[%c1, %c1] : memref<?x3xf32>
  return %v : f32
}

// INPUT: 6xf32=1,2,3,4,5,6
// INPUT: 2xindex=3,2
// EXPECT: result[0]: f32=4
func.func @reshape(%m: memref<?xf32>, %shape: memref<2xindex>) -> f32 {
  %c1 = arith.constant 1 : index
  %d = memref.reshape %m(%shape) : (memref<?xf32>, memref<2xindex>) -> memref<?x?xf32>
  %v = memref.load %d[%c1, %c1] : memref<?x?xf32>
  return %v : f32
}

// INPUT: 3x4xf32=1,2,3,4,5,6,7,8,9,10,11,12
// INPUT: index=1
// EXPECT: arg[0]: 3x4xf32=[1, 2, 3, 4, 5, 0, 7, 0, 9, 0, 11, 0]
func.func @subview(%m: memref<?x4xf32>, %i: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %s = memref.subview %m[%i, 1] [2, 2] [1, 2]
      : memref<?x4xf32> to memref<2x2xf32, strided<[4, 2], offset: ?>>
  scf.for %j = %c0 to %c2 step %c1 {
    scf.for %k = %c0 to %c2 step %c1 {
      memref.store %zero, %s[%j, %k] : memref<2x2xf32, strided<[4, 2], offset: ?>>
    }
  }
  return
}

// INPUT: 2x3xf32=1,2,3,4,5,6
// EXPECT: result[0]: f32=4
func.func @transpose(%m: memref<2x3xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = memref.transpose %m (i, j) -> (j, i) : memref<2x3xf32> to memref<3x2xf32, strided<[1, 3]>>
  %v = memref.load %t[%c0, %c1] : memref<3x2xf32, strided<[1, 3]>>
  return %v : f32
}

// INPUT: 8xi8=0,0,0,0,0,0,-128,63
// INPUT: index=1
// EXPECT: result[0]: f32=1
func.func @view(%m: memref<8xi8>, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %d = memref.view %m[%c4][%n] : memref<8xi8> to memref<?xf32>
  %v = memref.load %d[%c0] : memref<?xf32>
  return %v : f32
}

// Buffers as arguments of a function over tensors.
// INPUT: 3xf32=1,2,3
// INPUT: 3xf32=1,1,1
// EXPECT: arg[0]: 3xf32=[7, 2, 3]
// EXPECT: result[0]: 3xf32=[2, 3, 4]
func.func @beside_tensors(%m: memref<?xf32>, %x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %seven = arith.constant 7.0 : f32
  %n = memref.dim %m, %c0 : memref<?xf32>
  %t = bufferization.to_tensor %m restrict : memref<?xf32> to tensor<?xf32>
  %r = arith.addf %t, %x : tensor<?xf32>
  %d = bufferization.alloc_tensor() copy(%r) : tensor<?xf32>
  memref.store %seven, %m[%c0] : memref<?xf32>
  return %d : tensor<?xf32>
}

// -----
// INPUT: index=4
// EXPECT: result[0]: f32=7
func.func @realloc(%n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %three = arith.constant 3.0 : f32
  %four = arith.constant 4.0 : f32
  %m = memref.alloc() : memref<2xf32>
  memref.store %three, %m[%c0] : memref<2xf32>
  %d = memref.realloc %m(%n) : memref<2xf32> to memref<?xf32>
  memref.store %four, %d[%c3] : memref<?xf32>
  %a = memref.load %d[%c0] : memref<?xf32>
  %b = memref.load %d[%c3] : memref<?xf32>
  %s = arith.addf %a, %b : f32
  memref.dealloc %d : memref<?xf32>
  return %s : f32
}

// -----
// REFUSED: memref.alloca: a stack allocation of dynamic size can overflow the stack
func.func @main(%n: index, %v: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %m = memref.alloca(%n) : memref<?xf32>
  memref.store %v, %m[%c0] : memref<?xf32>
  %a = memref.load %m[%c0] : memref<?xf32>
  return %a : f32
}

// -----
// REFUSED: memref.alloc: an allocation must be dense, row-major, in the default memory space
func.func @main(%v: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %m = memref.alloc() : memref<4xf32, 1>
  memref.store %v, %m[%c0] : memref<4xf32, 1>
  %a = memref.load %m[%c0] : memref<4xf32, 1>
  return %a : f32
}

// -----
// REFUSED: memref.global: has no value; a parameter is an extern ml_program.global
memref.global "private" @g : memref<4xf32>
func.func @main() -> f32 {
  %c0 = arith.constant 0 : index
  %m = memref.get_global @g : memref<4xf32>
  %a = memref.load %m[%c0] : memref<4xf32>
  return %a : f32
}

// -----
// REFUSED: memref.dma_start: 'memref.dma_start' is not supported
func.func @main(%a: memref<4xf32>, %b: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %tag = memref.alloc() : memref<1xi32>
  memref.dma_start %a[%c0], %b[%c0], %c4, %tag[%c0] : memref<4xf32>, memref<4xf32>, memref<1xi32>
  return
}

// -----
// REFUSED: memref.dma_wait: 'memref.dma_wait' is not supported
func.func @main(%tag: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  memref.dma_wait %tag[%c0], %c4 : memref<1xi32>
  return
}

// -----
// REFUSED: memref.generic_atomic_rmw: it exchanges integers only
func.func @main(%m: memref<?xf32>, %v: f32) {
  %c1 = arith.constant 1 : index
  %new = memref.generic_atomic_rmw %m[%c1] : memref<?xf32> {
  ^bb0(%old: f32):
    %p = arith.mulf %old, %v : f32
    memref.atomic_yield %p : f32
  }
  return
}

// -----
// REFUSED: memref.atomic_rmw: no machine has atomic products
func.func @main(%m: memref<?xi32>, %v: i32) {
  %c1 = arith.constant 1 : index
  %old = memref.atomic_rmw muli %v, %m[%c1] : (i32, memref<?xi32>) -> i32
  return
}

// -----
// EACH: KIND T WANT
//      addf f16 10
//      addf f64 10
//      addi i64 10
//      assign f32 3
//      andi i8 3
//      ori i16 7
//      xori i32 4
//      maxs i32 7
//      maxu i32 7
//      mins i32 3
//      minu i32 3
//      maximumf f32 7
//      maxnumf bf16 7
//      minimumf f64 3
//      minnumf f32 3

// INPUT: 2x$T=5,7
// INPUT: $T=3
// EXPECT: arg[0]: 2x$T=[5, $WANT]
func.func @atomic_rmw_$KIND_$T(%m: memref<?x$T>, %v: $T) {
  %c1 = arith.constant 1 : index
  %old = memref.atomic_rmw $KIND %v, %m[%c1] : ($T, memref<?x$T>) -> $T
  return
}
