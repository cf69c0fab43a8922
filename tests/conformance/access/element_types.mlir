// Destinations of every width that are tables, read elementwise and by reductions.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// COUNT: copies=0 allocations=4 dispatches=4 kernels=4 beside=4
// CASE:
// INPUT: 2xi1=1 0
// INPUT: 2xi8=1 2
// INPUT: 2xf16=1 2
// INPUT: 2xbf16=1 2
// EXPECT: result[0]: 2xi1=[1, 1]
// EXPECT: result[1]: 2xi8=[-127, 102]
// EXPECT: result[2]: 2xf16=[1.5, 4.5]
// EXPECT: result[3]: bf16=5.5

#id = affine_map<(i) -> (i)>
#r = affine_map<(i) -> ()>
func.func @main(%a: tensor<2xi1>, %b: tensor<2xi8>, %c: tensor<2xf16>, %d: tensor<2xbf16>)
    -> (tensor<2xi1>, tensor<2xi8>, tensor<2xf16>, tensor<bf16>) {
  %ta = arith.constant dense<[false, true]> : tensor<2xi1>
  %tb = arith.constant dense<[-128, 100]> : tensor<2xi8>
  %tc = arith.constant dense<[0.5, 2.5]> : tensor<2xf16>
  %td = arith.constant dense<2.5> : tensor<bf16>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<2xi1>) outs(%ta : tensor<2xi1>) {
  ^bb0(%v: i1, %o: i1):
    %s = arith.ori %v, %o : i1
    linalg.yield %s : i1
  } -> tensor<2xi1>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%b : tensor<2xi8>) outs(%tb : tensor<2xi8>) {
  ^bb0(%v: i8, %o: i8):
    %s = arith.addi %v, %o : i8
    linalg.yield %s : i8
  } -> tensor<2xi8>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%c : tensor<2xf16>) outs(%tc : tensor<2xf16>) {
  ^bb0(%v: f16, %o: f16):
    %s = arith.addf %v, %o : f16
    linalg.yield %s : f16
  } -> tensor<2xf16>
  %3 = linalg.generic {indexing_maps = [#id, #r], iterator_types = ["reduction"]}
      ins(%d : tensor<2xbf16>) outs(%td : tensor<bf16>) {
  ^bb0(%v: bf16, %o: bf16):
    %s = arith.addf %v, %o : bf16
    linalg.yield %s : bf16
  } -> tensor<bf16>
  return %0, %1, %2, %3 : tensor<2xi1>, tensor<2xi8>, tensor<2xf16>, tensor<bf16>
}
