// RUN: plimsoll-opt %s -split-input-file -verify-diagnostics

func.func private @work() attributes {plim.dispatch_function}
func.func @count(%a: memref<4xf32>, %o: memref<4xf32>) {
  // expected-error @below {{'plim.dispatch' op has 1 accesses for 2 bindings}}
  plim.dispatch @work ins(%a : memref<4xf32>) outs(%o : memref<4xf32>)
      {accesses = [#plim.access<writeonly>]}
  return
}

// -----

// Scalars are no bindings.
func.func private @work() attributes {plim.dispatch_function}
func.func @scalar(%s: f32, %o: memref<4xf32>) {
  // expected-error @below {{'plim.dispatch' op has 2 accesses for 1 bindings}}
  plim.dispatch @work ins(%s : f32) outs(%o : memref<4xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
  return
}

// -----

func.func private @work() attributes {plim.dispatch_function}
func.func @input(%s: f32, %a: memref<4xf32>, %o: memref<4xf32>) {
  // expected-error @below {{'plim.dispatch' op input #1 must be readonly}}
  plim.dispatch @work ins(%s, %a : f32, memref<4xf32>) outs(%o : memref<4xf32>)
      {accesses = [#plim.access<readwrite>, #plim.access<writeonly>]}
  return
}

// -----

func.func private @work() attributes {plim.dispatch_function}
func.func @output(%a: memref<4xf32>, %o: memref<4xf32>) {
  // expected-error @below {{'plim.dispatch' op output #1 can't be readonly}}
  plim.dispatch @work ins(%a : memref<4xf32>) outs(%o : memref<4xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<readonly>]}
  return
}

// -----

func.func private @work() attributes {plim.dispatch_function}
func.func @attribute(%o: memref<4xf32>) {
  // expected-error @below {{attribute 'accesses' failed to satisfy constraint: accesses, one per binding}}
  plim.dispatch @work outs(%o : memref<4xf32>) {accesses = ["writeonly"]}
  return
}

// -----

func.func private @work() attributes {plim.dispatch_function}
func.func @mixed(%o: tensor<4xf32>, %p: memref<4xf32>) {
  // expected-error @below {{'plim.dispatch' op must have outputs that are all tensors or all memrefs}}
  plim.dispatch @work outs(%o, %p : tensor<4xf32>, memref<4xf32>)
  return
}

// -----

func.func private @work() attributes {plim.dispatch_function}
func.func @no_result(%o: tensor<4xf32>) {
  // expected-error @below {{'plim.dispatch' op must have one result per tensor output and none for memrefs}}
  plim.dispatch @work outs(%o : tensor<4xf32>)
  return
}

// -----

func.func private @work() attributes {plim.dispatch_function}
func.func @result_of_memref(%o: memref<4xf32>) {
  // expected-error @below {{must have one result per tensor output and none for memrefs}}
  %r = plim.dispatch @work outs(%o : memref<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @work() attributes {plim.dispatch_function}
func.func @result_type(%o: tensor<4xf32>) {
  // expected-error @below {{'plim.dispatch' op has a result of type 'tensor<8xf32>' in an output of type 'tensor<4xf32>'}}
  %r = plim.dispatch @work outs(%o : tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func private @wide(%a: tensor<?x?xf32>, %o: tensor<?xf32>) -> tensor<?xf32>
    attributes {plim.dispatch_function} {
  return %o : tensor<?xf32>
}
func.func @narrowed(%a: tensor<?x13xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{'plim.dispatch' op has binding #0 of type 'tensor<?x13xf32>', but wide was made for 'tensor<?x?xf32>'}}
  %r = plim.dispatch @wide ins(%a : tensor<?x13xf32>) outs(%o : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

func.func private @bound(%a: memref<f32> {plim.shape = tensor<?xf32>}, %o: memref<f32> {plim.shape = tensor<?xf32>}, %n: index)
    attributes {plim.dispatch_function} {
  return
}
func.func @too_few(%o: memref<?xf32>) {
  // expected-error @below {{'plim.dispatch' op has 1 bindings, but bound takes 2}}
  plim.dispatch @bound outs(%o : memref<?xf32>)
  return
}

// -----

func.func @missing(%o: memref<4xf32>) {
  // expected-error @below {{'plim.dispatch' op refers to nowhere, which is no function}}
  plim.dispatch @nowhere outs(%o : memref<4xf32>)
  return
}

// -----

memref.global "private" @data : memref<4xf32>
func.func @global(%o: memref<4xf32>) {
  // expected-error @below {{'plim.dispatch' op refers to data, which is no function}}
  plim.dispatch @data outs(%o : memref<4xf32>)
  return
}

// -----

func.func private @plain()
func.func @unmarked(%o: memref<4xf32>) {
  // expected-error @below {{'plim.dispatch' op refers to plain, which is no dispatch function}}
  plim.dispatch @plain outs(%o : memref<4xf32>)
  return
}

// -----

func.func @sizes(%n: index) {
  // expected-error @below {{'plim.alloc' op has 1 sizes for 2 dynamic extents}}
  %a = plim.alloc(%n) : memref<?x?xf32>
  return
}

// -----

func.func @scope() {
  // expected-error @below {{unknown scope 'globl'; known are global, global.stack, global.workspace, global.POOL, local and workgroup}}
  %a = plim.alloc() {scope = "globl"} : memref<4xf32>
  return
}

// -----

func.func @alignment() {
  // expected-error @below {{'plim.alloc' op has alignment 48, which is no power of two up to 2^30}}
  %a = plim.alloc() {alignment = 48 : i64} : memref<4xf32>
  return
}

// -----

// Annotations of upstream allocations are checked as the constraints that they become.
func.func @empty_pool() {
  // expected-error @below {{unknown scope 'global.'}}
  %a = memref.alloc() {plim.scope = "global."} : memref<4xf32>
  return
}

// -----

func.func @no_string() {
  // expected-error @below {{'plim.scope' must be a string}}
  %a = tensor.empty() {plim.scope = 3 : i64} : tensor<4xf32>
  return
}

// -----

func.func @negative() {
  // expected-error @below {{'max_bytes' must be an i64 that is not negative}}
  %a = tensor.empty() {plim.max_bytes = -1 : i64} : tensor<4xf32>
  return
}

// -----

func.func @no_pools() {
  // expected-error @below {{'candidate_pools' names no place}}
  %a = bufferization.alloc_tensor() {plim.candidate_pools = []} : tensor<4xf32>
  return
}

// -----

func.func @twice() {
  // expected-error @below {{'candidate_pools' names "sram" twice}}
  %a = memref.alloc() {plim.candidate_pools = ["sram", "sram"]} : memref<4xf32>
  return
}

// -----

func.func @conflict() {
  // expected-error @below {{scope 'global.dram' names one place: 'candidate_pools' is for scope 'global'}}
  %a = memref.alloc() {plim.scope = "global.dram", plim.candidate_pools = ["sram"]} : memref<4xf32>
  return
}

// -----

func.func @accessors() {
  // expected-error @below {{'accessors' must be a list of names}}
  %a = memref.alloc() {plim.accessors = "host"} : memref<4xf32>
  return
}

// -----

func.func @nothing_allocated(%x: f32) -> f32 {
  // expected-error @below {{'plim.scope' belongs on an allocation}}
  %a = arith.addf %x, %x {plim.scope = "global.stack"} : f32
  return %a : f32
}

// -----

func.func @limit() {
  // expected-error @below {{unknown limit 'stack'; known are max_stack_alloca_bytes, stack_budget_bytes, external_workspace_only and workspace_alignment; did you mean 'stack_budget_bytes'?}}
  %a = memref.alloc() {plim.limits = {stack = 3 : i64}} : memref<4xf32>
  return
}

// -----

// expected-error @below {{limit 'stack_budget_bytes' must be an i64 that is not negative}}
func.func @budget() attributes {plim.limits = {stack_budget_bytes = -1 : i64}} {
  return
}

// -----

// expected-error @below {{limit 'workspace_alignment' must be an i64, a power of two up to 2^30}}
module attributes {plim.limits = {workspace_alignment = 48 : i64}} {}

// -----

// expected-error @below {{limit 'workspace_alignment' holds for a module}}
func.func @alignment_of_one() attributes {plim.limits = {workspace_alignment = 128 : i64}} {
  return
}

// -----

// expected-error @below {{limit 'external_workspace_only' must be true or false}}
module attributes {plim.engine_limits = {external_workspace_only = 1 : i64}} {}

// -----

// expected-error @below {{'plim.engine_limits' belongs on the module}}
func.func @engine() attributes {plim.engine_limits = {}} {
  return
}

// -----

func.func private @work() attributes {plim.dispatch_function}
func.func @keyword(%o: memref<4xf32>) {
  // expected-error @below {{expected ::plim::ir::Access to be one of: readonly, writeonly, readwrite}}
  // expected-error @below {{failed to parse Plim_AccessAttr parameter 'value'}}
  plim.dispatch @work outs(%o : memref<4xf32>) {accesses = [#plim.access<sometimes>]}
  return
}

// -----

func.func private @work() attributes {plim.dispatch_function}
func.func @alone(%o: memref<4xf32>) {
  // expected-error @below {{'plim.schedule' op must hold at least two dispatches}}
  plim.schedule {
    plim.dispatch @work outs(%o : memref<4xf32>)
  }
  return
}

// -----

func.func private @work() attributes {plim.dispatch_function}
func.func @tensors(%o: tensor<4xf32>) {
  plim.schedule {
    // expected-error @below {{'plim.dispatch' op can't be part of plim.schedule, which holds dispatches on buffers}}
    %r = plim.dispatch @work outs(%o : tensor<4xf32>) -> tensor<4xf32>
  }
  return
}

// -----

func.func @other_op(%a: memref<4xf32>, %o: memref<4xf32>) {
  plim.schedule {
    // expected-error @below {{'memref.copy' op can't be part of plim.schedule, which holds dispatches on buffers}}
    memref.copy %a, %o : memref<4xf32> to memref<4xf32>
  }
  return
}

// -----

func.func private @work() attributes {plim.dispatch_function}
func.func @write_after_read(%a: memref<4xf32>, %o: memref<4xf32>) {
  plim.schedule {
    plim.dispatch @work ins(%a : memref<4xf32>) outs(%o : memref<4xf32>)
    // expected-error @below {{'plim.dispatch' op shares binding #0 with another dispatch of plim.schedule that it does not wait for, and one of them writes it}}
    plim.dispatch @work outs(%a : memref<4xf32>)
  }
  return
}

// -----

func.func private @work() attributes {plim.dispatch_function}
func.func @read_after_write(%a: memref<4xf32>, %o: memref<4xf32>) {
  plim.schedule {
    plim.dispatch @work outs(%a : memref<4xf32>)
    // expected-error @below {{'plim.dispatch' op shares binding #0 with another dispatch of plim.schedule that it does not wait for, and one of them writes it}}
    plim.dispatch @work ins(%a : memref<4xf32>) outs(%o : memref<4xf32>)
  }
  return
}

// -----

func.func private @work() attributes {plim.dispatch_function}
func.func @waits_for_another(%a: memref<4xf32>, %o: memref<4xf32>) {
  plim.schedule {
    plim.dispatch @work outs(%a : memref<4xf32>)
    plim.dispatch @work
    // expected-error @below {{'plim.dispatch' op shares binding #0 with another dispatch of plim.schedule that it does not wait for, and one of them writes it}}
    plim.dispatch @work ins(%a : memref<4xf32>) outs(%o : memref<4xf32>)
  } {predecessors = [array<i64>, array<i64>, array<i64: 1>]}
  return
}

// -----

func.func private @work() attributes {plim.dispatch_function}
func.func @too_few() {
  // expected-error @below {{'plim.schedule' op has 2 dispatches, but predecessors of 1}}
  plim.schedule {
    plim.dispatch @work
    plim.dispatch @work
  } {predecessors = [array<i64>]}
  return
}

// -----

func.func private @work() attributes {plim.dispatch_function}
func.func @itself() {
  // expected-error @below {{'plim.schedule' op has dispatch #1 wait for #1, which does not come before it}}
  plim.schedule {
    plim.dispatch @work
    plim.dispatch @work
  } {predecessors = [array<i64>, array<i64: 0, 1>]}
  return
}

// -----

func.func private @work() attributes {plim.dispatch_function}
func.func @negative() {
  // expected-error @below {{'plim.schedule' op has dispatch #1 wait for #-1, which does not come before it}}
  plim.schedule {
    plim.dispatch @work
    plim.dispatch @work
  } {predecessors = [array<i64>, array<i64: -1>]}
  return
}

// -----

func.func private @work() attributes {plim.dispatch_function}
func.func @too_many() {
  // expected-error @below {{'plim.schedule' op holds 65 dispatches, but 64 are the most}}
  plim.schedule {
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
    plim.dispatch @work
  }
  return
}

// -----

func.func @empty() {
  // expected-error @below {{'plim.schedule' op must hold at least two dispatches}}
  plim.schedule {
  }
  return
}

// -----

// expected-error @below {{scope "global.stack" is not for a constant; known are "global" and "global.POOL"}}
memref.global "private" constant @t : memref<2xf32> = dense<1.0> {plim.scope = "global.stack"}

// -----

// expected-error @below {{scope 3 : i64 is not for a constant}}
memref.global "private" constant @t : memref<2xf32> = dense<1.0> {plim.scope = 3 : i64}

// -----

// expected-error @below {{only a constant has a scope; parameters stay where the host application has them}}
memref.global "private" @t : memref<2xf32> = dense<1.0> {plim.scope = "global.sram"}

// -----

// expected-error @below {{only a constant has a scope}}
ml_program.global private @w(#ml_program.extern<tensor<2xf32>>) : tensor<2xf32> {plim.scope = "global.sram"}

// -----

// expected-error @below {{only a constant has a scope}}
ml_program.global private mutable @w(dense<1.0> : tensor<2xf32>) : tensor<2xf32> {plim.scope = "global"}

// -----

func.func @calls(%x: f32) {
  // expected-error @below {{'plim.call' op must have the context as its first argument}}
  plim.call @f(%x) {accesses = [], destinations = array<i64>} : (f32) -> ()
  return
}

// -----

func.func @calls(%c: !plim.context, %a: memref<4xf32>) {
  // expected-error @below {{'plim.call' op has 0 accesses for 1 shaped arguments}}
  plim.call @f(%c, %a) {accesses = [], destinations = array<i64>} : (!plim.context, memref<4xf32>) -> ()
  return
}

// -----

func.func @calls(%c: !plim.context) {
  // expected-error @below {{'plim.call' op has 1 shaped results, but destinations for 0}}
  %r = plim.call @f(%c) {accesses = [], destinations = array<i64>} : (!plim.context) -> tensor<4xf32>
  return
}

// -----

func.func @calls(%c: !plim.context, %a: tensor<4xf32>) {
  // expected-error @below {{'plim.call' op has destination #0, which is readonly}}
  %r = plim.call @f(%c, %a) {accesses = [#plim.access<readonly>], destinations = array<i64: 1>}
      : (!plim.context, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @calls(%c: !plim.context, %a: tensor<3xf32>) {
  // expected-error @below {{'plim.call' op has destination #0, which does not fit}}
  %r = plim.call @f(%c, %a) {accesses = [#plim.access<readwrite>], destinations = array<i64: 1>}
      : (!plim.context, tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @f(!plim.context)
func.func @calls(%c: !plim.context) {
  // expected-error @below {{'plim.call' op refers to f, which is no host function}}
  plim.call @f(%c) {accesses = [], destinations = array<i64>} : (!plim.context) -> ()
  return
}

// -----

plim.external @f : () -> tensor<4xf32> {accesses = [], donations = array<i64: -1>}
func.func @calls(%c: !plim.context) {
  // expected-error @below {{'plim.call' op does not fit f, which has type '() -> tensor<4xf32>'}}
  %r = plim.call @f(%c) {accesses = [], destinations = array<i64: -1>} : (!plim.context) -> tensor<4xf32>
  return
}

// -----

plim.external @f : () -> tensor<?xf32> {accesses = [], donations = array<i64: -1>}
func.func @calls(%c: !plim.context) {
  // expected-error @below {{'plim.call' op has 0 shaped results, but destinations for 1}}
  plim.call @f(%c) {accesses = [], destinations = array<i64: -1>} : (!plim.context) -> ()
  return
}

// -----

plim.external @f : (f32) -> i32 {accesses = [], donations = array<i64: -1>}
func.func @calls(%c: !plim.context, %x: f64) {
  // expected-error @below {{'plim.call' op does not fit f, which has type '(f32) -> i32'}}
  %r = plim.call @f(%c, %x) {accesses = [], destinations = array<i64>} : (!plim.context, f64) -> i32
  return
}

// -----

func.func @tiles(%a: tensor<16x32xf32>, %b: tensor<16x16xi32>, %s: tensor<16x16xf32>) {
  // expected-error @below {{'plim.tile_product' op multiplies bf16 or integers of 8 bits}}
  %r = plim.tile_product ins(%a, %b : tensor<16x32xf32>, tensor<16x16xi32>) outs(%s : tensor<16x16xf32>) -> tensor<16x16xf32>
  return
}

// -----

func.func @tiles(%a: tensor<16x32xbf16>, %b: tensor<16x32xbf16>, %s: tensor<16x16xf32>) {
  // expected-error @below {{'plim.tile_product' op has groups in elements of type i32 for the second factor}}
  %r = plim.tile_product ins(%a, %b : tensor<16x32xbf16>, tensor<16x32xbf16>) outs(%s : tensor<16x16xf32>) -> tensor<16x16xf32>
  return
}

// -----

func.func @tiles(%a: tensor<16x64xi8>, %b: tensor<16x16xi32>, %s: tensor<16x16xf32>) {
  // expected-error @below {{'plim.tile_product' op has a sum of another type than i32}}
  %r = plim.tile_product ins(%a, %b : tensor<16x64xi8>, tensor<16x16xi32>) outs(%s : tensor<16x16xf32>) -> tensor<16x16xf32>
  return
}

// -----

func.func @tiles(%a: tensor<16x64xi8>, %b: tensor<16x16xi32>, %s: tensor<256xi32>) {
  // expected-error @below {{'plim.tile_product' op works on matrices}}
  %r = plim.tile_product ins(%a, %b : tensor<16x64xi8>, tensor<16x16xi32>) outs(%s : tensor<256xi32>) -> tensor<256xi32>
  return
}

// -----

func.func @tiles(%a: tensor<17x64xi8>, %b: tensor<16x16xi32>, %s: tensor<16x16xi32>) {
  // expected-error @below {{'plim.tile_product' op needs whole tiles of rows and columns in its factors}}
  %r = plim.tile_product ins(%a, %b : tensor<17x64xi8>, tensor<16x16xi32>) outs(%s : tensor<16x16xi32>) -> tensor<16x16xi32>
  return
}

// -----

func.func @tiles(%a: tensor<16x64xi8>, %b: tensor<16x16xi32>, %s: tensor<32x16xi32>) {
  // expected-error @below {{'plim.tile_product' op has a sum that is larger than its factors}}
  %r = plim.tile_product ins(%a, %b : tensor<16x64xi8>, tensor<16x16xi32>) outs(%s : tensor<32x16xi32>) -> tensor<32x16xi32>
  return
}

// -----

func.func @tiles(%a: tensor<16x64xbf16>, %b: tensor<16x16xi32>, %s: tensor<16x16xf32>) {
  // expected-error @below {{'plim.tile_product' op needs whole tiles, as deep in one factor as in the other}}
  %r = plim.tile_product ins(%a, %b : tensor<16x64xbf16>, tensor<16x16xi32>) outs(%s : tensor<16x16xf32>) -> tensor<16x16xf32>
  return
}

// -----

func.func @tiles(%a: tensor<16x32xbf16>, %b: tensor<16x16xi32>, %s: tensor<9x16xf32>) {
  // expected-error @below {{'plim.tile_product' op needs memory for rows that fill tiles}}
  %r = plim.tile_product ins(%a, %b : tensor<16x32xbf16>, tensor<16x16xi32>) outs(%s : tensor<9x16xf32>) -> tensor<9x16xf32>
  return
}

// -----

func.func @tiles(%a: tensor<16x32xbf16>, %b: tensor<16x16xi32>, %s: tensor<9x16xf32>, %m: tensor<9x16xf32>) {
  // expected-error @below {{'plim.tile_product' op has memory for rows that does not fill tiles of the sum}}
  %r:2 = plim.tile_product ins(%a, %b : tensor<16x32xbf16>, tensor<16x16xi32>) outs(%s, %m : tensor<9x16xf32>, tensor<9x16xf32>)
      -> tensor<9x16xf32>, tensor<9x16xf32>
  return
}

// -----

func.func @tiles(%a: memref<16x32xbf16>, %b: memref<16x16xi32>) {
  // expected-error @below {{'plim.tile_product' op has one sum, and memory for some rows of it}}
  "plim.tile_product"(%a, %b) : (memref<16x32xbf16>, memref<16x16xi32>) -> ()
  return
}

// -----

func.func @tiles(%a: tensor<16x32xbf16>, %b: tensor<16x48xi32>, %s: tensor<16x48xf32>) {
  // expected-error @below {{'plim.tile_product' op has more columns than registers}}
  %r = plim.tile_product ins(%a, %b : tensor<16x32xbf16>, tensor<16x48xi32>) outs(%s : tensor<16x48xf32>) -> tensor<16x48xf32>
  return
}

// -----

func.func @panels_of_another_type(%p: tensor<16x768x32xf32>) -> tensor<768x500xf64> {
  // expected-error @below {{does not have the type of its panels, which would be 'tensor<16x768x32xf64>'}}
  %w = plim.unpack_panels %p {column = 1 : i64, rest = array<i64: 0>} : tensor<16x768x32xf32> -> tensor<768x500xf64>
  return %w : tensor<768x500xf64>
}

// -----

func.func @groups_of_columns(%p: tensor<16x192x32xi32>) -> tensor<768x500xi8> {
  // expected-error @below {{has groups of two or four elements that fit into 32 bits, along a dimension other than that of its columns}}
  %w = plim.unpack_panels %p {column = 1 : i64, rest = array<i64: 0>, grouped = 1 : i64, group = 4 : i64} : tensor<16x192x32xi32> -> tensor<768x500xi8>
  return %w : tensor<768x500xi8>
}

// -----

func.func @groups_that_are_too_wide(%p: tensor<16x192x32xi32>) -> tensor<768x500xi16> {
  // expected-error @below {{has groups of two or four elements that fit into 32 bits}}
  %w = plim.unpack_panels %p {column = 1 : i64, rest = array<i64: 0>, grouped = 0 : i64, group = 4 : i64} : tensor<16x192x32xi32> -> tensor<768x500xi16>
  return %w : tensor<768x500xi16>
}

// -----

func.func @groups_without_zeros(%p: tensor<16x192x32xi32>) -> tensor<770x500xi8> {
  // expected-error @below {{does not have the type of its panels, which would be 'tensor<16x193x32xi32>'}}
  %w = plim.unpack_panels %p {column = 1 : i64, rest = array<i64: 0>, grouped = 0 : i64, group = 4 : i64} : tensor<16x192x32xi32> -> tensor<770x500xi8>
  return %w : tensor<770x500xi8>
}
