// Memory that an author puts on the stack and carries around: it ends with the function.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 4xi32=1 2 3 4
// INPUT: index=5
// EXPECT: arg[0]: 4xi32=[6, 7, 8, 9]
// CASE:
// INPUT: 4xi32=rnd:1
// INPUT: index=0
// CASE:
// INPUT: 4xi32=rnd:2
// INPUT: index=4

func.func @main(%x: memref<4xi32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1 : i32
  %a = memref.alloca() : memref<4xi32>
  %b = memref.alloca() : memref<4xi32>
  memref.copy %x, %a : memref<4xi32> to memref<4xi32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%from = %a, %to = %b)
      -> (memref<4xi32>, memref<4xi32>) {
    scf.for %j = %c0 to %c4 step %c1 {
      %v = memref.load %from[%j] : memref<4xi32>
      %w = arith.addi %v, %one : i32
      memref.store %w, %to[%j] : memref<4xi32>
    }
    scf.yield %to, %from : memref<4xi32>, memref<4xi32>
  }
  %large = arith.cmpi ugt, %n, %c2 : index
  %last = arith.select %large, %r#0, %r#0 : memref<4xi32>
  %chosen = scf.if %large -> memref<4xi32> {
    %c = memref.alloca() : memref<4xi32>
    memref.copy %last, %c : memref<4xi32> to memref<4xi32>
    scf.yield %c : memref<4xi32>
  } else {
    scf.yield %last : memref<4xi32>
  }
  memref.copy %chosen, %x : memref<4xi32> to memref<4xi32>
  return
}
