// A small static buffer on the stack inside a loop, and a larger one on the heap.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-6
// CASE:
// INPUT: 4xf32=1 2 3 4
// INPUT: 4xf32=0
// EXPECT: arg[0]: 4xf32=[1, 2, 3, 4]
// EXPECT: arg[1]: 4xf32=[2, 6, 12, 20]
// CASE:
// INPUT: 1000xf32=rnd:1
// INPUT: 1000xf32=0

func.func @main(%x: memref<?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %copy = memref.alloc(%n) : memref<?xf32>
  memref.copy %x, %copy : memref<?xf32> to memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    memref.alloca_scope {
      %pair = memref.alloca() : memref<2xf32>
      %v = memref.load %copy[%i] : memref<?xf32>
      memref.store %v, %pair[%c0] : memref<2xf32>
      %w = arith.mulf %v, %v : f32
      memref.store %w, %pair[%c1] : memref<2xf32>
      %a = memref.load %pair[%c0] : memref<2xf32>
      %b = memref.load %pair[%c1] : memref<2xf32>
      %s = arith.addf %a, %b : f32
      memref.store %s, %y[%i] : memref<?xf32>
    }
  }
  memref.dealloc %copy : memref<?xf32>
  return
}
