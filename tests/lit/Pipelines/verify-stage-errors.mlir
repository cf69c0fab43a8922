// What a stage must not leave behind, one fault or more for each.
// RUN: split-file %s %t
// RUN: not plimsoll-opt %t/Import.mlir -plim-verify-stage=after=Import 2>&1 | FileCheck %t/Import.mlir
// RUN: not plimsoll-opt %t/Dispatch.mlir -plim-verify-stage=after=Dispatch 2>&1 | FileCheck %t/Dispatch.mlir
// RUN: not plimsoll-opt %t/Access.mlir -plim-verify-stage=after=Access 2>&1 | FileCheck %t/Access.mlir
// RUN: not plimsoll-opt %t/Codegen.mlir -plim-attach-target=tag=x86-64-v3 -plim-choose-workgroups -plim-verify-stage=after=Codegen 2>&1 | FileCheck %t/Codegen.mlir
// RUN: not plimsoll-opt %t/Memory.mlir -plim-verify-stage=after=Memory 2>&1 | FileCheck %t/Memory.mlir
// RUN: not plimsoll-opt %t/Schedule.mlir -plim-verify-stage=after=Schedule 2>&1 | FileCheck %t/Schedule.mlir
// RUN: not plimsoll-opt %t/Conversion.mlir -plim-verify-stage=after=Conversion 2>&1 | FileCheck %t/Conversion.mlir
// RUN: not plimsoll-opt %t/Import.mlir -plim-verify-stage=after=Ballast 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: there is no stage 'Ballast'

