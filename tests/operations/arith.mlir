// Arithmetic. Each operation on scalars and vectors in a kernel, and on tensors of dynamic extent.
// EACH: OP X Y WANT
//      addf 1.5,-2.0,0.25,7.0 2.5,0.5,-4.0,-2.0 4.0,-1.5,-3.75,5.0
//      subf 1.5,-2.0,0.25,7.0 2.5,0.5,-4.0,-2.0 -1.0,-2.5,4.25,9.0
//      mulf 1.5,-2.0,0.25,7.0 2.5,0.5,-4.0,-2.0 3.75,-1.0,-1.0,-14.0
//      divf 1.5,-2.0,0.25,7.0 2.5,0.5,-4.0,-2.0 0.6,-4.0,-0.0625,-3.5
//      remf 1.5,-2.0,0.25,7.0 2.5,0.5,-4.0,-2.0 1.5,-0.0,0.25,1.0
//      maximumf 1.5,-2,nan,-0.0 2.5,-3,1,0.0 2.5,-2,nan,0.0
//      minimumf 1.5,-2,1,-0.0 2.5,-3,nan,0.0 1.5,-3,nan,-0.0
//      maxnumf 1.5,-2,nan,7 2.5,-3,1,nan 2.5,-2,1,7
//      minnumf 1.5,-2,nan,7 2.5,-3,1,nan 1.5,-3,1,7
// EACH: T = f16 bf16 f32 f64
// TOLERANCE: 4e-3

// INPUT: 4x$T=$X
// INPUT: 4x$T=$Y
// INPUT: 4x$T=0
// INPUT: 4x$T=0
// EXPECT: arg[2]: 4x$T=[$WANT]
// EXPECT: arg[3]: 4x$T=[$WANT]
func.func @$OP_$T(%x: memref<?x$T>, %y: memref<?x$T>, %z: memref<?x$T>, %w: memref<4x$T>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x$T>
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<?x$T>
    %b = memref.load %y[%i] : memref<?x$T>
    %r = arith.$OP %a, %b : $T
    memref.store %r, %z[%i] : memref<?x$T>
  }
  %u = vector.load %x[%c0] : memref<?x$T>, vector<4x$T>
  %v = vector.load %y[%c0] : memref<?x$T>, vector<4x$T>
  %s = arith.$OP %u, %v : vector<4x$T>
  vector.store %s, %w[%c0] : memref<4x$T>, vector<4x$T>
  return
}

// INPUT: 4x$T=$X
// INPUT: 4x$T=$Y
// EXPECT: result[0]: 4x$T=[$WANT]
func.func @$OP_tensor_$T(%x: tensor<?x$T>, %y: tensor<?x$T>) -> tensor<?x$T> {
  %r = arith.$OP %x, %y : tensor<?x$T>
  return %r : tensor<?x$T>
}

// -----
// EACH: OP X WANT
//      negf 1.5,-2,0,inf -1.5,2,-0.0,-inf
// EACH: T = f16 bf16 f32 f64

// INPUT: 4x$T=$X
// INPUT: 4x$T=0
// INPUT: 4x$T=0
// EXPECT: arg[1]: 4x$T=[$WANT]
// EXPECT: arg[2]: 4x$T=[$WANT]
func.func @$OP_$T(%x: memref<?x$T>, %z: memref<?x$T>, %w: memref<4x$T>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x$T>
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<?x$T>
    %r = arith.$OP %a : $T
    memref.store %r, %z[%i] : memref<?x$T>
  }
  %u = vector.load %x[%c0] : memref<?x$T>, vector<4x$T>
  %s = arith.$OP %u : vector<4x$T>
  vector.store %s, %w[%c0] : memref<4x$T>, vector<4x$T>
  return
}

// INPUT: 4x$T=$X
// EXPECT: result[0]: 4x$T=[$WANT]
func.func @$OP_tensor_$T(%x: tensor<?x$T>) -> tensor<?x$T> {
  %r = arith.$OP %x : tensor<?x$T>
  return %r : tensor<?x$T>
}

