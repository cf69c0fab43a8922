// The index dialect: scalars only, in kernels, in functions over tensors and in the bodies of their operations.
// EACH: OP         A    B    WANT
//      add        7    -3   4
//      sub        7    -3   10
//      mul        7    -3   -21
//      divs       -7   2    -3
//      divu       -1   -1   1
//      ceildivs   -7   2    -3
//      ceildivu   7    2    4
//      floordivs  -7   2    -4
//      rems       -7   2    -1
//      remu       -1   2    1
//      maxs       7    -3   7
//      maxu       7    -3   -3
//      mins       7    -3   -3
//      minu       7    -3   7
//      shl        -5   3    -40
//      shrs       -40  3    -5
//      shru       -1   62   3
//      and        12   10   8
//      or         12   10   14
//      xor        12   10   6

// INPUT: index=$A
// INPUT: index=$B
// EXPECT: result[0]: index=$WANT
func.func @$OP(%a: index, %b: index) -> index {
  %r = index.$OP %a, %b
  return %r : index
}

// INPUT: 2xindex=$A
// INPUT: index=$B
// EXPECT: result[0]: 2xindex=[$WANT, $WANT]
// EXPECT: result[1]: index=$WANT
func.func @$OP_tensor(%x: tensor<?xindex>, %b: index) -> (tensor<?xindex>, index) {
  %c0 = index.constant 0
  %n = tensor.dim %x, %c0 : tensor<?xindex>
  %e = tensor.empty(%n) : tensor<?xindex>
  %r = linalg.map ins(%x : tensor<?xindex>) outs(%e : tensor<?xindex>) (%a: index, %o: index) {
    %s = index.$OP %a, %b
    linalg.yield %s : index
  }
  %a = tensor.extract %x[%c0] : tensor<?xindex>
  %s = index.$OP %a, %b
  return %r, %s : tensor<?xindex>, index
}

// -----
// EACH: P    WANT
//      eq   0
//      ne   1
//      slt  0
//      sle  0
//      sgt  1
//      sge  1
//      ult  1
//      ule  1
//      ugt  0
//      uge  0

// INPUT: index=7
// INPUT: index=-3
// EXPECT: result[0]: i1=$WANT
func.func @cmp_$P(%a: index, %b: index) -> i1 {
  %r = index.cmp $P(%a, %b)
  return %r : i1
}

// INPUT: 2xindex=7
// INPUT: index=-3
// EXPECT: result[0]: 2xi1=[$WANT, $WANT]
func.func @cmp_tensor_$P(%x: tensor<?xindex>, %b: index) -> tensor<?xi1> {
  %c0 = index.constant 0
  %n = tensor.dim %x, %c0 : tensor<?xindex>
  %e = tensor.empty(%n) : tensor<?xi1>
  %r = linalg.map ins(%x : tensor<?xindex>) outs(%e : tensor<?xi1>) (%a: index, %o: i1) {
    %s = index.cmp $P(%a, %b)
    linalg.yield %s : i1
  }
  return %r : tensor<?xi1>
}

// -----
// EACH: OP     T    U      A   WANT
//      casts  i32  index  -5  -5
//      casts  index  i8   300 44
//      castu  i32  index  -5  4294967291
//      castu  index  i8   300 44

// INPUT: $T=$A
// EXPECT: result[0]: $U=$WANT
func.func @$OP_$T(%a: $T) -> $U {
  %r = index.$OP %a : $T to $U
  return %r : $U
}

// INPUT: 2x$T=$A
// EXPECT: result[0]: 2x$U=[$WANT, $WANT]
func.func @$OP_tensor_$T(%x: tensor<2x$T>) -> tensor<2x$U> {
  %e = tensor.empty() : tensor<2x$U>
  %r = linalg.map ins(%x : tensor<2x$T>) outs(%e : tensor<2x$U>) (%a: $T, %o: $U) {
    %s = index.$OP %a : $T to $U
    linalg.yield %s : $U
  }
  return %r : tensor<2x$U>
}

// -----
// EXPECT: result[0]: index=-9
func.func @constant() -> index {
  %r = index.constant -9
  return %r : index
}

// EXPECT: result[0]: i1=1
func.func @bool_constant() -> i1 {
  %r = index.bool.constant true
  return %r : i1
}

// EXPECT: result[0]: index=64
func.func @sizeof() -> index {
  %r = index.sizeof
  return %r : index
}

// EXPECT: result[0]: 2xindex=[64, 64]
// EXPECT: result[1]: 2xi1=[0, 0]
func.func @constants_tensor() -> (tensor<2xindex>, tensor<2xi1>) {
  %s = index.sizeof
  %b = index.bool.constant false
  %t = tensor.from_elements %s, %s : tensor<2xindex>
  %u = tensor.splat %b : tensor<2xi1>
  return %t, %u : tensor<2xindex>, tensor<2xi1>
}
