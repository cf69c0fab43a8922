// scf.while on a scalar condition computed from the carried tensor: square roots by Newton's
// method until the largest change is small.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-6
// CASE:
// INPUT: 3xf32=4 9 2
// EXPECT: result[0]: 3xf32=[2, 3, 1.4142135]
// EXPECT: result[1]: i32=5
// CASE:
// INPUT: 1xf32=1
// EXPECT: result[0]: 1xf32=[1]
// EXPECT: result[1]: i32=1

func.func @main(%x: tensor<?xf32>) -> (tensor<?xf32>, i32) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %small = arith.constant 1.0e-4 : f32
  %start = arith.constant 1.0e9 : f32
  %none = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %limit = arith.constant 40 : i32
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %r:3 = scf.while (%t = %x, %change = %start, %trip = %none)
      : (tensor<?xf32>, f32, i32) -> (tensor<?xf32>, f32, i32) {
    %far = arith.cmpf ogt, %change, %small : f32
    %time = arith.cmpi slt, %trip, %limit : i32
    %go = arith.andi %far, %time : i1
    scf.condition(%go) %t, %change, %trip : tensor<?xf32>, f32, i32
  } do {
  ^bb0(%t: tensor<?xf32>, %change: f32, %trip: i32):
    %e = tensor.empty(%n) : tensor<?xf32>
    %s = tensor.empty() : tensor<f32>
    %z = linalg.fill ins(%zero : f32) outs(%s : tensor<f32>) -> tensor<f32>
    %next = linalg.generic {
        indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
        iterator_types = ["parallel"]}
        ins(%x, %t : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) {
    ^bb1(%a: f32, %v: f32, %o: f32):
      %q = arith.divf %a, %v : f32
      %sum = arith.addf %q, %v : f32
      %mean = arith.mulf %sum, %half : f32
      linalg.yield %mean : f32
    } -> tensor<?xf32>
    %largest = linalg.generic {
        indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
        iterator_types = ["reduction"]}
        ins(%t, %next : tensor<?xf32>, tensor<?xf32>) outs(%z : tensor<f32>) {
    ^bb1(%a: f32, %b: f32, %acc: f32):
      %d = arith.subf %a, %b : f32
      %m = math.absf %d : f32
      %top = arith.maximumf %m, %acc : f32
      linalg.yield %top : f32
    } -> tensor<f32>
    %c = tensor.extract %largest[] : tensor<f32>
    %count = arith.addi %trip, %one : i32
    scf.yield %next, %c, %count : tensor<?xf32>, f32, i32
  }
  return %r#0, %r#2 : tensor<?xf32>, i32
}
