// A slice whose offset, size and stride come in as scalars, then used by an operation.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 7xf32=1 2 3 4 5 6 7
// INPUT: index=1
// INPUT: index=3
// INPUT: index=2
// EXPECT: result[0]: 3xf32=[4, 8, 12]
// CASE:
// INPUT: 101xf32=rnd:1
// INPUT: index=5
// INPUT: index=31
// INPUT: index=3
// CASE:
// INPUT: 5xf32=rnd:1
// INPUT: index=5
// INPUT: index=0
// INPUT: index=1

func.func @main(%x: tensor<?xf32>, %offset: index, %size: index, %stride: index) -> tensor<?xf32> {
  %s = tensor.extract_slice %x[%offset] [%size] [%stride] : tensor<?xf32> to tensor<?xf32>
  %e = tensor.empty(%size) : tensor<?xf32>
  %r = linalg.add ins(%s, %s : tensor<?xf32>, tensor<?xf32>)
      outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
