// RUN: plimsoll-opt %s -plim-import -split-input-file -allow-unregistered-dialect -verify-diagnostics

// expected-error @below {{'builtin.module' is not supported at the top level of a module}}
module @nested {
}
func.func @beside() {
  return
}

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

// expected-error @below {{argument #0 of 'offset' has type 'memref<4xf32, strided<[2], offset: 3>>'; a memref argument must be dense, row-major, or strided with offset 0 or ?, in the default memory space}}
func.func @offset(%a: memref<4xf32, strided<[2], offset: 3>>) {
  return
}

// -----

// expected-error @below {{argument #0 of 'columns' has type 'memref<4x4xf32, affine_map<(d0, d1) -> (d1, d0)>>'; a memref argument must be dense}}
func.func @columns(%a: memref<4x4xf32, affine_map<(d0, d1) -> (d1, d0)>>) {
  return
}

// -----

// expected-error @below {{result #0 of 'strided' has type 'memref<4xf32, strided<[2]>>'; a memref result must be dense, row-major, in the default memory space}}
func.func @strided(%a: memref<4xf32, strided<[2]>>) -> memref<4xf32, strided<[2]>> {
  return %a : memref<4xf32, strided<[2]>>
}

// -----

// expected-error @below {{argument #0 of 'space' has type 'memref<4xf32, 1>'; a memref argument must be dense, row-major, or strided with offset 0 or ?, in the default memory space}}
func.func @space(%a: memref<4xf32, 1>) {
  return
}

// -----

