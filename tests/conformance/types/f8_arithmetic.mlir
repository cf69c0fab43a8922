// Every operation on floats of 8 bits rounds its result: a chain, a sum in the order of the source, a maximum.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 4x5xf8E5M2=1,2,3,4,5, 0.5,0.5,8,0.25,0.25, -1,inf,1,2,3, 0,0,0,0,0
// INPUT: 5xf8E5M2=1,0.5,2,4,-1
// CASE:
// INPUT: 37x41xf8E5M2=rnd:1
// INPUT: 41xf8E5M2=rnd:2

#rows = affine_map<(i, j) -> (i, j)>
#columns = affine_map<(i, j) -> (j)>
func.func @main(%a: tensor<?x?xf8E5M2>, %b: tensor<?xf8E5M2>)
    -> (tensor<?x?xf8E5M2>, tensor<?xf8E5M2>, tensor<?xf8E5M2>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf8E5M2>
  %n = tensor.dim %a, %c1 : tensor<?x?xf8E5M2>
  %e = tensor.empty(%m, %n) : tensor<?x?xf8E5M2>
  %t = linalg.generic {indexing_maps = [#rows, #columns, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<?x?xf8E5M2>, tensor<?xf8E5M2>) outs(%e : tensor<?x?xf8E5M2>) {
  ^bb0(%x: f8E5M2, %y: f8E5M2, %o: f8E5M2):
    %k = arith.constant 3.0 : f8E5M2
    %p = arith.mulf %x, %y : f8E5M2
    %q = arith.addf %p, %k : f8E5M2
    %c = arith.cmpf ogt, %q, %x : f8E5M2
    %s = arith.select %c, %q, %x : f8E5M2
    %r = arith.subf %s, %y : f8E5M2
    linalg.yield %r : f8E5M2
  } -> tensor<?x?xf8E5M2>
  %zero = arith.constant 0.0 : f8E5M2
  %low = arith.constant 0xFC : f8E5M2
  %f = tensor.empty(%m) : tensor<?xf8E5M2>
  %zeros = linalg.fill ins(%zero : f8E5M2) outs(%f : tensor<?xf8E5M2>) -> tensor<?xf8E5M2>
  %lows = linalg.fill ins(%low : f8E5M2) outs(%f : tensor<?xf8E5M2>) -> tensor<?xf8E5M2>
  %sum = linalg.reduce ins(%a : tensor<?x?xf8E5M2>) outs(%zeros : tensor<?xf8E5M2>) dimensions = [1]
      (%x: f8E5M2, %acc: f8E5M2) {
    %r = arith.addf %acc, %x : f8E5M2
    linalg.yield %r : f8E5M2
  }
  %max = linalg.reduce ins(%a : tensor<?x?xf8E5M2>) outs(%lows : tensor<?xf8E5M2>) dimensions = [1]
      (%x: f8E5M2, %acc: f8E5M2) {
    %r = arith.maximumf %acc, %x : f8E5M2
    linalg.yield %r : f8E5M2
  }
  return %t, %sum, %max : tensor<?x?xf8E5M2>, tensor<?xf8E5M2>, tensor<?xf8E5M2>
}
