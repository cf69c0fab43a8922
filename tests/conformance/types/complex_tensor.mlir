// A tensor of complex values between two regions: an element of two words in a temporary.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-6
// CASE:
// INPUT: 3xf64=3 0 -5
// INPUT: 3xf64=4 2 12
// EXPECT: result[0]: 3xf64=[24, 0, -120]
// EXPECT: result[1]: f64=-130
// CASE:
// INPUT: 103xf64=rnd:1
// INPUT: 103xf64=rnd:2

#id = affine_map<(i) -> (i)>
func.func @main(%re: tensor<?xf64>, %im: tensor<?xf64>) -> (tensor<?xf64>, tensor<f64>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %n = tensor.dim %re, %c0 : tensor<?xf64>
  %z = tensor.empty(%n) : tensor<?xcomplex<f64>>
  %e = tensor.empty(%n) : tensor<?xf64>
  %t = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%re, %im : tensor<?xf64>, tensor<?xf64>) outs(%z : tensor<?xcomplex<f64>>) {
  ^bb0(%x: f64, %y: f64, %p: complex<f64>):
    %c = complex.create %x, %y : complex<f64>
    %s = complex.mul %c, %c : complex<f64>
    linalg.yield %s : complex<f64>
  } -> tensor<?xcomplex<f64>>
  %imag = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%t : tensor<?xcomplex<f64>>) outs(%e : tensor<?xf64>) {
  ^bb0(%x: complex<f64>, %p: f64):
    %i = complex.im %x : complex<f64>
    linalg.yield %i : f64
  } -> tensor<?xf64>
  %s = tensor.empty() : tensor<f64>
  %init = linalg.fill ins(%zero : f64) outs(%s : tensor<f64>) -> tensor<f64>
  %sum = linalg.generic {indexing_maps = [#id, affine_map<(i) -> ()>],
      iterator_types = ["reduction"]}
      ins(%t : tensor<?xcomplex<f64>>) outs(%init : tensor<f64>) {
  ^bb0(%x: complex<f64>, %acc: f64):
    %r = complex.re %x : complex<f64>
    %a = arith.addf %acc, %r : f64
    linalg.yield %a : f64
  } -> tensor<f64>
  return %imag, %sum : tensor<?xf64>, tensor<f64>
}
