// A product inside a loop: the allocation inside must not grow with the trips.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-4
// CASE:
// INPUT: index=3
// INPUT: 2x2xf32=2 0 0 1
// INPUT: 2xf32=1 1
// EXPECT: result[0]: 2xf32=[1, 0.125]
// CASE:
// INPUT: index=20
// INPUT: 37x37xf32=rnd:1
// INPUT: 37xf32=rnd:2

func.func @main(%trips: index, %a: tensor<?x?xf32>, %x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %r = scf.for %i = %c0 to %trips step %c1 iter_args(%v = %x) -> (tensor<?xf32>) {
    %e = tensor.empty(%n) : tensor<?xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    %p = linalg.matvec ins(%a, %v : tensor<?x?xf32>, tensor<?xf32>)
        outs(%z : tensor<?xf32>) -> tensor<?xf32>
    %s = tensor.empty() : tensor<f32>
    %zs = linalg.fill ins(%zero : f32) outs(%s : tensor<f32>) -> tensor<f32>
    %abs = linalg.abs ins(%p : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    %norm = linalg.reduce {arith.maximumf} ins(%abs : tensor<?xf32>) outs(%zs : tensor<f32>)
        dimensions = [0]
    %next = linalg.generic {
        indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> ()>, affine_map<(d) -> (d)>],
        iterator_types = ["parallel"]}
        ins(%p, %norm : tensor<?xf32>, tensor<f32>) outs(%e : tensor<?xf32>) {
    ^bb0(%q: f32, %l: f32, %o: f32):
      %d = arith.divf %q, %l : f32
      linalg.yield %d : f32
    } -> tensor<?xf32>
    scf.yield %next : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
