// A condition inside a loop inside a condition.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-6
// CASE:
// INPUT: i1=1
// INPUT: index=5
// INPUT: 2xf32=1 2
// EXPECT: result[0]: 2xf32=[4, 22]
// CASE:
// INPUT: i1=0
// INPUT: index=5
// INPUT: 2xf32=1 2
// EXPECT: result[0]: 2xf32=[1, 2]
// CASE:
// INPUT: i1=1
// INPUT: index=0
// INPUT: 31xf32=rnd:1

func.func @main(%enabled: i1, %trips: index, %x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %r = scf.if %enabled -> (tensor<?xf32>) {
    %loop = scf.for %i = %c0 to %trips step %c1 iter_args(%t = %x) -> (tensor<?xf32>) {
      %bit = arith.remui %i, %c2 : index
      %even = arith.cmpi eq, %bit, %c0 : index
      %e = tensor.empty(%n) : tensor<?xf32>
      %next = scf.if %even -> (tensor<?xf32>) {
        %a = linalg.add ins(%t, %x : tensor<?xf32>, tensor<?xf32>)
            outs(%e : tensor<?xf32>) -> tensor<?xf32>
        scf.yield %a : tensor<?xf32>
      } else {
        %b = linalg.mul ins(%t, %x : tensor<?xf32>, tensor<?xf32>)
            outs(%e : tensor<?xf32>) -> tensor<?xf32>
        scf.yield %b : tensor<?xf32>
      }
      scf.yield %next : tensor<?xf32>
    }
    scf.yield %loop : tensor<?xf32>
  } else {
    scf.yield %x : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
