// exp, exp2, log, log2 and log1p in f32.
// RUN-FUNCTION: @main
// TOLERANCE: 2e-6
// CASE:
// INPUT: 6xf32=0 1 -1 0.5 -2.5 10
// EXPECT: result[0]: 6xf32=[1, 2.7182817, 0.36787945, 1.6487212, 0.082085, 22026.465]
// EXPECT: result[1]: 6xf32=[1, 2, 0.5, 1.4142135, 0.17677669, 1024]
// EXPECT: result[2]: 6xf32=[-2.0794415, 0.11778303, 0.11778303, -0.47000363, 0.9650809, 2.3150077]
// EXPECT: result[3]: 6xf32=[-3, 0.169925, 0.169925, -0.6780719, 1.3923174, 3.33985]
// EXPECT: result[4]: 6xf32=[0, 0.6931472, 0.6931472, 0.4054651, 1.2527629, 2.3978953]
// CASE:
// INPUT: 1009xf32=rnd:1
// CASE:
// INPUT: 0xf32=[]
// EXPECT: result[0]: 0xf32=[]
// EXPECT: result[1]: 0xf32=[]
// EXPECT: result[2]: 0xf32=[]
// EXPECT: result[3]: 0xf32=[]
// EXPECT: result[4]: 0xf32=[]

#id = affine_map<(i) -> (i)>
func.func @main(%a: tensor<?xf32>)
    -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r:5 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id, #id],
      iterator_types = ["parallel"]}
      ins(%a : tensor<?xf32>)
      outs(%e, %e, %e, %e, %e : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>,
          tensor<?xf32>) {
  ^bb0(%x: f32, %o0: f32, %o1: f32, %o2: f32, %o3: f32, %o4: f32):
    %m = math.absf %x : f32
    %tiny = arith.constant 0.125 : f32
    %p = arith.addf %m, %tiny : f32
    %0 = math.exp %x : f32
    %1 = math.exp2 %x : f32
    %2 = math.log %p : f32
    %3 = math.log2 %p : f32
    %4 = math.log1p %m : f32
    linalg.yield %0, %1, %2, %3, %4 : f32, f32, f32, f32, f32
  } -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
  return %r#0, %r#1, %r#2, %r#3, %r#4
      : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}
