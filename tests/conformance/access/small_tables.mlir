// Tables that are part of the code: in loops that become straight code, in several dimensions, looked up by
// data, at the end of a range, and shared by dispatches that differ in nothing else.
// COUNT: copies=0 allocations=6 dispatches=6 kernels=5
// RUN-FUNCTION: @polynomial
// TOLERANCE: 1e-6
// CASE:
// INPUT: 3xf32=0.5 -1 2
// EXPECT: result[0]: 3xf32=[9.75, 9, 42]
// CASE:
// INPUT: 0xf32=
// CASE:
// INPUT: 131xf32=rnd:1
// RUN-FUNCTION: @window
// TOLERANCE: 1e-6
// CASE:
// INPUT: 3x4xf32=1 2 3 4 5 6 7 8 9 10 11 12
// EXPECT: result[0]: 1x2xf32=[24.5, 28.5]
// CASE:
// INPUT: 19x37xf32=rnd:2
// RUN-FUNCTION: @lookup
// TOLERANCE: 0
// CASE:
// INPUT: 5xindex=4 0 2 4 1
// EXPECT: result[0]: 5xi16=[-50, 10, 30, -50, 20]
// CASE:
// INPUT: 0xindex=
// RUN-FUNCTION: @two
// TOLERANCE: 1e-6
// CASE:
// INPUT: 2x3xf32=1 2 3 4 5 6
// EXPECT: result[0]: 2x3xf32=[1, 4, 9, 4, 10, 18]
// EXPECT: result[1]: 2x3xf32=[4, 10, 18, 16, 25, 36]
// CASE:
// INPUT: 17x3xf32=rnd:3
// RUN-FUNCTION: @rows
// TOLERANCE: 1e-12
// CASE:
// INPUT: 2xf64=1 2
// EXPECT: result[0]: 2x3xf64=[1, 2, 3, 2, 4, 6]
// CASE:
// INPUT: 67xf64=rnd:4

#i = affine_map<(i) -> (i)>
#ij = affine_map<(i, j) -> (i, j)>
#first = affine_map<(i, j) -> (i)>
#second = affine_map<(i, j) -> (j)>

// 2 x^3 + 4 x^2 + x + 8, by Horner's rule.
func.func @polynomial(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %factors = arith.constant dense<[2.0, 4.0, 1.0, 8.0]> : tensor<4xf32>
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#first, #second, #first],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x, %factors : tensor<?xf32>, tensor<4xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%v: f32, %c: f32, %o: f32):
    %p = arith.mulf %o, %v : f32
    %q = arith.addf %p, %c : f32
    linalg.yield %q : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

func.func @window(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %taps = arith.constant dense<[[1.0, 0.0, -1.0], [2.0, 0.0, 1.0], [0.5, 0.5, 0.0]]> : tensor<3x3xf32>
  %h = tensor.dim %x, %c0 : tensor<?x?xf32>
  %w = tensor.dim %x, %c1 : tensor<?x?xf32>
  %m = arith.subi %h, %c2 : index
  %n = arith.subi %w, %c2 : index
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.conv_2d ins(%x, %taps : tensor<?x?xf32>, tensor<3x3xf32>)
                      outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @lookup(%x: tensor<?xindex>) -> tensor<?xi16> {
  %c0 = arith.constant 0 : index
  %table = arith.constant dense<[10, 20, 30, 40, -50]> : tensor<5xi16>
  %n = tensor.dim %x, %c0 : tensor<?xindex>
  %e = tensor.empty(%n) : tensor<?xi16>
  %r = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]}
      ins(%x : tensor<?xindex>) outs(%e : tensor<?xi16>) {
  ^bb0(%v: index, %o: i16):
    %t = tensor.extract %table[%v] : tensor<5xi16>
    linalg.yield %t : i16
  } -> tensor<?xi16>
  return %r : tensor<?xi16>
}

// Twice the same, but for the table: one kernel.
func.func @two(%x: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>) {
  %c0 = arith.constant 0 : index
  %a = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %b = arith.constant dense<[4.0, 5.0, 6.0]> : tensor<3xf32>
  %n = tensor.dim %x, %c0 : tensor<?x3xf32>
  %e = tensor.empty(%n) : tensor<?x3xf32>
  %0 = linalg.generic {indexing_maps = [#ij, #second, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x, %a : tensor<?x3xf32>, tensor<3xf32>) outs(%e : tensor<?x3xf32>) {
  ^bb0(%v: f32, %t: f32, %o: f32):
    %p = arith.mulf %v, %t : f32
    linalg.yield %p : f32
  } -> tensor<?x3xf32>
  %1 = linalg.generic {indexing_maps = [#ij, #second, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : tensor<?x3xf32>, tensor<3xf32>) outs(%e : tensor<?x3xf32>) {
  ^bb0(%v: f32, %t: f32, %o: f32):
    %p = arith.mulf %v, %t : f32
    linalg.yield %p : f32
  } -> tensor<?x3xf32>
  return %0, %1 : tensor<?x3xf32>, tensor<?x3xf32>
}

func.func @rows(%x: tensor<?xf64>) -> tensor<?x3xf64> {
  %c0 = arith.constant 0 : index
  %table = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf64>
  %n = tensor.dim %x, %c0 : tensor<?xf64>
  %e = tensor.empty(%n) : tensor<?x3xf64>
  %r = linalg.generic {indexing_maps = [#first, #second, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x, %table : tensor<?xf64>, tensor<3xf64>) outs(%e : tensor<?x3xf64>) {
  ^bb0(%v: f64, %t: f64, %o: f64):
    %p = arith.mulf %v, %t : f64
    linalg.yield %p : f64
  } -> tensor<?x3xf64>
  return %r : tensor<?x3xf64>
}
