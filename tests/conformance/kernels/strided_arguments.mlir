// Strided layouts at the boundary: a dense buffer has strides too. The transpose is a view of its argument.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 2x3xi32=1 2 3 4 5 6
// INPUT: 3x2xi32=10
// EXPECT: arg[0]: 2x3xi32=[[1, 2, 3], [4, 5, 6]]
// EXPECT: arg[1]: 3x2xi32=[[11, 14], [12, 15], [13, 16]]
// CASE:
// INPUT: 17x5xi32=rnd:1
// INPUT: 5x17xi32=rnd:2
// CASE:
// INPUT: 0x5xi32=[]
// INPUT: 5x0xi32=[]

!any = memref<?x?xi32, strided<[?, ?], offset: ?>>
!rows = memref<?x?xi32, strided<[?, 1], offset: ?>>

func.func @main(%a: !rows, %b: !any) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %b, %c0 : !any
  %n = memref.dim %b, %c1 : !any
  %t = memref.transpose %a (i, j) -> (j, i) : !rows to memref<?x?xi32, strided<[1, ?], offset: ?>>
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %x = memref.load %t[%i, %j] : memref<?x?xi32, strided<[1, ?], offset: ?>>
      %y = memref.load %b[%i, %j] : !any
      %z = arith.addi %x, %y : i32
      memref.store %z, %b[%i, %j] : !any
    }
  }
  return
}
