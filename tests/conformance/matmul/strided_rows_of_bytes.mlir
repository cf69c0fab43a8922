// Rows of an open number that are read at a stride, in groups where the host multiplies such, and something that turns the result.
// RUN-FUNCTION: @main
// CASE:
// INPUT: 38x5xi8=rnd:1
// INPUT: 17x31xi16=rnd:2
// INPUT: 5x13x31xi32=rnd:3
// INPUT: 31x13x5xi32=rnd:4
// CASE:
// INPUT: 4x5xi8=rnd:5
// INPUT: 3x31xi16=rnd:6
// INPUT: 5x1x31xi32=rnd:7
// INPUT: 31x1x5xi32=rnd:8

func.func @main(%a: tensor<?x5xi8>, %b: tensor<?x31xi16>, %c: tensor<5x?x31xi32>, %e: tensor<31x?x5xi32>) -> tensor<31x?x5xi32> {
  %r = linalg.generic {indexing_maps = [affine_map<(n, m1, k, m) -> (m * 3 + 1, m1)>, affine_map<(n, m1, k, m) -> (k, n)>,
                                        affine_map<(n, m1, k, m) -> (m1, m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%a, %b : tensor<?x5xi8>, tensor<?x31xi16>) outs(%c : tensor<5x?x31xi32>) {
  ^bb0(%x: i8, %y: i16, %s: i32):
    %u = arith.extui %x : i8 to i32
    %v = arith.extsi %y : i16 to i32
    %p = arith.muli %u, %v : i32
    %q = arith.addi %s, %p : i32
    linalg.yield %q : i32
  } -> tensor<5x?x31xi32>
  %t = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2, d1, d0)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%r : tensor<5x?x31xi32>) outs(%e : tensor<31x?x5xi32>) {
  ^bb0(%x: i32, %o: i32):
    %w = arith.addi %x, %x : i32
    linalg.yield %w : i32
  } -> tensor<31x?x5xi32>
  return %t : tensor<31x?x5xi32>
}
