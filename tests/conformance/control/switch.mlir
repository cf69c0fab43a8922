// cf.switch and scf.index_switch choose among several values.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: i32=0
// INPUT: index=1
// EXPECT: result[0]: f32=1
// EXPECT: result[1]: 2xf32=[1, 1]
// CASE:
// INPUT: i32=7
// INPUT: index=2
// EXPECT: result[0]: f32=2
// EXPECT: result[1]: 2xf32=[1, 2]
// CASE:
// INPUT: i32=-1
// INPUT: index=9
// EXPECT: result[0]: f32=3
// EXPECT: result[1]: 2xf32=[3, 3]

func.func @main(%k: i32, %j: index) -> (f32, tensor<2xf32>) {
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %three = arith.constant 3.0 : f32
  %t = scf.index_switch %j -> tensor<2xf32>
  case 1 {
    %a = tensor.splat %one : tensor<2xf32>
    scf.yield %a : tensor<2xf32>
  }
  case 2 {
    %b = tensor.from_elements %one, %two : tensor<2xf32>
    scf.yield %b : tensor<2xf32>
  }
  default {
    %c = tensor.splat %three : tensor<2xf32>
    scf.yield %c : tensor<2xf32>
  }
  cf.switch %k : i32, [
    default: ^exit(%three : f32),
    0: ^exit(%one : f32),
    7: ^exit(%two : f32)
  ]
^exit(%r: f32):
  return %r, %t : f32, tensor<2xf32>
}
