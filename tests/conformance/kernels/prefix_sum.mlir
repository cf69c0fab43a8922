// An in-place running sum: the loop carries a dependence and must stay in order.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 5xi64=1 2 3 4 5
// EXPECT: result[0]: i64=15
// EXPECT: arg[0]: 5xi64=[1, 3, 6, 10, 15]
// CASE:
// INPUT: 0xi64=[]
// EXPECT: result[0]: i64=0
// EXPECT: arg[0]: 0xi64=[]
// CASE:
// INPUT: 257xi64=rnd:1

func.func @main(%x: memref<?xi64>) -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %n = memref.dim %x, %c0 : memref<?xi64>
  %total = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (i64) {
    %v = memref.load %x[%i] : memref<?xi64>
    %s = arith.addi %sum, %v : i64
    memref.store %s, %x[%i] : memref<?xi64>
    scf.yield %s : i64
  }
  return %total : i64
}