// expected-error @below {{argument #0 of 'width' has unsupported element type 'i5'; supported are i1, i2, i4, i8, i16, i32, i64, f8E4M3FN, f8E5M2, f16, bf16, f32, f64, index, complex<f32> and complex<f64>}}
func.func @width(%a: tensor<4xi5>) {
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

// expected-error @below {{result #1 of 'result' is a complex scalar; pass it as a tensor or memref of rank 0}}
func.func @result(%s: f32) -> (f32, complex<f32>) {
  %c = complex.create %s, %s : complex<f32>
  return %s, %c : f32, complex<f32>
}

// -----

func.func @packed() {
  // expected-error @below {{type 'memref<2xvector<8xi1>>' has vectors of less than a byte for each number as elements; give the vectors' extents to the buffer}}
  %a = memref.alloc() : memref<2xvector<8xi1>>
  return
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

// -----

// expected-error @below {{global 'empty' has no value; a parameter is an extern ml_program.global}}
memref.global "private" constant @empty : memref<4xf32>

// -----

func.func @strided_allocation() {
  // expected-error @below {{allocates 'memref<4x4xf32, strided<[8, 1]>>'; an allocation must be dense, row-major, in the default memory space}}
  %a = memref.alloca() : memref<4x4xf32, strided<[8, 1]>>
  return
}

// -----

func.func @transposed_allocation() {
  // expected-error @below {{an allocation must be dense, row-major}}
  %a = memref.alloc() : memref<4x4xf32, affine_map<(d0, d1) -> (d1, d0)>>
  return
}

// -----

func.func @allocation_elsewhere() {
  // expected-error @below {{allocates 'memref<4xf32, 3>'; an allocation must be dense, row-major, in the default memory space}}
  %a = memref.alloc() : memref<4xf32, 3>
  return
}

// -----

func.func @dynamic_stack(%n: index) {
  // expected-error @below {{a stack allocation of dynamic size can overflow the stack; use memref.alloc, which the engine places}}
  %a = memref.alloca(%n) : memref<?xf32>
  return
}

// -----

func.func @wide(%x: i64) {
  // expected-error @below {{type 'i128' is wider than 64 bits}}
  %y = arith.extsi %x : i64 to i128
  return
}

// -----

func.func @wide_elements() {
  // expected-error @below {{type 'tensor<4xi65>' has unsupported elements}}
  %e = tensor.empty() : tensor<4xi65>
  return
}

// -----

// A buffer of buffers.
func.func @pointers() {
  // expected-error @below {{type 'memref<2xmemref<4xf32>>' has unsupported elements}}
  %a = memref.alloc() : memref<2xmemref<4xf32>>
  return
}

// -----

// expected-error @below {{type 'tensor<4xi128>' has unsupported elements}}
func.func private @wide_argument(%a: tensor<4xi128>) {
  return
}

// -----

func.func @scalable(%x: f32) {
  // expected-error @below {{scalable vector type 'vector<[4]xf32>' is not supported}}
  %v = vector.broadcast %x : f32 to vector<[4]xf32>
  return
}

// -----

// Kept out by the dialect itself.
#id = affine_map<(d0) -> (d0)>
func.func @mixed(%a: tensor<4xf32>, %b: memref<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expected to have pure tensor or buffer semantics}}
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<4xf32>, memref<4xf32>) outs(%a : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32, %old: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// Bodies on tensors may be repeated and moved: they compute values and nothing else.
#id = affine_map<(d0) -> (d0)>
func.func @loads_in_body(%a: tensor<4xf32>, %b: memref<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{accesses memory in its body; an op on tensors computes values only}}
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) {
  ^bb0(%x: f32, %old: f32):
    %i = linalg.index 0 : index
    %y = memref.load %b[%i] : memref<4xf32>
    linalg.yield %y : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
func.func @stores_in_body(%a: tensor<4xf32>, %b: memref<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{accesses memory in its body; an op on tensors computes values only}}
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) {
  ^bb0(%x: f32, %old: f32):
    %i = linalg.index 0 : index
    memref.store %x, %b[%i] : memref<4xf32>
    linalg.yield %x : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func private @twice(%x: f32) -> f32 {
  %y = arith.addf %x, %x : f32
  return %y : f32
}
func.func private @same(%x: f32) -> f32 {
  return %x : f32
}
func.func @choose(%c: i1, %x: f32) -> f32 {
  %f = func.constant @twice : (f32) -> f32
  %g = func.constant @same : (f32) -> f32
  %h = arith.select %c, %f, %g : (f32) -> f32
  // expected-error @below {{calls a function that only a run knows; such a call has no bounded stack}}
  %y = func.call_indirect %h(%x) : (f32) -> f32
  return %y : f32
}

// -----

func.func @unranked(%a: memref<4xf32>, %b: memref<4xf32>) {
  // expected-error @below {{type 'memref<*xf32>' has no rank; buffers and tensors need one}}
  %u = memref.cast %a : memref<4xf32> to memref<*xf32>
  %v = memref.cast %b : memref<4xf32> to memref<*xf32>
  memref.copy %u, %v : memref<*xf32> to memref<*xf32>
  return
}

// -----

// expected-error @below {{argument #0 of 'f' is donated, but 'plim.donate' is not the index}}
func.func @f(%x: tensor<4xf32> {plim.donate}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{argument #0 of 'f' is donated to result #1, but there are 1 results}}
func.func @f(%x: tensor<4xf32> {plim.donate = 1}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{argument #0 of 'f' is donated to result #-1, but there are 1 results}}
func.func @f(%x: tensor<4xf32> {plim.donate = -1}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{argument #1 of 'f' is donated to result #0, and so is argument #0}}
func.func @f(%x: tensor<4xf32> {plim.donate = 0}, %y: tensor<4xf32> {plim.donate = 0}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{argument #0 of 'f' is donated to result #0, which is 'tensor<4xi32>' and not 'tensor<4xf32>'}}
func.func @f(%x: tensor<4xf32> {plim.donate = 0}, %y: tensor<4xi32>) -> tensor<4xi32> {
  return %y : tensor<4xi32>
}

// -----

// expected-error @below {{argument #0 of 'f' is donated, but is no tensor: a memref is memory that the function may write as it is}}
func.func @f(%x: memref<4xf32> {plim.donate = 0}) {
  return
}

// -----

// expected-error @below {{argument #0 of 'f' is donated, but is declared not writable}}
func.func @f(%x: tensor<4xf32> {plim.donate = 0, bufferization.writable = false}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{argument #0 of 'f' is donated, but functions of the module call this one}}
func.func @f(%x: tensor<4xf32> {plim.donate = 0}, %n: index) -> tensor<4xf32> {
  %y = func.call @f(%x, %n) : (tensor<4xf32>, index) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Even where nothing comes to write there.
memref.global "private" constant @table : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
func.func @writable(%x: tensor<4xf32>) -> tensor<4xf32> {
  %g = memref.get_global @table : memref<4xf32>
  %c = memref.cast %g : memref<4xf32> to memref<?xf32>
  %b = memref.cast %c : memref<?xf32> to memref<4xf32>
  // expected-error @below {{makes a writable tensor of 'table', which is constant}}
  %t = bufferization.to_tensor %b restrict writable : memref<4xf32> to tensor<4xf32>
  %r = linalg.exp ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
