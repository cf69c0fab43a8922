// Complex tensors and memrefs as arguments and results; by rows of a filter, and a sum.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-6
// CASE:
// INPUT: 3xcomplex<f32>=1.5-2j, 3, -1j
// INPUT: complex<f32>=2j
// INPUT: 3xcomplex<f64>=1+1j
// EXPECT: result[0]: 3xcomplex<f32>=[4+3j, 0+6j, 2+0j]
// EXPECT: result[1]: complex<f32>=4.5-3j
// EXPECT: arg[2]: 3xcomplex<f64>=[1-1j, 1-1j, 1-1j]
// CASE:
// INPUT: 101xcomplex<f32>=rnd:1
// INPUT: complex<f32>=0.5-0.25j
// INPUT: 7xcomplex<f64>=rnd:2
// CASE:
// INPUT: 0xcomplex<f32>=0
// INPUT: complex<f32>=nan+infj
// INPUT: 1xcomplex<f64>=inf-infj

func.func @main(%a: tensor<?xcomplex<f32>>, %s: tensor<complex<f32>>, %m: memref<?xcomplex<f64>>)
    -> (tensor<?xcomplex<f32>>, tensor<complex<f32>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %a, %c0 : tensor<?xcomplex<f32>>
  %e = tensor.empty(%n) : tensor<?xcomplex<f32>>
  %p = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>,
                                        affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a, %s : tensor<?xcomplex<f32>>, tensor<complex<f32>>) outs(%e : tensor<?xcomplex<f32>>) {
  ^bb0(%x: complex<f32>, %y: complex<f32>, %o: complex<f32>):
    %r = complex.mul %x, %y : complex<f32>
    linalg.yield %r : complex<f32>
  } -> tensor<?xcomplex<f32>>
  %zero = complex.constant [0.0 : f32, 0.0 : f32] : complex<f32>
  %f = tensor.empty() : tensor<complex<f32>>
  %z = linalg.fill ins(%zero : complex<f32>) outs(%f : tensor<complex<f32>>) -> tensor<complex<f32>>
  %sum = linalg.reduce ins(%a : tensor<?xcomplex<f32>>) outs(%z : tensor<complex<f32>>) dimensions = [0]
      (%x: complex<f32>, %acc: complex<f32>) {
    %r = complex.add %acc, %x : complex<f32>
    linalg.yield %r : complex<f32>
  }
  %k = memref.dim %m, %c0 : memref<?xcomplex<f64>>
  scf.for %i = %c0 to %k step %c1 {
    %x = memref.load %m[%i] : memref<?xcomplex<f64>>
    %r = complex.conj %x : complex<f64>
    memref.store %r, %m[%i] : memref<?xcomplex<f64>>
  }
  return %p, %sum : tensor<?xcomplex<f32>>, tensor<complex<f32>>
}
