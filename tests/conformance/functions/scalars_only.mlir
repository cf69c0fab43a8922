// Every scalar type in and out.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: i1=1
// INPUT: i8=-128
// INPUT: i16=32767
// INPUT: i32=-1
// INPUT: i64=-9007199254740993
// INPUT: f16=0.5
// INPUT: bf16=-2
// INPUT: f32=0.1
// INPUT: f64=0.1
// INPUT: index=12
// EXPECT: result[0]: i1=0
// EXPECT: result[1]: i8=0
// EXPECT: result[2]: i16=-2
// EXPECT: result[3]: i32=-2
// EXPECT: result[4]: i64=-18014398509481986
// EXPECT: result[5]: f16=1
// EXPECT: result[6]: bf16=-4
// EXPECT: result[7]: f32=0.2
// EXPECT: result[8]: f64=0.2
// EXPECT: result[9]: index=24

func.func @main(%a: i1, %b: i8, %c: i16, %d: i32, %e: i64, %f: f16, %g: bf16, %h: f32, %i: f64,
                %j: index) -> (i1, i8, i16, i32, i64, f16, bf16, f32, f64, index) {
  %true = arith.constant true
  %na = arith.xori %a, %true : i1
  %nb = arith.addi %b, %b : i8
  %nc = arith.addi %c, %c : i16
  %nd = arith.addi %d, %d : i32
  %ne = arith.addi %e, %e : i64
  %nf = arith.addf %f, %f : f16
  %ng = arith.addf %g, %g : bf16
  %nh = arith.addf %h, %h : f32
  %ni = arith.addf %i, %i : f64
  %nj = arith.addi %j, %j : index
  return %na, %nb, %nc, %nd, %ne, %nf, %ng, %nh, %ni, %nj
      : i1, i8, i16, i32, i64, f16, bf16, f32, f64, index
}
