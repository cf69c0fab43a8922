// Custom form, generic form and bytecode all read back to the same module.
// RUN: plimsoll-opt %s | FileCheck %s
// RUN: plimsoll-opt %s | plimsoll-opt | FileCheck %s
// RUN: plimsoll-opt %s -mlir-print-op-generic | plimsoll-opt | FileCheck %s
// RUN: plimsoll-opt %s -emit-bytecode | plimsoll-opt | FileCheck %s

func.func private @work(%a: tensor<?x4xf32>, %s: f32, %o: tensor<?xf32>) -> tensor<?xf32>
    attributes {plim.dispatch_function} {
  return %o : tensor<?xf32>
}
func.func private @pair(%o: tensor<4xf32>, %p: tensor<2xi8>) -> (tensor<4xf32>, tensor<2xi8>)
    attributes {plim.dispatch_function} {
  return %o, %p : tensor<4xf32>, tensor<2xi8>
}
func.func private @nothing() attributes {plim.dispatch_function} {
  return
}

// CHECK-LABEL: func.func @on_tensors(
//  CHECK-SAME: %[[A:.*]]: tensor<?x4xf32>, %[[S:.*]]: f32, %[[O:.*]]: tensor<?xf32>)
//       CHECK: %[[R:.*]] = plim.dispatch @work ins(%[[A]], %[[S]] : tensor<?x4xf32>, f32)
//  CHECK-SAME: outs(%[[O]] : tensor<?xf32>) -> tensor<?xf32>
//       CHECK: return %[[R]]
func.func @on_tensors(%a: tensor<?x4xf32>, %s: f32, %o: tensor<?xf32>) -> tensor<?xf32> {
  %r = plim.dispatch @work ins(%a, %s : tensor<?x4xf32>, f32) outs(%o : tensor<?xf32>)
      -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// CHECK-LABEL: func.func @on_memrefs(
//       CHECK: plim.dispatch @work ins(%{{.*}}, %{{.*}} : memref<?x4xf32>, f32)
//  CHECK-SAME: outs(%{{.*}} : memref<?xf32>)
//  CHECK-SAME: accesses = [#plim.access<readonly>, #plim.access<writeonly>]
//  CHECK-SAME: plim.device = "host"
//   CHECK-NOT: ->
//       CHECK: return
func.func @on_memrefs(%a: memref<?x4xf32>, %s: f32, %o: memref<?xf32>) {
  plim.dispatch @work ins(%a, %s : memref<?x4xf32>, f32) outs(%o : memref<?xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>], plim.device = "host"}
  return
}

