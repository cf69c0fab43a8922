// Functions that call each other, and constants that are functions.

func.func private @twice(%a: i32) -> i32 {
  %r = arith.addi %a, %a : i32
  return %r : i32
}
func.func private @twice_tensor(%x: tensor<?xf32>) -> tensor<?xf32> {
  %r = arith.addf %x, %x : tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func private @twice_in_place(%x: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %v = memref.load %x[%c0] : memref<?xi32>
  %r = arith.addi %v, %v : i32
  memref.store %r, %x[%c0] : memref<?xi32>
  return
}

// INPUT: i32=4
// EXPECT: result[0]: i32=16
func.func @call(%a: i32) -> i32 {
  %b = func.call @twice(%a) : (i32) -> i32
  %c = func.call @twice(%b) : (i32) -> i32
  func.return %c : i32
}

// INPUT: 2xf32=1,3
// EXPECT: result[0]: 2xf32=[2, 6]
func.func @call_tensor(%x: tensor<?xf32>) -> tensor<?xf32> {
  %r = func.call @twice_tensor(%x) : (tensor<?xf32>) -> tensor<?xf32>
  func.return %r : tensor<?xf32>
}

// INPUT: 2xi32=3,5
// EXPECT: arg[0]: 2xi32=[6, 5]
func.func @call_memref(%x: memref<?xi32>) {
  func.call @twice_in_place(%x) : (memref<?xi32>) -> ()
  func.return
}

// A call through a constant is a call.
// INPUT: i32=4
// EXPECT: result[0]: i32=8
func.func @constant(%a: i32) -> i32 {
  %f = func.constant @twice : (i32) -> i32
  %r = func.call_indirect %f(%a) : (i32) -> i32
  return %r : i32
}

// -----
// REFUSED: func.call_indirect: calls a function that only a run knows

func.func private @one(%a: i32) -> i32 {
  return %a : i32
}
func.func private @two(%a: i32) -> i32 {
  %r = arith.addi %a, %a : i32
  return %r : i32
}
func.func @main(%c: i1, %a: i32) -> i32 {
  %f = func.constant @one : (i32) -> i32
  %g = func.constant @two : (i32) -> i32
  %h = arith.select %c, %f, %g : (i32) -> i32
  %r = func.call_indirect %h(%a) : (i32) -> i32
  return %r : i32
}
