// A kernel that calls a private function with memrefs.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 3xf64=1 2 3
// INPUT: 3xf64=4 5 6
// EXPECT: arg[0]: 3xf64=[4, 5, 6]
// EXPECT: arg[1]: 3xf64=[1, 2, 3]
// CASE:
// INPUT: 41xf64=rnd:1
// INPUT: 41xf64=rnd:2

func.func private @swap_at(%x: memref<?xf64>, %y: memref<?xf64>, %i: index) {
  %a = memref.load %x[%i] : memref<?xf64>
  %b = memref.load %y[%i] : memref<?xf64>
  memref.store %b, %x[%i] : memref<?xf64>
  memref.store %a, %y[%i] : memref<?xf64>
  return
}

func.func @main(%x: memref<?xf64>, %y: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf64>
  scf.for %i = %c0 to %n step %c1 {
    func.call @swap_at(%x, %y, %i) : (memref<?xf64>, memref<?xf64>, index) -> ()
  }
  return
}
