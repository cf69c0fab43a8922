// A complex number that the body of an operation captures.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-6
// CASE:
// INPUT: 3xcomplex<f32>=1j,2,3
// INPUT: index=1
// EXPECT: result[0]: 3xcomplex<f32>=[0+4j, 8+0j, 12+0j]
// CASE:
// INPUT: 67xcomplex<f32>=rnd:1
// INPUT: index=66
func.func @main(%m: tensor<?xcomplex<f32>>, %i: index) -> tensor<?xcomplex<f32>> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %m, %c0 : tensor<?xcomplex<f32>>
  %v = tensor.extract %m[%i] : tensor<?xcomplex<f32>>
  %w = complex.mul %v, %v : complex<f32>
  %e = tensor.empty(%n) : tensor<?xcomplex<f32>>
  %r = linalg.map ins(%m : tensor<?xcomplex<f32>>) outs(%e : tensor<?xcomplex<f32>>) (%a: complex<f32>, %o: complex<f32>) {
    %s = complex.mul %a, %w : complex<f32>
    linalg.yield %s : complex<f32>
  }
  return %r : tensor<?xcomplex<f32>>
}
