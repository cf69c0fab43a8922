// sin, cos and tan in f64.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-13
// CASE:
// INPUT: 6xf64=0 0.5 -0.5 1 -1 0.1
// EXPECT: result[0]: 6xf64=[0, 0.9974949866040544, -0.9974949866040544, 0.1411200080598672, -0.1411200080598672, 0.29552020666133966]
// EXPECT: result[1]: 6xf64=[1, 0.0707372016677029, 0.0707372016677029, -0.9899924966004454, -0.9899924966004454, 0.9553364891256061]
// EXPECT: result[2]: 6xf64=[0, 0.5463024898437905, -0.5463024898437905, 1.557407724654902, -1.557407724654902, 0.10033467208545055]
// CASE:
// INPUT: 1021xf64=rnd:3

#id = affine_map<(i) -> (i)>
func.func @main(%a: tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf64>
  %e = tensor.empty(%n) : tensor<?xf64>
  %r:3 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<?xf64>) outs(%e, %e, %e : tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) {
  ^bb0(%x: f64, %o0: f64, %o1: f64, %o2: f64):
    %scale = arith.constant 3.0 : f64
    %y = arith.mulf %x, %scale : f64
    %0 = math.sin %y : f64
    %1 = math.cos %y : f64
    %2 = math.tan %x : f64
    linalg.yield %0, %1, %2 : f64, f64, f64
  } -> (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>)
  return %r#0, %r#1, %r#2 : tensor<?xf64>, tensor<?xf64>, tensor<?xf64>
}
