// Lanes, and views of memory, beside tensors: where a mask takes nothing, nothing is asked.
// RUN: plimsoll run %s -f gather -i 5xf32=1,2,3,4,5 -i 4xi32=0,9,3,-1 -i i1=0 -i index=1 | FileCheck %s --check-prefix=GOOD0
// RUN: plimsoll run %s -f scatter -i f32=0 -i 2x3xf32=0 -i 2xi32=0,2 -i i1=1 -i index=1 | FileCheck %s --check-prefix=GOOD1
// RUN: plimsoll run %s -f masked -i f32=0 -i 3xf32=1,2,3 -i index=3 -i index=0 | FileCheck %s --check-prefix=GOOD2
// RUN: plimsoll run %s -f packed -i f32=0 -i 5xf32=1,2,3,4,5 -i index=2 -i index=3 | FileCheck %s --check-prefix=GOOD3
// RUN: plimsoll run %s -f view -i f32=0 -i 24xi8=0 -i index=8 -i index=4 | FileCheck %s --check-prefix=GOOD4
// RUN: plimsoll run %s -f reinterpret -i f32=0 -i 2x3xf32=1,2,3,4,5,6 -i index=1 -i index=3 -i index=2 | FileCheck %s --check-prefix=GOOD5
// RUN: plimsoll run %s -f reinterpret -i f32=0 -i 2x3xf32=1,2,3,4,5,6 -i index=5 -i index=3 -i index=-2 | FileCheck %s --check-prefix=GOOD6
// RUN: plimsoll run %s -f nested -i 3xf32=1,2,3 -i 2xi32=2,9 -i index=1 | FileCheck %s --check-prefix=GOOD7
// RUN: not plimsoll run %s -f nested -i 3xf32=1,2,3 -i 2xi32=2,9 -i index=2 2>&1 | FileCheck %s --check-prefix=BAD7
// RUN: plimsoll run %s -f transfer -i 3xf32=1,2,3 -i index=2 -i index=1 | FileCheck %s --check-prefix=GOOD8
// RUN: not plimsoll run %s -f gather -i 5xf32=1,2,3,4,5 -i 4xi32=0,9,3,-1 -i i1=1 -i index=1 2>&1 | FileCheck %s --check-prefix=BAD0
// RUN: not plimsoll run %s --oracle -f gather -i 5xf32=1,2,3,4,5 -i 4xi32=0,9,3,-1 -i i1=1 -i index=1 2>&1 | FileCheck %s --check-prefix=BAD0
// RUN: not plimsoll run %s -f gather -i 5xf32=1 -i 4xi32=0,0,-2,0 -i i1=0 -i index=1 2>&1 | FileCheck %s --check-prefix=BAD0
// RUN: not plimsoll run %s -f scatter -i f32=0 -i 2x3xf32=0 -i 2xi32=0,3 -i i1=1 -i index=1 2>&1 | FileCheck %s --check-prefix=BAD1
// RUN: not plimsoll run %s -f scatter -i f32=0 -i 2x3xf32=0 -i 2xi32=0,2 -i i1=1 -i index=2 2>&1 | FileCheck %s --check-prefix=BAD2
// RUN: not plimsoll run %s --oracle -f scatter -i f32=0 -i 2x3xf32=0 -i 2xi32=0,2 -i i1=1 -i index=-1 2>&1 | FileCheck %s --check-prefix=BAD2
// RUN: not plimsoll run %s -f masked -i f32=0 -i 3xf32=1,2,3 -i index=4 -i index=0 2>&1 | FileCheck %s --check-prefix=BAD3
// RUN: not plimsoll run %s -f masked -i f32=0 -i 3xf32=1,2,3 -i index=2 -i index=2 2>&1 | FileCheck %s --check-prefix=BAD3
// RUN: not plimsoll run %s -f packed -i f32=0 -i 5xf32=1,2,3,4,5 -i index=3 -i index=3 2>&1 | FileCheck %s --check-prefix=BAD4
// RUN: not plimsoll run %s -f view -i f32=0 -i 24xi8=0 -i index=9 -i index=4 2>&1 | FileCheck %s --check-prefix=BAD5
// RUN: not plimsoll run %s -f view -i f32=0 -i 24xi8=0 -i index=-8 -i index=1 2>&1 | FileCheck %s --check-prefix=BAD5
// RUN: not plimsoll run %s -f view -i f32=0 -i 24xi8=0 -i index=8 -i index=4611686018427387904 2>&1 | FileCheck %s --check-prefix=BAD5
// RUN: not plimsoll run %s -f reinterpret -i f32=0 -i 2x3xf32=0 -i index=1 -i index=4 -i index=2 2>&1 | FileCheck %s --check-prefix=BAD6
// RUN: not plimsoll run %s -f reinterpret -i f32=0 -i 2x3xf32=0 -i index=1 -i index=3 -i index=-1 2>&1 | FileCheck %s --check-prefix=BAD6
// RUN: not plimsoll run %s -f reinterpret -i f32=0 -i 2x3xf32=0 -i index=0 -i index=3 -i index=9223372036854775807 2>&1 | FileCheck %s --check-prefix=BAD6
// RUN: not plimsoll run %s -f reinterpret -i f32=0 -i 2x3xf32=0 -i index=0 -i index=9223372036854775807 -i index=4 2>&1 | FileCheck %s --check-prefix=BAD6

