// exp, exp2, log, log2 and log1p in f64.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-13
// CASE:
// INPUT: 6xf64=0 1 -1 0.5 -2.5 10
// EXPECT: result[0]: 6xf64=[1, 2.718281828459045, 0.3678794411714424, 1.6487212707001282, 0.0820849986238988, 22026.465794806718]
// EXPECT: result[1]: 6xf64=[1, 2, 0.5, 1.4142135623730951, 0.1767766952966369, 1024]
// EXPECT: result[2]: 6xf64=[-2.0794415416798357, 0.11778303565638346, 0.11778303565638346, -0.4700036292457356, 0.965080896043587, 2.315007612992603]
// EXPECT: result[3]: 6xf64=[-3, 0.16992500144231235, 0.16992500144231235, -0.6780719051126376, 1.3923174227787602, 3.3398500028846247]
// EXPECT: result[4]: 6xf64=[0, 0.6931471805599453, 0.6931471805599453, 0.4054651081081644, 1.252762968495368, 2.3978952727983707]
// CASE:
// INPUT: 1009xf64=rnd:1
// CASE:
// INPUT: 0xf64=[]
// EXPECT: result[0]: 0xf64=[]
// EXPECT: result[1]: 0xf64=[]
// EXPECT: result[2]: 0xf64=[]
// EXPECT: result[3]: 0xf64=[]
// EXPECT: result[4]: 0xf64=[]

#id = affine_map<(i) -> (i)>
func.func @main(%a: tensor<?xf64>)
    -> (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf64>
  %e = tensor.empty(%n) : tensor<?xf64>
  %r:5 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id, #id],
      iterator_types = ["parallel"]}
      ins(%a : tensor<?xf64>)
      outs(%e, %e, %e, %e, %e : tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>,
          tensor<?xf64>) {
  ^bb0(%x: f64, %o0: f64, %o1: f64, %o2: f64, %o3: f64, %o4: f64):
    %m = math.absf %x : f64
    %tiny = arith.constant 0.125 : f64
    %p = arith.addf %m, %tiny : f64
    %0 = math.exp %x : f64
    %1 = math.exp2 %x : f64
    %2 = math.log %p : f64
    %3 = math.log2 %p : f64
    %4 = math.log1p %m : f64
    linalg.yield %0, %1, %2, %3, %4 : f64, f64, f64, f64, f64
  } -> (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>)
  return %r#0, %r#1, %r#2, %r#3, %r#4
      : tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>
}
