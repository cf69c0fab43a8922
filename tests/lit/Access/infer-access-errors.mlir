// RUN: plimsoll-opt %s -plim-infer-access -split-input-file -verify-diagnostics

// A constant lives in read-only memory, under each of its names.
memref.global "private" constant @table : memref<4xf32> = dense<1.0>
func.func @stores(%x: f32, %i: index) {
  %g = memref.get_global @table : memref<4xf32>
  // expected-error @below {{may write to 'table', which is constant}}
  memref.store %x, %g[%i] : memref<4xf32>
  return
}

// -----

memref.global "private" constant @table : memref<4xf32> = dense<1.0>
func.func @stores_to_view(%x: f32, %i: index) {
  %g = memref.get_global @table : memref<4xf32>
  %v = memref.subview %g[1] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1], offset: 1>>
  // expected-error @below {{may write to 'table', which is constant}}
  memref.store %x, %v[%i] : memref<2xf32, strided<[1], offset: 1>>
  return
}

// -----

memref.global "private" constant @table : memref<4xf32> = dense<1.0>
func.func @copies_to(%a: memref<4xf32>) {
  %g = memref.get_global @table : memref<4xf32>
  // expected-error @below {{may write to 'table', which is constant}}
  memref.copy %a, %g : memref<4xf32> to memref<4xf32>
  return
}

// -----

memref.global "private" constant @table : memref<4xf32> = dense<1.0>
func.func @fills(%x: f32) {
  %g = memref.get_global @table : memref<4xf32>
  // expected-error @below {{may write to 'table', which is constant}}
  linalg.fill ins(%x : f32) outs(%g : memref<4xf32>)
  return
}

// -----

// What is handed on is followed: into functions, back out of them, through branches and loops.
memref.global "private" constant @table : memref<4xf32> = dense<1.0>
func.func private @takes(%a: memref<4xf32>, %x: f32, %i: index) {
  // expected-error @below {{may write to 'table', which is constant}}
  memref.store %x, %a[%i] : memref<4xf32>
  return
}
func.func @hands_on(%x: f32, %i: index) {
  %g = memref.get_global @table : memref<4xf32>
  call @takes(%g, %x, %i) : (memref<4xf32>, f32, index) -> ()
  return
}

// -----

memref.global "private" constant @table : memref<4xf32> = dense<1.0>
func.func private @gives() -> memref<4xf32> {
  %g = memref.get_global @table : memref<4xf32>
  return %g : memref<4xf32>
}
func.func @takes_back(%x: f32, %i: index) {
  %g = call @gives() : () -> memref<4xf32>
  // expected-error @below {{may write to 'table', which is constant}}
  memref.store %x, %g[%i] : memref<4xf32>
  return
}

// -----

memref.global "private" constant @table : memref<4xf32> = dense<1.0>
func.func @yields(%c: i1, %a: memref<4xf32>, %x: f32, %i: index) {
  %r = scf.if %c -> memref<4xf32> {
    %g = memref.get_global @table : memref<4xf32>
    scf.yield %g : memref<4xf32>
  } else {
    scf.yield %a : memref<4xf32>
  }
  // expected-error @below {{may write to 'table', which is constant}}
  memref.store %x, %r[%i] : memref<4xf32>
  return
}

// -----

memref.global "private" constant @table : memref<4xf32> = dense<1.0>
func.func @carries(%n: index, %a: memref<4xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = memref.get_global @table : memref<4xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %g) -> memref<4xf32> {
    // expected-error @below {{may write to 'table', which is constant}}
    memref.store %x, %t[%c0] : memref<4xf32>
    scf.yield %a : memref<4xf32>
  }
  return
}

// -----

// The caller of a public function could write to it.
memref.global "private" constant @table : memref<4xf32> = dense<1.0>
func.func @returns() -> memref<4xf32> {
  %g = memref.get_global @table : memref<4xf32>
  // expected-error @below {{returns 'table', which is constant}}
  return %g : memref<4xf32>
}

// -----

memref.global "private" constant @table : memref<4xf32> = dense<1.0>
func.func @releases() {
  %g = memref.get_global @table : memref<4xf32>
  // expected-error @below {{frees 'table', which is constant}}
  memref.dealloc %g : memref<4xf32>
  return
}

// -----

func.func private @inner(%m: memref<4xf32>) {
  // expected-error @below {{frees argument #0 of 'releases_argument', which belongs to the caller}}
  memref.dealloc %m : memref<4xf32>
  return
}
func.func @releases_argument(%a: memref<4xf32>) {
  call @inner(%a) : (memref<4xf32>) -> ()
  return
}

// -----

// What is declared is held against what is done.
func.func @writes(%x: f32, %i: index, %a: memref<8xf32> {plim.access = #plim.access<readonly>}) {
  %v = memref.subview %a[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  // expected-error @below {{may write to argument #2 of 'writes', which is declared readonly}}
  memref.store %x, %v[%i] : memref<4xf32, strided<[1], offset: 4>>
  return
}

// -----

func.func @reads(%i: index, %a: memref<4xf32> {plim.access = #plim.access<writeonly>}) -> f32 {
  // expected-error @below {{may read argument #1 of 'reads', which is declared writeonly}}
  %x = memref.load %a[%i] : memref<4xf32>
  return %x : f32
}

// -----

func.func @returns_argument(%a: memref<4xf32> {plim.access = #plim.access<readonly>}) -> memref<4xf32> {
  // expected-error @below {{returns argument #0 of 'returns_argument', which is declared readonly}}
  return %a : memref<4xf32>
}

// -----

// expected-error @below {{argument #0 of 'value' is a tensor, which is readonly, but is declared readwrite}}
func.func @value(%a: tensor<4xf32> {plim.access = #plim.access<readwrite>}) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// -----

// expected-error @below {{argument #0 of 'scalar' is a scalar, but is declared readonly}}
func.func @scalar(%a: f32 {plim.access = #plim.access<readonly>}) -> f32 {
  return %a : f32
}

// -----

// expected-error @below {{argument #0 of 'unread' is read, but is declared to have access "none"}}
func.func @unread(%a: tensor<4xf32> {bufferization.access = "none"}) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// -----

// expected-error @below {{argument #0 of 'donated' is donated, but is declared readonly}}
func.func @donated(%a: tensor<4xf32> {plim.donate = 0, plim.access = #plim.access<readonly>}) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
