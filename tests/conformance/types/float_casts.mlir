// f32 to each other float type and back: rounding to nearest even.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 5xf32=1.0009765625 0.1 65504 -3.14159274 1.00390625
// EXPECT: result[0]: 5xf16=[1.001, 0.1, 65500, -3.14, 1.004]
// EXPECT: result[1]: 5xbf16=[1, 0.100097656, 65536, -3.140625, 1]
// EXPECT: result[2]: 5xf64=[1.0009765625, 0.10000000149011612, 65504, -3.1415927410125732, 1.00390625]
// EXPECT: result[3]: 5xf32=[1.0009766, 0.099975586, 65504, -3.140625, 1.0039062]
// CASE:
// INPUT: 509xf32=rnd:1

#id = affine_map<(i) -> (i)>
func.func @main(%a: tensor<?xf32>)
    -> (tensor<?xf16>, tensor<?xbf16>, tensor<?xf64>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %half = tensor.empty(%n) : tensor<?xf16>
  %brain = tensor.empty(%n) : tensor<?xbf16>
  %double = tensor.empty(%n) : tensor<?xf64>
  %single = tensor.empty(%n) : tensor<?xf32>
  %r:4 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<?xf32>)
      outs(%half, %brain, %double, %single
           : tensor<?xf16>, tensor<?xbf16>, tensor<?xf64>, tensor<?xf32>) {
  ^bb0(%x: f32, %p: f16, %q: bf16, %s: f64, %t: f32):
    %h = arith.truncf %x : f32 to f16
    %b = arith.truncf %x : f32 to bf16
    %d = arith.extf %x : f32 to f64
    %back = arith.extf %h : f16 to f32
    linalg.yield %h, %b, %d, %back : f16, bf16, f64, f32
  } -> (tensor<?xf16>, tensor<?xbf16>, tensor<?xf64>, tensor<?xf32>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<?xf16>, tensor<?xbf16>, tensor<?xf64>, tensor<?xf32>
}
