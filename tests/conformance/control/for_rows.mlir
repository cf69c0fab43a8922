// A loop fills a matrix row by row through insert_slice.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-6
// CASE:
// INPUT: 2x3xf32=1 2 3 4 5 6
// INPUT: 3xf32=10 20 30
// EXPECT: result[0]: 2x3xf32=[[10, 40, 90], [40, 100, 180]]
// CASE:
// INPUT: 17x29xf32=rnd:1
// INPUT: 29xf32=rnd:2
// CASE:
// INPUT: 0x3xf32=[]
// INPUT: 3xf32=1
// EXPECT: result[0]: 0x3xf32=[]

func.func @main(%x: tensor<?x?xf32>, %v: tensor<?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %init = tensor.empty(%m, %n) : tensor<?x?xf32>
  %r = scf.for %i = %c0 to %m step %c1 iter_args(%t = %init) -> (tensor<?x?xf32>) {
    %row = tensor.extract_slice %x[%i, 0] [1, %n] [1, 1] : tensor<?x?xf32> to tensor<?xf32>
    %e = tensor.empty(%n) : tensor<?xf32>
    %p = linalg.mul ins(%row, %v : tensor<?xf32>, tensor<?xf32>)
        outs(%e : tensor<?xf32>) -> tensor<?xf32>
    %u = tensor.insert_slice %p into %t[%i, 0] [1, %n] [1, 1]
        : tensor<?xf32> into tensor<?x?xf32>
    scf.yield %u : tensor<?x?xf32>
  }
  return %r : tensor<?x?xf32>
}