// GOOD0: result[0]: 4xf32=[2, 7, 5, 7]
// GOOD1: arg[1]: 2x3xf32=
// GOOD1-SAME{LITERAL}: [[0, 0, 0], [8, 0, 8]]
// GOOD2: result[0]: f32=6
// GOOD3: result[0]: f32=12
// GOOD4: result[0]: f32=8
// GOOD5: result[0]: f32=6
// GOOD6: result[0]: f32=2
// GOOD7: result[0]: f32=3
// GOOD8: result[0]: f32=24
// BAD0: 'vector.gather': a lane leaves dimension 0, which has 5
// BAD1: 'vector.scatter': a lane leaves dimension 1, which has 3
// BAD2: 'vector.scatter': 1 elements from {{2|-1}} leave dimension 0, which has 2
// BAD3: 'vector.maskedload': a lane leaves dimension 0, which has 3
// BAD4: 'vector.expandload': 3 elements from 3 leave dimension 0, which has 5
// BAD5: 'memref.view': the view from byte {{.*}} leaves the buffer, which has 24
// BAD6: 'memref.reinterpret_cast': elements leave those of the source, 0 to 5
// BAD7: 'vector.gather': a lane leaves dimension 0, which has 3

func.func @gather(%t: tensor<?xf32>, %i: tensor<4xi32>, %all: i1, %o: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0 : i32
  %pass = arith.constant dense<7.0> : vector<4xf32>
  %some = arith.constant dense<[true, false, true, false]> : vector<4xi1>
  %every = vector.broadcast %all : i1 to vector<4xi1>
  %mask = arith.ori %some, %every : vector<4xi1>
  %at = vector.transfer_read %i[%c0], %z {in_bounds = [true]} : tensor<4xi32>, vector<4xi32>
  %v = vector.gather %t[%o][%at], %mask, %pass
      : tensor<?xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %r = vector.transfer_write %v, %e[%c0] {in_bounds = [true]} : vector<4xf32>, tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @scatter(%t: tensor<f32>, %m: memref<?x?xf32>, %i: tensor<2xi32>, %all: i1, %row: index) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0 : i32
  %values = arith.constant dense<8.0> : vector<2xf32>
  %mask = vector.broadcast %all : i1 to vector<2xi1>
  %at = vector.transfer_read %i[%c0], %z {in_bounds = [true]} : tensor<2xi32>, vector<2xi32>
  vector.scatter %m[%row, %c0][%at], %mask, %values
      : memref<?x?xf32>, vector<2xi32>, vector<2xi1>, vector<2xf32>
  return
}
func.func @masked(%t: tensor<f32>, %m: memref<?xf32>, %n: index, %at: index) -> f32 {
  %pass = arith.constant dense<0.0> : vector<4xf32>
  %mask = vector.create_mask %n : vector<4xi1>
  %v = vector.maskedload %m[%at], %mask, %pass
      : memref<?xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  %r = vector.reduction <add>, %v : vector<4xf32> into f32
  return %r : f32
}
func.func @packed(%t: tensor<f32>, %m: memref<?xf32>, %at: index, %n: index) -> f32 {
  %pass = arith.constant dense<0.0> : vector<8xf32>
  %mask = vector.create_mask %n : vector<8xi1>
  %v = vector.expandload %m[%at], %mask, %pass
      : memref<?xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  %r = vector.reduction <add>, %v : vector<8xf32> into f32
  return %r : f32
}
func.func @view(%t: tensor<f32>, %m: memref<?xi8>, %shift: index, %n: index) -> f32 {
  %c3 = arith.constant 3 : index
  %x = arith.constant 8.0 : f32
  %v = memref.view %m[%shift][%n] : memref<?xi8> to memref<?xf32>
  memref.store %x, %v[%c3] : memref<?xf32>
  %r = memref.load %v[%c3] : memref<?xf32>
  return %r : f32
}
func.func @reinterpret(%t: tensor<f32>, %m: memref<?x?xf32>, %o: index, %n: index, %s: index) -> f32 {
  %c2 = arith.constant 2 : index
  %v = memref.reinterpret_cast %m to offset: [%o], sizes: [%n], strides: [%s]
      : memref<?x?xf32> to memref<?xf32, strided<[?], offset: ?>>
  %r = memref.load %v[%c2] : memref<?xf32, strided<[?], offset: ?>>
  return %r : f32
}
func.func @nested(%t: tensor<?xf32>, %i: tensor<2xi32>, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0 : i32
  %pass = arith.constant dense<7.0> : vector<2xf32>
  %yes = arith.constant dense<true> : vector<2xi1>
  %mask = vector.create_mask %n : vector<2xi1>
  %at = vector.transfer_read %i[%c0], %z {in_bounds = [true]} : tensor<2xi32>, vector<2xi32>
  %v = vector.mask %mask {
    vector.gather %t[%c0][%at], %yes, %pass
        : tensor<?xf32>, vector<2xi32>, vector<2xi1>, vector<2xf32> into vector<2xf32>
  } : vector<2xi1> -> vector<2xf32>
  %r = vector.extract %v[0] : f32 from vector<2xf32>
  return %r : f32
}
// The claim to be in bounds holds for one lane only, which is the only one that the mask takes.
func.func @transfer(%t: tensor<?xf32>, %at: index, %n: index) -> f32 {
  %z = arith.constant 7.0 : f32
  %mask = vector.create_mask %n : vector<4xi1>
  %v = vector.mask %mask {
    vector.transfer_read %t[%at], %z {in_bounds = [true]} : tensor<?xf32>, vector<4xf32>
  } : vector<4xi1> -> vector<4xf32>
  %r = vector.reduction <add>, %v : vector<4xf32> into f32
  return %r : f32
}