//--- Import.mlir
// CHECK-DAG: 'tosa.add' op behind stage 'Import' should be another operation
func.func @tosa(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = tosa.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
// CHECK-DAG: 'linalg.exp' op behind stage 'Import' should be 'linalg.generic'
func.func @named(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.exp ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
// CHECK-DAG: 'func.func' op behind stage 'Import' should have structured control flow alone
func.func @branch(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^bb1
^bb1:
  return %x : tensor<4xf32>
}

//--- Dispatch.mlir
// CHECK: 'linalg.fill' op behind stage 'Dispatch' should be in a dispatch
// CHECK: 'plim.dispatch' op behind stage 'Dispatch' should have a device
func.func private @d(%x: tensor<4xf32>) -> tensor<4xf32> attributes {plim.dispatch_function} {
  return %x : tensor<4xf32>
}
func.func @f(%x: tensor<4xf32>, %v: f32) -> tensor<4xf32> {
  %a = linalg.fill ins(%v : f32) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  %r = plim.dispatch @d outs(%a : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

//--- Access.mlir
// CHECK: 'plim.dispatch' op behind stage 'Access' should have its accesses
// CHECK: 'func.func' op behind stage 'Access' should have no tensor as argument #0
// CHECK: 'func.func' op behind stage 'Access' should say what it does to argument #1
func.func private @d(%x: tensor<4xf32>) -> tensor<4xf32> attributes {plim.dispatch_function} {
  return %x : tensor<4xf32>
}
func.func private @k(%n: index, %x: memref<f32>) attributes {plim.kernel} {
  return
}
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = plim.dispatch @d outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

//--- Codegen.mlir
// CHECK: 'func.func' op behind stage 'Codegen' should have carried out 'plim.workgroups'
func.func private @d(%a: memref<100xf32>, %o: memref<100xf32>) attributes {plim.dispatch_function, plim.parallel_loops = array<i64: 0>} {
  %at = bufferization.to_tensor %a restrict : memref<100xf32> to tensor<100xf32>
  %ot = bufferization.to_tensor %o restrict writable : memref<100xf32> to tensor<100xf32>
  %m = linalg.add ins(%at, %at : tensor<100xf32>, tensor<100xf32>) outs(%ot : tensor<100xf32>) -> tensor<100xf32>
  bufferization.materialize_in_destination %m in restrict writable %o : (tensor<100xf32>, memref<100xf32>) -> ()
  return
}

//--- Memory.mlir
// CHECK: 'tensor.empty' op behind stage 'Memory' should have buffers as results
// CHECK: 'memref.alloc' op behind stage 'Memory' should be a 'plim.alloc'
// CHECK: 'plim.alloc' op behind stage 'Memory' should have a place
// CHECK: 'plim.alloc' op behind stage 'Memory' lives at the same time in the same place as another
// CHECK-NOT: error:
func.func @f() {
  %e = tensor.empty() : tensor<4xf32>
  %a = memref.alloc() : memref<4xf32>
  %b = plim.alloc() : memref<4xf32>
  return
}
func.func @slab() {
  %a = plim.alloc() {accessors = ["host"], bytes = 64 : i64, candidates = ["workspace"], offset = 0 : i64,
       lifetime = array<i64: 0, 4>, scope = "global.workspace"} : memref<16xf32>
  %b = plim.alloc() {accessors = ["host"], bytes = 64 : i64, candidates = ["workspace"], offset = 32 : i64,
       lifetime = array<i64: 3, 6>, scope = "global.workspace"} : memref<16xf32>
  %later = plim.alloc() {accessors = ["host"], bytes = 32 : i64, candidates = ["workspace"], offset = 0 : i64,
       lifetime = array<i64: 4, 6>, scope = "global.workspace"} : memref<8xf32>
  // Its last moment is the first of one in front of it.
  %before = plim.alloc() {accessors = ["host"], bytes = 32 : i64, candidates = ["workspace"], offset = 64 : i64,
       lifetime = array<i64: 0, 3>, scope = "global.workspace"} : memref<8xf32>
  // Nobody says how long it lives.
  %given = plim.alloc() {accessors = ["host"], bytes = 64 : i64, candidates = ["workspace"], offset = 0 : i64, scope = "global.workspace"} : memref<16xf32>
  return
}

//--- Schedule.mlir
// CHECK-NOT: error:
func.func private @d(%x: memref<f32>, %y: memref<f32>) attributes {plim.dispatch_function} {
  return
}
func.func @f(%x: memref<f32>) {
  %a = plim.alloc() {accessors = ["host"], bytes = 4 : i64, candidates = ["workspace"], offset = 0 : i64,
       lifetime = array<i64: 0, 4>, scope = "global.workspace"} : memref<f32>
  %b = plim.alloc() {accessors = ["host"], bytes = 4 : i64, candidates = ["workspace"], offset = 0 : i64,
       lifetime = array<i64: 4, 6>, scope = "global.workspace"} : memref<f32>
  %c = plim.alloc() {accessors = ["host"], bytes = 4 : i64, candidates = ["workspace"], offset = 4 : i64,
       lifetime = array<i64: 0, 6>, scope = "global.workspace"} : memref<f32>
  // It waits, or for one that waits.
  plim.schedule {
    plim.dispatch @d ins(%x : memref<f32>) outs(%a : memref<f32>)
    plim.dispatch @d ins(%x : memref<f32>) outs(%b : memref<f32>)
  } {predecessors = [array<i64>, array<i64: 0>]}
  plim.schedule {
    plim.dispatch @d ins(%x : memref<f32>) outs(%c : memref<f32>)
    plim.dispatch @d ins(%x : memref<f32>) outs(%a : memref<f32>)
    plim.dispatch @d ins(%a : memref<f32>) outs(%c : memref<f32>)
    plim.dispatch @d ins(%x : memref<f32>) outs(%b : memref<f32>)
  } {predecessors = [array<i64>, array<i64>, array<i64: 0, 1>, array<i64: 2>]}
  // Both read.
  plim.schedule {
    plim.dispatch @d ins(%a : memref<f32>) outs(%x : memref<f32>)
    plim.dispatch @d ins(%b : memref<f32>) outs(%c : memref<f32>)
  } {predecessors = [array<i64>, array<i64>]}
  plim.schedule {
    plim.dispatch @d ins(%x : memref<f32>) outs(%a : memref<f32>)
    // CHECK: Schedule.mlir:[[#@LINE+1]]:{{.*}} error: 'plim.dispatch' op behind stage 'Schedule' should wait for another that shares memory with it
    plim.dispatch @d ins(%x : memref<f32>) outs(%b : memref<f32>)
    plim.dispatch @d ins(%x : memref<f32>) outs(%c : memref<f32>)
    // CHECK: Schedule.mlir:[[#@LINE-4]]:{{.*}} note: the other one
  } {predecessors = [array<i64>, array<i64>, array<i64>]}
  plim.schedule {
    plim.dispatch @d ins(%a : memref<f32>) outs(%c : memref<f32>)
    // CHECK: Schedule.mlir:[[#@LINE+1]]:{{.*}} error: {{.*}} should wait
    plim.dispatch @d ins(%x : memref<f32>) outs(%b : memref<f32>)
  } {predecessors = [array<i64>, array<i64>]}
  plim.schedule {
    plim.dispatch @d ins(%x : memref<f32>) outs(%b : memref<f32>)
    // CHECK: Schedule.mlir:[[#@LINE+1]]:{{.*}} error: {{.*}} should wait
    plim.dispatch @d ins(%a : memref<f32>) outs(%c : memref<f32>)
  } {predecessors = [array<i64>, array<i64>]}
  // It waits for another.
  plim.schedule {
    plim.dispatch @d ins(%x : memref<f32>) outs(%a : memref<f32>)
    plim.dispatch @d ins(%x : memref<f32>) outs(%c : memref<f32>)
    // CHECK: Schedule.mlir:[[#@LINE+1]]:{{.*}} error: {{.*}} should wait
    plim.dispatch @d ins(%c : memref<f32>) outs(%b : memref<f32>)
  } {predecessors = [array<i64>, array<i64>, array<i64: 1>]}
  // CHECK-NOT: error:
  return
}

//--- Conversion.mlir
// CHECK: 'func.func' op behind stage 'Conversion' should be of the LLVM dialect
func.func private @f()
