// One of two buffers is read, the other one is left alone.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// COUNT: copies=0 allocations=0 dispatches=0
// CASE:
// INPUT: i1=1
// INPUT: 2xf32=1 2
// INPUT: 2xf32=3 4
// INPUT: 2xf32=0
// EXPECT: arg[3]: 2xf32=[1, 2]
// CASE:
// INPUT: i1=0
// INPUT: 2xf32=1 2
// INPUT: 2xf32=3 4
// INPUT: 2xf32=0
// EXPECT: arg[3]: 2xf32=[3, 4]

func.func @main(%c: i1, %a: memref<2xf32>, %b: memref<2xf32>, %out: memref<2xf32>) {
  %s = scf.if %c -> memref<2xf32> {
    scf.yield %a : memref<2xf32>
  } else {
    scf.yield %b : memref<2xf32>
  }
  memref.copy %s, %out : memref<2xf32> to memref<2xf32>
  return
}
