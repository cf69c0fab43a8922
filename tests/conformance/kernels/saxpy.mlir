// A kernel on memrefs: y = a x + y, in place.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-6
// CASE:
// INPUT: f32=2
// INPUT: 3xf32=1 2 3
// INPUT: 3xf32=10 20 30
// EXPECT: arg[1]: 3xf32=[1, 2, 3]
// EXPECT: arg[2]: 3xf32=[12, 24, 36]
// CASE:
// INPUT: f32=0.5
// INPUT: 0xf32=[]
// INPUT: 0xf32=[]
// EXPECT: arg[1]: 0xf32=[]
// EXPECT: arg[2]: 0xf32=[]
// CASE:
// INPUT: f32=-1.5
// INPUT: 1009xf32=rnd:1
// INPUT: 1009xf32=rnd:2

func.func @main(%a: f32, %x: memref<?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %x[%i] : memref<?xf32>
    %v = memref.load %y[%i] : memref<?xf32>
    %p = arith.mulf %a, %u : f32
    %s = arith.addf %p, %v : f32
    memref.store %s, %y[%i] : memref<?xf32>
  }
  return
}