// -----
// Integers wrap; the values hold in every width.
// EACH: OP X Y WANT
//      addi 20,-7,5,-100 3,2,-5,1 23,-5,0,-99
//      subi 20,-7,5,-100 3,2,-5,1 17,-9,10,-101
//      muli 20,-7,5,-100 3,2,-5,1 60,-14,-25,-100
//      divsi 20,-7,5,-100 3,2,-5,1 6,-3,-1,-100
//      remsi 20,-7,5,-100 3,2,-5,1 2,-1,0,0
//      ceildivsi 20,-7,5,-100 3,2,-5,1 7,-3,-1,-100
//      floordivsi 20,-7,5,-100 3,2,-5,1 6,-4,-1,-100
//      andi 20,-7,5,-100 3,2,-5,1 0,0,1,0
//      ori 20,-7,5,-100 3,2,-5,1 23,-5,-1,-99
//      xori 20,-7,5,-100 3,2,-5,1 23,-5,-2,-99
//      maxsi 20,-7,5,-100 3,2,-5,1 20,2,5,1
//      minsi 20,-7,5,-100 3,2,-5,1 3,-7,-5,-100
//      divui 20,-1,-2,7 3,-1,-1,2 6,1,0,3
//      remui 20,-1,-2,7 3,-1,-1,2 2,0,-2,1
//      ceildivui 20,-1,-2,0 3,-1,-1,2 7,1,1,0
//      maxui 20,-1,5,0 3,5,-5,0 20,-1,-5,0
//      minui 20,-1,5,0 3,5,-5,0 3,5,5,0
//      shli 3,-5,1,0 2,3,6,5 12,-40,64,0
//      shrsi 20,-7,5,-100 3,2,1,4 2,-2,2,-7
//      shrui 20,7,5,100 3,2,1,4 2,1,2,6
// EACH: T = i8 i16 i32 i64 index

// INPUT: 4x$T=$X
// INPUT: 4x$T=$Y
// INPUT: 4x$T=0
// INPUT: 4x$T=0
// EXPECT: arg[2]: 4x$T=[$WANT]
// EXPECT: arg[3]: 4x$T=[$WANT]
func.func @$OP_$T(%x: memref<?x$T>, %y: memref<?x$T>, %z: memref<?x$T>, %w: memref<4x$T>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x$T>
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<?x$T>
    %b = memref.load %y[%i] : memref<?x$T>
    %r = arith.$OP %a, %b : $T
    memref.store %r, %z[%i] : memref<?x$T>
  }
  %u = vector.load %x[%c0] : memref<?x$T>, vector<4x$T>
  %v = vector.load %y[%c0] : memref<?x$T>, vector<4x$T>
  %s = arith.$OP %u, %v : vector<4x$T>
  vector.store %s, %w[%c0] : memref<4x$T>, vector<4x$T>
  return
}

// INPUT: 4x$T=$X
// INPUT: 4x$T=$Y
// EXPECT: result[0]: 4x$T=[$WANT]
func.func @$OP_tensor_$T(%x: tensor<?x$T>, %y: tensor<?x$T>) -> tensor<?x$T> {
  %r = arith.$OP %x, %y : tensor<?x$T>
  return %r : tensor<?x$T>
}

// -----
// Both halves of a sum or product.
// EACH: OP        X          Y         LOW       HIGH
//      mulsi_extended -1,2,127,0  5,-3,127,9  -5,-6,1,0  -1,-1,63,0
//      mului_extended -1,2,127,0  1,3,127,9  -1,6,1,0  0,0,63,0

// INPUT: 4xi8=$X
// INPUT: 4xi8=$Y
// INPUT: 4xi8=0
// INPUT: 4xi8=0
// INPUT: 4xi8=0
// INPUT: 4xi8=0
// EXPECT: arg[2]: 4xi8=[$LOW]
// EXPECT: arg[3]: 4xi8=[$HIGH]
// EXPECT: arg[4]: 4xi8=[$LOW]
// EXPECT: arg[5]: 4xi8=[$HIGH]
func.func @$OP(%x: memref<?xi8>, %y: memref<?xi8>, %z0: memref<?xi8>, %z1: memref<?xi8>,
               %w0: memref<?xi8>, %w1: memref<?xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xi8>
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<?xi8>
    %b = memref.load %y[%i] : memref<?xi8>
    %r, %h = arith.$OP %a, %b : i8
    memref.store %r, %z0[%i] : memref<?xi8>
    memref.store %h, %z1[%i] : memref<?xi8>
  }
  %u = vector.load %x[%c0] : memref<?xi8>, vector<4xi8>
  %v = vector.load %y[%c0] : memref<?xi8>, vector<4xi8>
  %s, %t = arith.$OP %u, %v : vector<4xi8>
  vector.store %s, %w0[%c0] : memref<?xi8>, vector<4xi8>
  vector.store %t, %w1[%c0] : memref<?xi8>, vector<4xi8>
  return
}

