// Undefined behaviour: a value that nobody looks at, and a place that is never reached.

// INPUT: i32=4
// INPUT: i1=1
// EXPECT: result[0]: i32=4
func.func @poison(%a: i32, %c: i1) -> i32 {
  %p = ub.poison : i32
  %r = arith.select %c, %a, %p : i32
  return %r : i32
}

// INPUT: 2xf32=1,3
// EXPECT: result[0]: 2xf32=[2, 6]
func.func @poison_tensor(%x: tensor<?xf32>) -> tensor<?xf32> {
  %p = ub.poison : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%p : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.add ins(%x, %x : tensor<?xf32>, tensor<?xf32>) outs(%f : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// INPUT: 2xf32=1,3
// EXPECT: arg[0]: 2xf32=[2, 6]
func.func @poison_vector(%x: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %p = ub.poison : vector<2xf32>
  %v = vector.load %x[%c0] : memref<2xf32>, vector<2xf32>
  %c = arith.constant dense<true> : vector<2xi1>
  %s = arith.select %c, %v, %p : vector<2xi1>, vector<2xf32>
  %r = arith.addf %s, %s : vector<2xf32>
  vector.store %r, %x[%c0] : memref<2xf32>, vector<2xf32>
  return
}

// INPUT: i32=4
// INPUT: i1=1
// EXPECT: result[0]: i32=4
func.func @unreachable(%a: i32, %c: i1) -> i32 {
  cf.cond_br %c, ^fine, ^never
^fine:
  return %a : i32
^never:
  ub.unreachable
}

// INPUT: 2xf32=1,3
// INPUT: i1=1
// EXPECT: result[0]: 2xf32=[2, 6]
func.func @unreachable_tensor(%x: tensor<?xf32>, %c: i1) -> tensor<?xf32> {
  cf.cond_br %c, ^fine, ^never
^fine:
  %r = arith.addf %x, %x : tensor<?xf32>
  return %r : tensor<?xf32>
^never:
  ub.unreachable
}
