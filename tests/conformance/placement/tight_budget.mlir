// More temporaries than a function's budget takes: some stay on the stack, the others move, nothing
// else changes.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 64xi32=rnd:3
// INPUT: 64xi32=0
// CASE:
// INPUT: 64xi32=1
// INPUT: 64xi32=2

func.func @main(%x: memref<64xi32>, %y: memref<64xi32>)
    attributes {plim.limits = {stack_budget_bytes = 600 : i64, max_stack_alloca_bytes = 4096 : i64}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %a = memref.alloc() : memref<64xi32>
  %b = memref.alloc() : memref<64xi32>
  %c = memref.alloc() : memref<64xi32>
  %d = memref.alloc() : memref<64xi32>
  scf.for %i = %c0 to %c64 step %c1 {
    %v = memref.load %x[%i] : memref<64xi32>
    %w = arith.muli %v, %v : i32
    memref.store %v, %a[%i] : memref<64xi32>
    memref.store %w, %b[%i] : memref<64xi32>
    %p = arith.addi %i, %c1 : index
    %j = arith.subi %c64, %p : index
    memref.store %v, %c[%j] : memref<64xi32>
    memref.store %w, %d[%j] : memref<64xi32>
  }
  scf.for %i = %c0 to %c64 step %c1 {
    %p = memref.load %a[%i] : memref<64xi32>
    %q = memref.load %b[%i] : memref<64xi32>
    %r = memref.load %c[%i] : memref<64xi32>
    %s = memref.load %d[%i] : memref<64xi32>
    %pq = arith.addi %p, %q : i32
    %rs = arith.subi %r, %s : i32
    %t = arith.addi %pq, %rs : i32
    memref.store %t, %y[%i] : memref<64xi32>
  }
  memref.dealloc %a : memref<64xi32>
  memref.dealloc %b : memref<64xi32>
  memref.dealloc %c : memref<64xi32>
  memref.dealloc %d : memref<64xi32>
  return
}