// INPUT: 4xi8=$X
// INPUT: 4xi8=$Y
// EXPECT: result[0]: 4xi8=[$LOW]
// EXPECT: result[1]: 4xi8=[$HIGH]
func.func @$OP_tensor(%x: tensor<?xi8>, %y: tensor<?xi8>) -> (tensor<?xi8>, tensor<?xi8>) {
  %r, %h = arith.$OP %x, %y : tensor<?xi8>
  return %r, %h : tensor<?xi8>, tensor<?xi8>
}

// -----
// EACH: T = i8 i32 i64

// INPUT: $T=-1
// INPUT: $T=2
// EXPECT: result[0]: $T=1
func.func @addui_extended_$T(%a: $T, %b: $T) -> $T {
  %s, %carry = arith.addui_extended %a, %b : $T, i1
  return %s : $T
}

// INPUT: 3x$T=-1,5,-1
// INPUT: 3x$T=2,6,-1
// EXPECT: result[0]: 3x$T=[1, 11, -2]
// EXPECT: result[1]: 3xi1=[1, 0, 1]
func.func @addui_extended_tensor_$T(%x: tensor<?x$T>, %y: tensor<?x$T>) -> (tensor<?x$T>, tensor<?xi1>) {
  %s, %carry = arith.addui_extended %x, %y : tensor<?x$T>, tensor<?xi1>
  return %s, %carry : tensor<?x$T>, tensor<?xi1>
}

// INPUT: 3x$T=-1,5,-1
// INPUT: 3x$T=2,6,-1
// INPUT: 3x$T=0
// INPUT: 3xi1=0
// EXPECT: arg[2]: 3x$T=[1, 11, -2]
// EXPECT: arg[3]: 3xi1=[1, 0, 1]
func.func @addui_extended_vector_$T(%x: memref<3x$T>, %y: memref<3x$T>, %z: memref<3x$T>, %c: memref<3xi1>) {
  %c0 = arith.constant 0 : index
  %u = vector.load %x[%c0] : memref<3x$T>, vector<3x$T>
  %v = vector.load %y[%c0] : memref<3x$T>, vector<3x$T>
  %s, %carry = arith.addui_extended %u, %v : vector<3x$T>, vector<3xi1>
  vector.store %s, %z[%c0] : memref<3x$T>, vector<3x$T>
  vector.store %carry, %c[%c0] : memref<3xi1>, vector<3xi1>
  return
}

// -----
// EACH: P X Y WANT
//      false 1.5,-2,nan,0 2.5,-2,1,-4 0,0,0,0
//      oeq 1.5,-2,nan,0 2.5,-2,1,-4 0,1,0,0
//      ogt 1.5,-2,nan,0 2.5,-2,1,-4 0,0,0,1
//      oge 1.5,-2,nan,0 2.5,-2,1,-4 0,1,0,1
//      olt 1.5,-2,nan,0 2.5,-2,1,-4 1,0,0,0
//      ole 1.5,-2,nan,0 2.5,-2,1,-4 1,1,0,0
//      one 1.5,-2,nan,0 2.5,-2,1,-4 1,0,0,1
//      ord 1.5,-2,nan,0 2.5,-2,1,-4 1,1,0,1
//      ueq 1.5,-2,nan,0 2.5,-2,1,-4 0,1,1,0
//      ugt 1.5,-2,nan,0 2.5,-2,1,-4 0,0,1,1
//      uge 1.5,-2,nan,0 2.5,-2,1,-4 0,1,1,1
//      ult 1.5,-2,nan,0 2.5,-2,1,-4 1,0,1,0
//      ule 1.5,-2,nan,0 2.5,-2,1,-4 1,1,1,0
//      une 1.5,-2,nan,0 2.5,-2,1,-4 1,0,1,1
//      uno 1.5,-2,nan,0 2.5,-2,1,-4 0,0,1,0
//      true 1.5,-2,nan,0 2.5,-2,1,-4 1,1,1,1
// EACH: T = f16 bf16 f32 f64

