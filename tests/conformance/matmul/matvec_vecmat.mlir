// A matrix times a vector and a vector times a matrix.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// CASE:
// INPUT: 2x3xf32=1 2 3 4 5 6
// INPUT: 3xf32=1 0 -1
// INPUT: 2xf32=10 1
// EXPECT: result[0]: 2xf32=[-2, -2]
// EXPECT: result[1]: 3xf32=[14, 25, 36]
// CASE:
// INPUT: 103x211xf32=rnd:1
// INPUT: 211xf32=rnd:2
// INPUT: 103xf32=rnd:3
// CASE:
// INPUT: 1x1xf32=5
// INPUT: 1xf32=2
// INPUT: 1xf32=3
// EXPECT: result[0]: 1xf32=[10]
// EXPECT: result[1]: 1xf32=[15]
// CASE:
// INPUT: 3x0xf32=[]
// INPUT: 0xf32=[]
// INPUT: 3xf32=1
// EXPECT: result[0]: 3xf32=[0, 0, 0]
// EXPECT: result[1]: 0xf32=[]
// CASE:
// INPUT: 1025x517xf32=rnd:5
// INPUT: 517xf32=rnd:6
// INPUT: 1025xf32=rnd:7

func.func @main(%a: tensor<?x?xf32>, %x: tensor<?xf32>, %y: tensor<?xf32>)
    -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %a, %c1 : tensor<?x?xf32>
  %em = tensor.empty(%m) : tensor<?xf32>
  %zm = linalg.fill ins(%zero : f32) outs(%em : tensor<?xf32>) -> tensor<?xf32>
  %mv = linalg.matvec ins(%a, %x : tensor<?x?xf32>, tensor<?xf32>)
      outs(%zm : tensor<?xf32>) -> tensor<?xf32>
  %en = tensor.empty(%n) : tensor<?xf32>
  %zn = linalg.fill ins(%zero : f32) outs(%en : tensor<?xf32>) -> tensor<?xf32>
  %vm = linalg.vecmat ins(%y, %a : tensor<?xf32>, tensor<?x?xf32>)
      outs(%zn : tensor<?xf32>) -> tensor<?xf32>
  return %mv, %vm : tensor<?xf32>, tensor<?xf32>
}
