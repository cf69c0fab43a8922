// i16 shifts and signed and unsigned extremes.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 4xi16=-32768 32767 -5 300
// INPUT: 4xi16=1 2 3 4
// EXPECT: result[0]: 4xi16=[0, -4, -40, 4800]
// EXPECT: result[1]: 4xi16=[-16384, 8191, -1, 18]
// EXPECT: result[2]: 4xi16=[16384, 8191, 8191, 18]
// EXPECT: result[3]: 4xi16=[-32768, 32767, -5, 300]
// CASE:
// INPUT: 251xi16=rnd:1
// INPUT: 251xi16=1

#id = affine_map<(i) -> (i)>
func.func @main(%a: tensor<?xi16>, %b: tensor<?xi16>)
    -> (tensor<?xi16>, tensor<?xi16>, tensor<?xi16>, tensor<?xi16>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xi16>
  %e = tensor.empty(%n) : tensor<?xi16>
  %r:4 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id, #id],
                         iterator_types = ["parallel"]}
      ins(%a, %b : tensor<?xi16>, tensor<?xi16>)
      outs(%e, %e, %e, %e : tensor<?xi16>, tensor<?xi16>, tensor<?xi16>, tensor<?xi16>) {
  ^bb0(%x: i16, %y: i16, %p: i16, %q: i16, %s: i16, %t: i16):
    %left = arith.shli %x, %y : i16
    %right = arith.shrsi %x, %y : i16
    %logical = arith.shrui %x, %y : i16
    %largest = arith.maxui %x, %y : i16
    linalg.yield %left, %right, %logical, %largest : i16, i16, i16, i16
  } -> (tensor<?xi16>, tensor<?xi16>, tensor<?xi16>, tensor<?xi16>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<?xi16>, tensor<?xi16>, tensor<?xi16>, tensor<?xi16>
}