// INPUT: 4x$T=$X
// INPUT: 4x$T=$Y
// INPUT: 4xi1=0
// INPUT: 4xi1=0
// EXPECT: arg[2]: 4xi1=[$WANT]
// EXPECT: arg[3]: 4xi1=[$WANT]
func.func @cmpf_$P_$T(%x: memref<?x$T>, %y: memref<?x$T>, %z: memref<?xi1>, %w: memref<4xi1>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x$T>
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<?x$T>
    %b = memref.load %y[%i] : memref<?x$T>
    %r = arith.cmpf $P, %a, %b : $T
    memref.store %r, %z[%i] : memref<?xi1>
  }
  %u = vector.load %x[%c0] : memref<?x$T>, vector<4x$T>
  %v = vector.load %y[%c0] : memref<?x$T>, vector<4x$T>
  %s = arith.cmpf $P, %u, %v : vector<4x$T>
  vector.store %s, %w[%c0] : memref<4xi1>, vector<4xi1>
  return
}

// INPUT: 4x$T=$X
// INPUT: 4x$T=$Y
// EXPECT: result[0]: 4xi1=[$WANT]
func.func @cmpf_tensor_$P_$T(%x: tensor<?x$T>, %y: tensor<?x$T>) -> tensor<?xi1> {
  %r = arith.cmpf $P, %x, %y : tensor<?x$T>
  return %r : tensor<?xi1>
}

// -----
// EACH: P X Y WANT
//      eq 1,-2,5,-1 2,-2,-5,3 0,1,0,0
//      ne 1,-2,5,-1 2,-2,-5,3 1,0,1,1
//      slt 1,-2,5,-1 2,-2,-5,3 1,0,0,1
//      sle 1,-2,5,-1 2,-2,-5,3 1,1,0,1
//      sgt 1,-2,5,-1 2,-2,-5,3 0,0,1,0
//      sge 1,-2,5,-1 2,-2,-5,3 0,1,1,0
//      ult 1,-2,5,-1 2,-2,-5,3 1,0,1,0
//      ule 1,-2,5,-1 2,-2,-5,3 1,1,1,0
//      ugt 1,-2,5,-1 2,-2,-5,3 0,0,0,1
//      uge 1,-2,5,-1 2,-2,-5,3 0,1,0,1
// EACH: T = i8 i16 i32 i64 index

// INPUT: 4x$T=$X
// INPUT: 4x$T=$Y
// INPUT: 4xi1=0
// INPUT: 4xi1=0
// EXPECT: arg[2]: 4xi1=[$WANT]
// EXPECT: arg[3]: 4xi1=[$WANT]
func.func @cmpi_$P_$T(%x: memref<?x$T>, %y: memref<?x$T>, %z: memref<?xi1>, %w: memref<4xi1>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x$T>
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<?x$T>
    %b = memref.load %y[%i] : memref<?x$T>
    %r = arith.cmpi $P, %a, %b : $T
    memref.store %r, %z[%i] : memref<?xi1>
  }
  %u = vector.load %x[%c0] : memref<?x$T>, vector<4x$T>
  %v = vector.load %y[%c0] : memref<?x$T>, vector<4x$T>
  %s = arith.cmpi $P, %u, %v : vector<4x$T>
  vector.store %s, %w[%c0] : memref<4xi1>, vector<4xi1>
  return
}

// INPUT: 4x$T=$X
// INPUT: 4x$T=$Y
// EXPECT: result[0]: 4xi1=[$WANT]
func.func @cmpi_tensor_$P_$T(%x: tensor<?x$T>, %y: tensor<?x$T>) -> tensor<?xi1> {
  %r = arith.cmpi $P, %x, %y : tensor<?x$T>
  return %r : tensor<?xi1>
}

// -----
// EACH: T = i1 i8 i16 i32 i64 index f16 bf16 f32 f64

// INPUT: i1=1
// INPUT: $T=1
// INPUT: $T=0
// EXPECT: result[0]: $T=1
// CASE:
// INPUT: i1=0
// INPUT: $T=1
// INPUT: $T=0
// EXPECT: result[0]: $T=0
func.func @select_$T(%c: i1, %a: $T, %b: $T) -> $T {
  %r = arith.select %c, %a, %b : $T
  return %r : $T
}

// INPUT: 3xi1=1,0,1
// INPUT: 3x$T=1,1,0
// INPUT: 3x$T=0,0,1
// EXPECT: result[0]: 3x$T=[1, 0, 0]
func.func @select_tensor_$T(%c: tensor<?xi1>, %x: tensor<?x$T>, %y: tensor<?x$T>) -> tensor<?x$T> {
  %r = arith.select %c, %x, %y : tensor<?xi1>, tensor<?x$T>
  return %r : tensor<?x$T>
}

