// Structured control flow, on scalars and memrefs in kernels and around tensors.

// INPUT: index=5
// EXPECT: result[0]: f32=10
func.func @for(%n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2.0 : f32
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (f32) {
    %t = arith.addf %s, %two : f32
    scf.yield %t : f32
  }
  return %sum : f32
}

// INPUT: 3xf32=1,2,3
// INPUT: index=4
// EXPECT: result[0]: 3xf32=[16, 32, 48]
func.func @for_tensor(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> (tensor<?xf32>) {
    %d = arith.addf %t, %t : tensor<?xf32>
    scf.yield %d : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// Unsigned bounds and an i32 counter.
// INPUT: i32=5
// EXPECT: result[0]: i32=10
func.func @for_unsigned(%n: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %sum = scf.for unsigned %i = %c0 to %n step %c1 iter_args(%s = %c0) -> (i32) : i32 {
    %t = arith.addi %s, %i : i32
    scf.yield %t : i32
  }
  return %sum : i32
}

// INPUT: i1=1
// EXPECT: result[0]: i32=7
// CASE:
// INPUT: i1=0
// EXPECT: result[0]: i32=9
func.func @if(%c: i1) -> i32 {
  %a = arith.constant 7 : i32
  %b = arith.constant 9 : i32
  %r = scf.if %c -> (i32) {
    scf.yield %a : i32
  } else {
    scf.yield %b : i32
  }
  return %r : i32
}

// INPUT: i1=1
// INPUT: 2xf32=1,2
// EXPECT: result[0]: 2xf32=[2, 4]
// CASE:
// INPUT: i1=0
// INPUT: 2xf32=1,2
// EXPECT: result[0]: 2xf32=[1, 2]
func.func @if_tensor(%c: i1, %x: tensor<?xf32>) -> tensor<?xf32> {
  %r = scf.if %c -> (tensor<?xf32>) {
    %d = arith.addf %x, %x : tensor<?xf32>
    scf.yield %d : tensor<?xf32>
  } else {
    scf.yield %x : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// INPUT: i64=100
// EXPECT: result[0]: i64=128
func.func @while(%limit: i64) -> i64 {
  %one = arith.constant 1 : i64
  %r = scf.while (%v = %one) : (i64) -> i64 {
    %more = arith.cmpi slt, %v, %limit : i64
    scf.condition(%more) %v : i64
  } do {
  ^bb0(%v: i64):
    %d = arith.addi %v, %v : i64
    scf.yield %d : i64
  }
  return %r : i64
}

// INPUT: 2xf32=1,3
// INPUT: f32=10
// EXPECT: result[0]: 2xf32=[16, 48]
func.func @while_tensor(%x: tensor<?xf32>, %limit: f32) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %r = scf.while (%t = %x) : (tensor<?xf32>) -> tensor<?xf32> {
    %v = tensor.extract %t[%c0] : tensor<?xf32>
    %more = arith.cmpf olt, %v, %limit : f32
    scf.condition(%more) %t : tensor<?xf32>
  } do {
  ^bb0(%t: tensor<?xf32>):
    %d = arith.addf %t, %t : tensor<?xf32>
    scf.yield %d : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// INPUT: index=2
// EXPECT: result[0]: i32=20
// CASE:
// INPUT: index=5
// EXPECT: result[0]: i32=50
// CASE:
// INPUT: index=7
// EXPECT: result[0]: i32=-1
func.func @index_switch(%k: index) -> i32 {
  %r = scf.index_switch %k -> i32
  case 2 {
    %a = arith.constant 20 : i32
    scf.yield %a : i32
  }
  case 5 {
    %a = arith.constant 50 : i32
    scf.yield %a : i32
  }
  default {
    %a = arith.constant -1 : i32
    scf.yield %a : i32
  }
  return %r : i32
}

// INPUT: index=2
// INPUT: 2xf32=1,3
// EXPECT: result[0]: 2xf32=[2, 6]
// CASE:
// INPUT: index=3
// INPUT: 2xf32=1,3
// EXPECT: result[0]: 2xf32=[1, 9]
// CASE:
// INPUT: index=0
// INPUT: 2xf32=1,3
// EXPECT: result[0]: 2xf32=[1, 3]
func.func @index_switch_tensor(%k: index, %x: tensor<?xf32>) -> tensor<?xf32> {
  %r = scf.index_switch %k -> tensor<?xf32>
  case 2 {
    %a = arith.addf %x, %x : tensor<?xf32>
    scf.yield %a : tensor<?xf32>
  }
  case 3 {
    %a = arith.mulf %x, %x : tensor<?xf32>
    scf.yield %a : tensor<?xf32>
  }
  default {
    scf.yield %x : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// INPUT: i32=4
// EXPECT: result[0]: i32=8
func.func @execute_region(%a: i32) -> i32 {
  %r = scf.execute_region -> i32 {
    %b = arith.addi %a, %a : i32
    scf.yield %b : i32
  }
  return %r : i32
}

// Several blocks.
// INPUT: i32=4
// EXPECT: result[0]: i32=8
// CASE:
// INPUT: i32=-4
// EXPECT: result[0]: i32=4
func.func @execute_region_blocks(%a: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %r = scf.execute_region -> i32 {
    %negative = arith.cmpi slt, %a, %zero : i32
    cf.cond_br %negative, ^flip, ^double
  ^flip:
    %m = arith.subi %zero, %a : i32
    scf.yield %m : i32
  ^double:
    %b = arith.addi %a, %a : i32
    scf.yield %b : i32
  }
  return %r : i32
}

// INPUT: 2xf32=1,3
// EXPECT: result[0]: 2xf32=[2, 6]
func.func @execute_region_tensor(%x: tensor<?xf32>) -> tensor<?xf32> {
  %r = scf.execute_region -> tensor<?xf32> {
    %a = arith.addf %x, %x : tensor<?xf32>
    scf.yield %a : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// INPUT: 3xf32=1,2,3
// EXPECT: arg[0]: 3xf32=[1, 4, 9]
func.func @parallel(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %v = memref.load %x[%i] : memref<?xf32>
    %s = arith.mulf %v, %v : f32
    memref.store %s, %x[%i] : memref<?xf32>
  }
  return
}

// INPUT: 4xf32=1,2,3,4
// EXPECT: result[0]: f32=10
func.func @reduce(%x: memref<?xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %zero = arith.constant 0.0 : f32
  %sum = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%zero) -> f32 {
    %v = memref.load %x[%i] : memref<?xf32>
    scf.reduce(%v : f32) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      scf.reduce.return %s : f32
    }
  }
  return %sum : f32
}

// INPUT: 4xf32=1,2,3,4
// EXPECT: result[0]: f32=10
func.func @parallel_tensor(%x: tensor<?xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %zero = arith.constant 0.0 : f32
  %sum = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%zero) -> f32 {
    %v = tensor.extract %x[%i] : tensor<?xf32>
    scf.reduce(%v : f32) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      scf.reduce.return %s : f32
    }
  }
  return %sum : f32
}

// INPUT: 3xf32=1,2,3
// EXPECT: arg[0]: 3xf32=[2, 4, 6]
func.func @forall(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  scf.forall (%i) in (%n) {
    %v = memref.load %x[%i] : memref<?xf32>
    %s = arith.addf %v, %v : f32
    memref.store %s, %x[%i] : memref<?xf32>
  }
  return
}

// INPUT: 5xf32=1,2,3,4,5
// EXPECT: result[0]: 5xf32=[2, 4, 6, 8, 10]
func.func @forall_tensor(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = scf.forall (%i) in (%n) shared_outs(%o = %e) -> (tensor<?xf32>) {
    %s = tensor.extract_slice %x[%i] [1] [1] : tensor<?xf32> to tensor<1xf32>
    %d = arith.addf %s, %s : tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %d into %o[%i] [1] [1] : tensor<1xf32> into tensor<?xf32>
    }
  }
  return %r : tensor<?xf32>
}
