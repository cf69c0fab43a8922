// Buffers of a kernel: in turn in a loop, on the stack, in the workspace, bounded and over-aligned.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 4xi32=1 2 3 4
// INPUT: index=3
// EXPECT: arg[0]: 4xi32=[8, 16, 24, 32]
// CASE:
// INPUT: 4xi32=1 2 3 4
// INPUT: index=0
// CASE:
// INPUT: 257xi32=rnd:1
// INPUT: index=11
// CASE:
// INPUT: 0xi32=rnd:1
// INPUT: index=2

func.func @main(%x: memref<?xi32>, %turns: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xi32>
  scf.for %turn = %c0 to %turns step %c1 {
    %a = memref.alloc(%n) {plim.max_bytes = 4096 : i64, plim.scope = "global.stack"} : memref<?xi32>
    memref.copy %x, %a : memref<?xi32> to memref<?xi32>
    %b = memref.alloc(%n) {alignment = 256 : i64, plim.max_bytes = 4096 : i64, plim.scope = "global.workspace"} : memref<?xi32>
    scf.for %i = %c0 to %n step %c1 {
      %v = memref.load %a[%i] : memref<?xi32>
      memref.store %v, %b[%i] : memref<?xi32>
    }
    memref.dealloc %a : memref<?xi32>
    %c = memref.alloc(%n) {plim.max_bytes = 4096 : i64, plim.limits = {max_stack_alloca_bytes = 8192 : i64}} : memref<?xi32>
    scf.for %i = %c0 to %n step %c1 {
      %v = memref.load %b[%i] : memref<?xi32>
      memref.store %v, %c[%i] : memref<?xi32>
    }
    memref.dealloc %b : memref<?xi32>
    %one = memref.alloc() {plim.scope = "local"} : memref<1xi32>
    scf.for %i = %c0 to %n step %c1 {
      %v = memref.load %c[%i] : memref<?xi32>
      memref.store %v, %one[%c0] : memref<1xi32>
      %w = memref.load %x[%i] : memref<?xi32>
      %u = memref.load %one[%c0] : memref<1xi32>
      %s = arith.addi %w, %u : i32
      memref.store %s, %x[%i] : memref<?xi32>
    }
    memref.dealloc %one : memref<1xi32>
    memref.dealloc %c : memref<?xi32>
  }
  return
}