// Of whole tensors, with different extents.
// INPUT: i1=0
// INPUT: 3x$T=1,1,0
// INPUT: 2x$T=0,1
// EXPECT: result[0]: 2x$T=[0, 1]
func.func @select_one_$T(%c: i1, %x: tensor<?x$T>, %y: tensor<?x$T>) -> tensor<?x$T> {
  %r = arith.select %c, %x, %y : tensor<?x$T>
  return %r : tensor<?x$T>
}

// INPUT: 3xi1=1,0,1
// INPUT: 3x$T=1,1,0
// INPUT: 3x$T=0,0,1
// INPUT: 3x$T=0
// EXPECT: arg[3]: 3x$T=[1, 0, 0]
func.func @select_vector_$T(%m: memref<3xi1>, %x: memref<3x$T>, %y: memref<3x$T>, %z: memref<3x$T>) {
  %c0 = arith.constant 0 : index
  %c = vector.load %m[%c0] : memref<3xi1>, vector<3xi1>
  %u = vector.load %x[%c0] : memref<3x$T>, vector<3x$T>
  %v = vector.load %y[%c0] : memref<3x$T>, vector<3x$T>
  %s = arith.select %c, %u, %v : vector<3xi1>, vector<3x$T>
  vector.store %s, %z[%c0] : memref<3x$T>, vector<3x$T>
  return
}

// -----
// Casts.
// EACH: OP T X U WANT
//      extf f32 1.5,-2,inf,0.1 f64 1.5,-2,inf,0.10000000149011612
//      extf f16 1.5,-2,inf,65504 f32 1.5,-2,inf,65504
//      extf bf16 1.5,-2,inf,1e30 f32 1.5,-2,inf,1.0002555517425873e+30
//      extf f16 1.5,-2,inf,65504 f64 1.5,-2,inf,65504
//      extf bf16 1.5,-2,inf,0.5 f64 1.5,-2,inf,0.5
//      truncf f64 1.5,-2,inf,0.1 f32 1.5,-2,inf,0.1
//      truncf f32 1.5,-2,1e9,0.1 f16 1.5,-2,inf,0.1
//      truncf f32 1.5,-2,3.4e38,0.1 bf16 1.5,-2,inf,0.1
//      truncf f64 1.5,-2,1e9,1.0004882812501 f16 1.5,-2,inf,1.0009765625
//      truncf f64 1.5,-2,1e300,1.0039062500001 bf16 1.5,-2,inf,1.0078125
//      extsi i1 1,0,1,0 i32 -1,0,-1,0
//      extsi i8 -128,127,-1,0 i64 -128,127,-1,0
//      extsi i16 -32768,127,-1,0 i32 -32768,127,-1,0
//      extui i1 1,0,1,0 i64 1,0,1,0
//      extui i8 -128,127,-1,0 i32 128,127,255,0
//      extui i32 -1,127,5,0 i64 4294967295,127,5,0
//      trunci i32 511,-1,128,3 i8 -1,-1,-128,3
//      trunci i64 4294967296,-1,7,2 i32 0,-1,7,2
//      trunci i8 1,2,3,-1 i1 1,0,1,1
//      sitofp i32 1,-7,16777217,0 f32 1,-7,16777216,0
//      sitofp i1 1,0,1,0 f32 -1,0,-1,0
//      sitofp i8 -128,127,0,1 f16 -128,127,0,1
//      sitofp i64 -5,9007199254740993,0,1 f64 -5,9007199254740992,0,1
//      sitofp i16 -3,256,0,1 bf16 -3,256,0,1
//      uitofp i8 -1,127,0,1 f32 255,127,0,1
//      uitofp i1 1,0,1,0 f64 1,0,1,0
//      uitofp i32 -1,5,0,1 f64 4294967295,5,0,1
//      uitofp i64 -1,5,0,1 f32 18446744073709551616,5,0,1
//      uitofp i8 -1,127,0,1 bf16 255,127,0,1
//      uitofp i8 -1,127,0,1 f16 255,127,0,1
//      fptosi f32 1.9,-1.9,-128,0 i8 1,-1,-128,0
//      fptosi f64 1e15,-1.5,7,-0.0 i64 1000000000000000,-1,7,0
//      fptosi f16 1.5,-2,7,0 i32 1,-2,7,0
//      fptosi bf16 1.5,-2,7,0 i16 1,-2,7,0
//      fptoui f32 200,1.9,0,255 i8 -56,1,0,-1
//      fptoui f64 4294967295,1.9,0,2 i32 -1,1,0,2
//      fptoui f32 1,0,1,0 i1 1,0,1,0
//      fptoui f16 200,1.5,0,2 i64 200,1,0,2
//      index_cast i32 -1,5,0,7 index -1,5,0,7
//      index_cast index -1,4294967301,0,7 i32 -1,5,0,7
//      index_cast i64 -1,5,0,7 index -1,5,0,7
//      index_cast i8 -1,5,0,7 index -1,5,0,7
//      index_castui i32 -1,5,0,7 index 4294967295,5,0,7
//      index_castui index -1,5,0,7 i8 -1,5,0,7
//      bitcast f32 1,-2,0,0.5 i32 1065353216,-1073741824,0,1056964608
//      bitcast i32 1065353216,-1073741824,0,1056964608 f32 1,-2,0,0.5
//      bitcast f64 1,-2,0,0.5 i64 4607182418800017408,-4611686018427387904,0,4602678819172646912
//      bitcast i64 4607182418800017408,0,0,0 f64 1,0,0,0
//      bitcast f16 1,-2,0,0.5 i16 15360,-16384,0,14336
//      bitcast i16 15360,-16384,0,14336 f16 1,-2,0,0.5
//      bitcast bf16 1,-2,0,0.5 i16 16256,-16384,0,16128
//      bitcast bf16 1,-2,0,0.5 f16 1.875,-2,0,1.75

