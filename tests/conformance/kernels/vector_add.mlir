// The vector dialect: whole vectors, then a masked rest.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 3xf32=1 2 3
// INPUT: 3xf32=10 20 30
// INPUT: 3xf32=0
// EXPECT: arg[2]: 3xf32=[11, 22, 33]
// CASE:
// INPUT: 8xf32=1
// INPUT: 8xf32=2
// INPUT: 8xf32=0
// EXPECT: arg[2]: 8xf32=[3, 3, 3, 3, 3, 3, 3, 3]
// CASE:
// INPUT: 29xf32=rnd:1
// INPUT: 29xf32=rnd:2
// INPUT: 29xf32=0
// CASE:
// INPUT: 0xf32=[]
// INPUT: 0xf32=[]
// INPUT: 0xf32=[]
// EXPECT: arg[2]: 0xf32=[]

func.func @main(%x: memref<?xf32>, %y: memref<?xf32>, %z: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c8 {
    %left = arith.subi %n, %i : index
    %mask = vector.create_mask %left : vector<8xi1>
    %a = vector.transfer_read %x[%i], %zero, %mask : memref<?xf32>, vector<8xf32>
    %b = vector.transfer_read %y[%i], %zero, %mask : memref<?xf32>, vector<8xf32>
    %s = arith.addf %a, %b : vector<8xf32>
    vector.transfer_write %s, %z[%i], %mask : vector<8xf32>, memref<?xf32>
  }
  return
}
