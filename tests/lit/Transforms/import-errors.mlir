// RUN: plimsoll-opt %s -plim-import -split-input-file -allow-unregistered-dialect -verify-diagnostics

// expected-error @below {{'builtin.module' is not supported at the top level of a module}}
module @nested {
}
func.func @beside() {
  return
}

// -----

// expected-error @below {{function 'missing' has no body and nothing is bound to it}}
func.func private @missing(f32)

// -----

// expected-error @below {{argument #1 of 'unranked' has type 'tensor<*xf32>'; ranked tensors, memrefs and scalars can cross a function boundary}}
func.func @unranked(%s: f32, %a: tensor<*xf32>) {
  return
}

// -----

// expected-error @below {{argument #0 of 'vector' has type 'vector<4xf32>'; ranked tensors, memrefs and scalars can cross}}
func.func @vector(%a: vector<4xf32>) {
  return
}

// -----

// expected-error @below {{argument #0 of 'strided' has type 'memref<4xf32, strided<[2]>>'; a memref at a function boundary must be dense, row-major, in the default memory space}}
func.func @strided(%a: memref<4xf32, strided<[2]>>) {
  return
}

// -----

// expected-error @below {{argument #0 of 'space' has type 'memref<4xf32, 1>'; a memref at a function boundary must be dense}}
func.func @space(%a: memref<4xf32, 1>) {
  return
}

// -----

// expected-error @below {{argument #0 of 'width' has unsupported element type 'i4'; supported are i1, i8, i16, i32, i64, f16, bf16, f32, f64 and index}}
func.func @width(%a: tensor<4xi4>) {
  return
}

// -----

// expected-error @below {{argument #0 of 'signed' has unsupported element type 'si32'}}
func.func @signed(%a: tensor<4xsi32>) {
  return
}

// -----

// expected-error @below {{argument #0 of 'pair' has unsupported element type 'tuple<f32, f32>'}}
func.func @pair(%a: tuple<f32, f32>) {
  return
}

// -----

// expected-error @below {{result #1 of 'result' has unsupported element type 'complex<f32>'}}
func.func @result(%s: f32) -> (f32, complex<f32>) {
  %c = complex.create %s, %s : complex<f32>
  return %s, %c : f32, complex<f32>
}

// -----

// expected-error @below {{is larger than 70368744177664 bytes}}
func.func @large_argument(%a: tensor<70368744177665xi8>) {
  return
}

// -----

func.func @large_result(%x: f32) {
  // expected-error @below {{type 'tensor<4294967296x4294967296x16xf32>' is larger than 70368744177664 bytes}}
  %a = tensor.splat %x : tensor<4294967296x4294967296x16xf32>
  return
}

// -----

// The known extents alone are too many.
func.func @large_dynamic(%n: index) {
  // expected-error @below {{type 'memref<?x9223372036854775807xi8>' is larger than 70368744177664 bytes}}
  %a = memref.alloc(%n) : memref<?x9223372036854775807xi8>
  return
}

// -----

// Blocks inside of functions are looked at, too.
func.func @large_in_block() {
  // expected-error @below {{type 'tensor<70368744177664xf64>' is larger than 70368744177664 bytes}}
  "test.region"() ({
  ^bb0(%m: tensor<70368744177664xf64>):
  }) : () -> ()
  return
}

// -----

func.func @large_vector(%x: f32) {
  // expected-error @below {{type 'vector<256x257xf32>' has more than 65536 elements; loops over a tensor or memref have no such limit}}
  %v = vector.broadcast %x : f32 to vector<256x257xf32>
  return
}

// -----

// expected-error @below {{global 'scalar' has type 'i32'; ranked tensors are supported}}
ml_program.global private @scalar(4 : i32) : i32

// -----

// expected-error @below {{extern global 'parameter' is mutable; a parameter is read-only}}
ml_program.global private mutable @parameter(#ml_program.extern<tensor<2xf32>>) : tensor<2xf32>

// -----

// expected-error @below {{extern global 'parameter' must have a static shape}}
ml_program.global private @parameter(#ml_program.extern<tensor<?xf32>>) : tensor<?xf32>

// -----

// expected-error @below {{global 'odd' has an initial value that is no elements attribute}}
ml_program.global private @odd("text") : tensor<2xf32>

// -----

// expected-error @below {{global 'dynamic' must have a static shape}}
ml_program.global private mutable @dynamic : tensor<?xf32>

// -----

ml_program.global private mutable @state : tensor<2xf32>
// expected-error @below {{uses global 'state' in an unsupported way}}
func.func @names() attributes {of = @state} {
  return
}

// -----

// What the dialect itself keeps out.
ml_program.global private @fixed(dense<0.0> : tensor<2xf32>) : tensor<2xf32>
func.func @store(%x: tensor<2xf32>) {
  // expected-error @below {{cannot store to an immutable global @fixed}}
  ml_program.global_store @fixed = %x : tensor<2xf32>
  return
}

// -----

// expected-error @below {{immutable global must have an initial value}}
ml_program.global private @fixed : tensor<2xf32>
