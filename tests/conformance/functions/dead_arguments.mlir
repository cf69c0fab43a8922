// Arguments that nothing uses are still checked and bound; a result may depend on an extent alone.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: f64=1
// INPUT: 7x3xf16=0
// INPUT: i1=1
// INPUT: 2xf32=1 2
// EXPECT: result[0]: index=7
// EXPECT: result[1]: 2xf32=[1, 2]

func.func @main(%a: f64, %b: tensor<?x3xf16>, %c: i1, %x: tensor<?xf32>) -> (index, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %b, %c0 : tensor<?x3xf16>
  return %n, %x : index, tensor<?xf32>
}
