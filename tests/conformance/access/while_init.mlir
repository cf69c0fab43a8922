// A while loop that starts from a table.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// COUNT: copies=1 allocations=1 dispatches=2 kernels=2
// CASE:
// INPUT: 3xf32=1 1 1
// EXPECT: result[0]: 3xf32=[10, 11, 12]

func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %c0 = arith.constant 0 : index
  %limit = arith.constant 10.0 : f32
  %table = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %r = scf.while (%t = %table) : (tensor<3xf32>) -> tensor<3xf32> {
    %v = tensor.extract %t[%c0] : tensor<3xf32>
    %more = arith.cmpf olt, %v, %limit : f32
    scf.condition(%more) %t : tensor<3xf32>
  } do {
  ^bb0(%t: tensor<3xf32>):
    %s = linalg.add ins(%t, %x : tensor<3xf32>, tensor<3xf32>) outs(%t : tensor<3xf32>) -> tensor<3xf32>
    scf.yield %s : tensor<3xf32>
  }
  return %r : tensor<3xf32>
}