// INPUT: 4x$T=$X
// INPUT: 4x$U=0
// INPUT: 4x$U=0
// EXPECT: arg[1]: 4x$U=[$WANT]
// EXPECT: arg[2]: 4x$U=[$WANT]
func.func @$OP_$T_$U(%x: memref<?x$T>, %z: memref<?x$U>, %w: memref<4x$U>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x$T>
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<?x$T>
    %r = arith.$OP %a : $T to $U
    memref.store %r, %z[%i] : memref<?x$U>
  }
  %u = vector.load %x[%c0] : memref<?x$T>, vector<4x$T>
  %s = arith.$OP %u : vector<4x$T> to vector<4x$U>
  vector.store %s, %w[%c0] : memref<4x$U>, vector<4x$U>
  return
}

// INPUT: 4x$T=$X
// EXPECT: result[0]: 4x$U=[$WANT]
func.func @$OP_tensor_$T_$U(%x: tensor<?x$T>) -> tensor<?x$U> {
  %r = arith.$OP %x : tensor<?x$T> to tensor<?x$U>
  return %r : tensor<?x$U>
}

// -----
// EACH: T     ONE      LIST          WANT
//      i1     true     true,false    1,0
//      i8     1:i8     -128,7        -128,7
//      i16 1:i16 -3,7          -3,7
//      i32 1:i32 -3,7          -3,7
//      i64 1:i64 -3,7          -3,7
//      index 1:index -3,7          -3,7
//      f16 1.0:f16 -1.5,2.5      -1.5,2.5
//      bf16 1.0:bf16 -1.5,2.5      -1.5,2.5
//      f32 1.0:f32 -1.5,2.5      -1.5,2.5
//      f64 1.0:f64 -1.5,2.5      -1.5,2.5

// EXPECT: result[0]: $T=1
func.func @constant_$T() -> $T {
  %c = arith.constant $ONE
  return %c : $T
}

// EXPECT: result[0]: 2x$T=[$WANT]
func.func @constant_tensor_$T() -> tensor<2x$T> {
  %c = arith.constant dense<[$LIST]> : tensor<2x$T>
  return %c : tensor<2x$T>
}

// INPUT: 2x$T=0
// EXPECT: arg[0]: 2x$T=[$WANT]
func.func @constant_vector_$T(%z: memref<2x$T>) {
  %c0 = arith.constant 0 : index
  %c = arith.constant dense<[$LIST]> : vector<2x$T>
  vector.store %c, %z[%c0] : memref<2x$T>, vector<2x$T>
  return
}

// -----
// Floats with a scale, which is a power of two.
// REFUSED: arith.scaling_extf: 'arith.scaling_extf' is not supported: scales are of type f8E8M0FNU
func.func @main(%x: tensor<?xf16>, %s: tensor<?xf16>) -> tensor<?xf32> {
  %r = arith.scaling_extf %x, %s : tensor<?xf16>, tensor<?xf16> to tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----
// REFUSED: arith.scaling_truncf: 'arith.scaling_truncf' is not supported: scales are of type f8E8M0FNU
func.func @main(%x: f32, %s: f32) -> f16 {
  %r = arith.scaling_truncf %x, %s : f32, f32 to f16
  return %r : f16
}