// CHECK-LABEL: func.func @results(
//       CHECK: %[[R:.*]]:2 = plim.dispatch @pair outs(%{{.*}}, %{{.*}} : tensor<4xf32>, tensor<2xi8>)
//  CHECK-SAME: accesses = [#plim.access<readwrite>, #plim.access<writeonly>]
//  CHECK-SAME: -> tensor<4xf32>, tensor<2xi8>
//       CHECK: return %[[R]]#0, %[[R]]#1
func.func @results(%o: tensor<4xf32>, %p: tensor<2xi8>) -> (tensor<4xf32>, tensor<2xi8>) {
  %r:2 = plim.dispatch @pair outs(%o, %p : tensor<4xf32>, tensor<2xi8>)
      {accesses = [#plim.access<readwrite>, #plim.access<writeonly>]}
      -> tensor<4xf32>, tensor<2xi8>
  return %r#0, %r#1 : tensor<4xf32>, tensor<2xi8>
}

// CHECK-LABEL: func.func @no_bindings(
//       CHECK: plim.dispatch @nothing
func.func @no_bindings() {
  plim.dispatch @nothing
  return
}

// CHECK-LABEL: func.func @at_once(
//       CHECK: plim.schedule {
//  CHECK-NEXT:   plim.dispatch @work
//  CHECK-NEXT:   plim.dispatch @work
//  CHECK-NEXT: } {plim.note}
//  CHECK-NEXT: return
func.func @at_once(%a: memref<?x4xf32>, %s: f32, %o: memref<?xf32>, %p: memref<?xf32>) {
  plim.schedule {
    plim.dispatch @work ins(%a, %s : memref<?x4xf32>, f32) outs(%o : memref<?xf32>)
    plim.dispatch @work ins(%a, %s : memref<?x4xf32>, f32) outs(%p : memref<?xf32>)
  } {plim.note}
  return
}

// CHECK-LABEL: func.func @one_after_the_other(
//       CHECK: } {predecessors = [array<i64>, array<i64: 0>, array<i64: 0, 1>]}
func.func @one_after_the_other(%a: memref<?x4xf32>, %s: f32, %o: memref<?xf32>) {
  plim.schedule {
    plim.dispatch @work ins(%a, %s : memref<?x4xf32>, f32) outs(%o : memref<?xf32>)
    plim.dispatch @work ins(%a, %s : memref<?x4xf32>, f32) outs(%o : memref<?xf32>)
    plim.dispatch @work ins(%a, %s : memref<?x4xf32>, f32) outs(%o : memref<?xf32>)
  } {predecessors = [array<i64>, array<i64: 0>, array<i64: 0, 1>]}
  return
}

// CHECK-LABEL: func.func @allocations(
//       CHECK: plim.alloc(%{{.*}}) {accessors = ["host"], alignment = 128 : i64, candidate_pools = ["sram", "dram"], limits = {stack_budget_bytes = 64 : i64}, max_bytes = 256 : i64} : tensor<?x4xf32>
//       CHECK: plim.alloc() {bytes = 16 : i64, candidates = ["stack"], level = "target", lifetime = array<i64: 1, 2>, offset = 0 : i64, reason = "so", scope = "global.stack"} : memref<4xf32>
//       CHECK: plim.alloc() : memref<f32>
func.func @allocations(%n: index) -> tensor<?x4xf32> {
  %t = plim.alloc(%n) {candidate_pools = ["sram", "dram"], accessors = ["host"],
      max_bytes = 256 : i64, alignment = 128 : i64, limits = {stack_budget_bytes = 64 : i64}}
      : tensor<?x4xf32>
  %m = plim.alloc() {scope = "global.stack", candidates = ["stack"], bytes = 16 : i64,
      reason = "so", level = "target", offset = 0 : i64, lifetime = array<i64: 1, 2>}
      : memref<4xf32>
  %o = plim.alloc() {scope = "global"} : memref<f32>
  return %t : tensor<?x4xf32>
}

// CHECK-LABEL: func.func private @takes_context(!plim.context)
func.func private @takes_context(!plim.context)

// CHECK-LABEL: func.func @checked(
//       CHECK: %[[OK:.*]] = plim.check %{{.*}}, "in.mlir:1:2: index out of range"
//       CHECK: return %[[OK]]
func.func @checked(%inside: i1) -> i1 {
  %ok = plim.check %inside, "in.mlir:1:2: index out of range"
  return %ok : i1
}

// CHECK: plim.external @host : (f32, tensor<4xf32>) -> (i32, tensor<4xf32>) {accesses = [#plim.access<readwrite>], donations = array<i64: -1, 1>, pure}
plim.external @host : (f32, tensor<4xf32>) -> (i32, tensor<4xf32>)
    {accesses = [#plim.access<readwrite>], donations = array<i64: -1, 1>, pure}

// CHECK-LABEL: func.func @calls_host(
//       CHECK: %[[C:.*]] = plim.context : !plim.context
//       CHECK: %[[R:.*]]:2 = plim.call @host(%[[C]], %{{.*}}, %{{.*}}) {accesses = [#plim.access<readwrite>], destinations = array<i64: 2>, pure} : (!plim.context, f32, tensor<4xf32>) -> (i32, tensor<4xf32>)
//       CHECK: return %[[R]]#1
func.func @calls_host(%x: f32, %t: tensor<4xf32>) -> tensor<4xf32> {
  %c = plim.context : !plim.context
  %r:2 = plim.call @host(%c, %x, %t) {accesses = [#plim.access<readwrite>],
      destinations = array<i64: 2>, pure} : (!plim.context, f32, tensor<4xf32>) -> (i32, tensor<4xf32>)
  return %r#1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @tiles(
//       CHECK: plim.tile_product ins(%{{.*}}, %{{.*}} : tensor<48x512xbf16>, tensor<256x32xi32>)
//  CHECK-SAME:   outs(%{{.*}}, %{{.*}} : tensor<?x32xf32>, tensor<16x32xf32>) -> tensor<?x32xf32>, tensor<16x32xf32>
//       CHECK: plim.tile_product ins(%{{.*}}, %{{.*}} : memref<32x64xi8>, memref<16x16xi32>)
//  CHECK-SAME:   outs(%{{.*}} : memref<32x16xi32>) {fromZero, unsignedA}
func.func @tiles(%a: tensor<48x512xbf16>, %b: tensor<256x32xi32>, %s: tensor<?x32xf32>, %m: tensor<16x32xf32>,
                 %x: memref<32x64xi8>, %y: memref<16x16xi32>, %z: memref<32x16xi32>) -> tensor<?x32xf32> {
  %r:2 = plim.tile_product ins(%a, %b : tensor<48x512xbf16>, tensor<256x32xi32>)
                           outs(%s, %m : tensor<?x32xf32>, tensor<16x32xf32>) -> tensor<?x32xf32>, tensor<16x32xf32>
  plim.tile_product ins(%x, %y : memref<32x64xi8>, memref<16x16xi32>) outs(%z : memref<32x16xi32>) {unsignedA, fromZero}
  return %r#0 : tensor<?x32xf32>
}
