// Between integers and floats, both signs; conversion to an integer drops the fraction.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 4xi32=-7 0 16777217 255
// INPUT: 4xf32=-1.9 1.9 1e6 0.5
// EXPECT: result[0]: 4xf32=[-7, 0, 16777216, 255]
// EXPECT: result[1]: 4xf64=[4294967289, 0, 16777217, 255]
// EXPECT: result[2]: 4xi32=[-1, 1, 1000000, 0]
// CASE:
// INPUT: 131xi32=rnd:1
// INPUT: 131xf32=rnd:2

#id = affine_map<(i) -> (i)>
func.func @main(%a: tensor<?xi32>, %b: tensor<?xf32>)
    -> (tensor<?xf32>, tensor<?xf64>, tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xi32>
  %single = tensor.empty(%n) : tensor<?xf32>
  %double = tensor.empty(%n) : tensor<?xf64>
  %int = tensor.empty(%n) : tensor<?xi32>
  %r:3 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<?xi32>, tensor<?xf32>)
      outs(%single, %double, %int : tensor<?xf32>, tensor<?xf64>, tensor<?xi32>) {
  ^bb0(%x: i32, %y: f32, %p: f32, %q: f64, %s: i32):
    %signed = arith.sitofp %x : i32 to f32
    %unsigned = arith.uitofp %x : i32 to f64
    %whole = arith.fptosi %y : f32 to i32
    linalg.yield %signed, %unsigned, %whole : f32, f64, i32
  } -> (tensor<?xf32>, tensor<?xf64>, tensor<?xi32>)
  return %r#0, %r#1, %r#2 : tensor<?xf32>, tensor<?xf64>, tensor<?xi32>
}
