// Control flow between blocks.

// INPUT: i1=1
// EXPECT: result[0]: i32=3
// CASE:
// INPUT: i1=0
// EXPECT: result[0]: i32=5
func.func @cond_br(%c: i1) -> i32 {
  %a = arith.constant 3 : i32
  %b = arith.constant 5 : i32
  cf.cond_br %c, ^left, ^right
^left:
  cf.br ^end(%a : i32)
^right:
  cf.br ^end(%b : i32)
^end(%r: i32):
  return %r : i32
}

// INPUT: i1=1
// INPUT: 2xf32=1,3
// EXPECT: result[0]: 2xf32=[2, 6]
// CASE:
// INPUT: i1=0
// INPUT: 2xf32=1,3
// EXPECT: result[0]: 2xf32=[1, 9]
func.func @cond_br_tensor(%c: i1, %x: tensor<?xf32>) -> tensor<?xf32> {
  cf.cond_br %c, ^left, ^right
^left:
  %a = arith.addf %x, %x : tensor<?xf32>
  cf.br ^end(%a : tensor<?xf32>)
^right:
  %b = arith.mulf %x, %x : tensor<?xf32>
  cf.br ^end(%b : tensor<?xf32>)
^end(%r: tensor<?xf32>):
  return %r : tensor<?xf32>
}

// INPUT: i32=1
// EXPECT: result[0]: i32=10
// CASE:
// INPUT: i32=-3
// EXPECT: result[0]: i32=30
// CASE:
// INPUT: i32=7
// EXPECT: result[0]: i32=0
func.func @switch(%k: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c10 = arith.constant 10 : i32
  %c30 = arith.constant 30 : i32
  cf.switch %k : i32, [
    default: ^end(%c0 : i32),
    1: ^end(%c10 : i32),
    -3: ^end(%c30 : i32)
  ]
^end(%r: i32):
  return %r : i32
}

// INPUT: i32=1
// INPUT: 2xf32=1,3
// EXPECT: result[0]: 2xf32=[2, 6]
// CASE:
// INPUT: i32=7
// INPUT: 2xf32=1,3
// EXPECT: result[0]: 2xf32=[1, 9]
func.func @switch_tensor(%k: i32, %x: tensor<?xf32>) -> tensor<?xf32> {
  cf.switch %k : i32, [
    default: ^other,
    1: ^one
  ]
^one:
  %a = arith.addf %x, %x : tensor<?xf32>
  cf.br ^end(%a : tensor<?xf32>)
^other:
  %b = arith.mulf %x, %x : tensor<?xf32>
  cf.br ^end(%b : tensor<?xf32>)
^end(%r: tensor<?xf32>):
  return %r : tensor<?xf32>
}

// INPUT: i32=4
// EXPECT: result[0]: i32=4
// CASE:
// INPUT: i32=-4
// FAILS: a negative number
func.func @assert(%k: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %fine = arith.cmpi sge, %k, %zero : i32
  cf.assert %fine, "a negative number"
  return %k : i32
}

// INPUT: 2xf32=1,3
// INPUT: i1=1
// EXPECT: result[0]: 2xf32=[2, 6]
// CASE:
// INPUT: 2xf32=1,3
// INPUT: i1=0
// FAILS: as the caller says
func.func @assert_tensor(%x: tensor<?xf32>, %fine: i1) -> tensor<?xf32> {
  cf.assert %fine, "as the caller says"
  %a = arith.addf %x, %x : tensor<?xf32>
  return %a : tensor<?xf32>
}
