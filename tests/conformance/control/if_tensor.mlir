// scf.if that yields one of two computed tensors; each branch has a dispatch of its own.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: i1=1
// INPUT: 4xf32=1 2 3 4
// EXPECT: result[0]: 4xf32=[2, 4, 6, 8]
// CASE:
// INPUT: i1=0
// INPUT: 4xf32=1 2 3 4
// EXPECT: result[0]: 4xf32=[1, 4, 9, 16]
// CASE:
// INPUT: i1=0
// INPUT: 101xf32=rnd:1

func.func @main(%c: i1, %x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = scf.if %c -> (tensor<?xf32>) {
    %a = linalg.add ins(%x, %x : tensor<?xf32>, tensor<?xf32>)
        outs(%e : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %a : tensor<?xf32>
  } else {
    %b = linalg.mul ins(%x, %x : tensor<?xf32>, tensor<?xf32>)
        outs(%e : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %b : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
