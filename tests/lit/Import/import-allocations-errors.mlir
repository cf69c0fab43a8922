// RUN: plimsoll-opt %s -plim-import-allocations -split-input-file -verify-diagnostics

func.func @too_large() -> tensor<4xf32> {
  // expected-error @below {{takes 16 bytes, more than its max_bytes of 15}}
  %e = tensor.empty() {plim.max_bytes = 15 : i64} : tensor<4xf32>
  return %e : tensor<4xf32>
}
func.func @strided() {
  // expected-error @below {{an allocation must be dense, row-major, in the default memory space}}
  %a = memref.alloc() {plim.scope = "local"} : memref<4x4xf32, strided<[8, 1]>>
  return
}

// -----

// What later stages believe, a source must not say.
func.func @alloc() {
  // expected-error @below {{'plim.alloc' is formed by the engine and cannot stand in a source}}
  %a = plim.alloc() {bytes = 4 : i64} : memref<4xf32>
  return
}
// expected-error @below {{attribute 'plim.workspace_bytes' is none that a source may have}}
func.func @slab() attributes {plim.workspace_bytes = -5 : i64} {
  return
}
// expected-error @below {{attribute 'plim.bytes' is none that a source may have}}
func.func @argument(%x: memref<4xf32> {plim.bytes = 400 : i64}) {
  return
}

// -----

// expected-error @below {{attribute 'plim.pools' is none that a source may have}}
module attributes {plim.pools = [1 : i64]} {}

// -----

// What the engine forms or marks by itself.
func.func @dispatches(%a: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'plim.dispatch' is formed by the engine and cannot stand in a source}}
  %r = plim.dispatch @d ins(%a : tensor<f32>) outs(%a : tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
// expected-error @below {{attribute 'plim.dispatch_function' is none that a source may have}}
func.func private @d(%a: tensor<f32>, %o: tensor<f32>) -> tensor<f32>
    attributes {plim.dispatch_function} {
  return %a : tensor<f32>
}

// -----

func.func @check(%c: i1) {
  // expected-error @below {{'plim.check' is formed by the engine and cannot stand in a source}}
  %ok = plim.check %c, "checked"
  return
}

// -----

// expected-error @below {{'plim.pure' is a unit attribute of the declaration of a function of the host application}}
func.func @pure() attributes {plim.pure} {
  return
}

// -----

func.func @filled(%x: tensor<4xf32>, %zero: f32) -> tensor<4xf32> {
  // expected-error @below {{'plim.round_rows' is a unit attribute of linalg's products of floats}}
  %r = linalg.fill {plim.round_rows} ins(%zero : f32) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @integers(%a: tensor<4x4xi32>) -> tensor<4x4xi32> {
  // expected-error @below {{'plim.round_rows' is a unit attribute of linalg's products of floats}}
  %r = linalg.matmul {plim.round_rows} ins(%a, %a : tensor<4x4xi32>, tensor<4x4xi32>) outs(%a : tensor<4x4xi32>) -> tensor<4x4xi32>
  return %r : tensor<4x4xi32>
}

// -----

func.func @value(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @below {{'plim.round_rows' is a unit attribute of linalg's products of floats}}
  %r = linalg.matmul {plim.round_rows = 1} ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%a : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

// expected-error @below {{attribute 'plim.kernel' is none that a source may have}}
func.func @kernel() attributes {plim.kernel} {
  return
}

// -----

// expected-error @below {{attribute 'plim.dispatch_function' is none that a source may have}}
func.func @dispatch() attributes {plim.dispatch_function} {
  return
}

// -----

// A device is named where it is not lost.
func.func @devices(%x: tensor<4xf32>, %m: memref<4xf32>) {
  // expected-error @below {{'plim.device' must be the name of a device}}
  %a = linalg.exp {plim.device = 1 : i32} ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return
}
func.func @on_memrefs(%m: memref<4xf32>) {
  // expected-error @below {{'plim.device' belongs on operations of linalg on tensors, other than those that are made of several}}
  linalg.exp {plim.device = "npu"} ins(%m : memref<4xf32>) outs(%m : memref<4xf32>)
  return
}
func.func @of_several(%x: tensor<4x4xf32>, %i: tensor<4x4xi32>) {
  // expected-error @below {{'plim.device' belongs on}}
  %a = linalg.softmax {plim.device = "npu"} dimension(1) ins(%x : tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-error @below {{'plim.device' belongs on}}
  %b = tosa.abs %x {plim.device = "npu"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-error @below {{'plim.device' belongs on}}
  %c = arith.addf %x, %x {plim.device = "npu"} : tensor<4x4xf32>
  return
}
// expected-error @below {{'plim.device' belongs on}}
func.func @function() attributes {plim.device = "npu"} {
  return
}
// expected-error @below {{attribute 'plim.device' cannot stand here}}
func.func @argument(%x: tensor<4xf32> {plim.device = "npu"}) {
  return
}

// -----

// expected-error @below {{attribute 'plim.max_byte' is none that a source may have; did you mean 'plim.max_bytes'?}}
func.func @misspelt() attributes {plim.max_byte = 64 : i64} {
  return
}
