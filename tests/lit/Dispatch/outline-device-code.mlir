// RUN: plimsoll-opt %s -plim-outline-device-code | FileCheck %s

#v = affine_map<(i) -> (i)>
#a = affine_map<(i, j, k) -> (i, k)>
#at = affine_map<(i, j, k) -> (k, i)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu">,
    "npu" = #dlti.target_device_spec<"plim.kind" = "npu">>} {

// In the text a named operation stands for what says the same, and nothing is left of ours.
//      CHECK: plim.external @npu.product : (tensor<?x8xf32>, tensor<8x4xf32>, f32, tensor<?x4xf32>) -> tensor<?x4xf32>
// CHECK-SAME: accesses = [#plim.access<readonly>, #plim.access<readonly>, #plim.access<writeonly>]
// CHECK-SAME: code = "module {\0A func.func @product(%arg0: tensor<?x8xf32>, %arg1: tensor<8x4xf32>, %arg2: f32, %arg3: tensor<?x4xf32>) -> tensor<?x4xf32> {
// CHECK-SAME: linalg.fill ins(%arg2 : f32) outs(%arg3
// CHECK-SAME: linalg.matmul ins(%arg0, %arg1
// CHECK-SAME: device = "npu", donations = array<i64: 3>, pure}
//      CHECK: func.func private @product(%[[A:.*]]: tensor<?x8xf32> {plim.access = #plim.access<readonly>}, %[[B:[^:]*]]: tensor<8x4xf32> {{.*}}, %[[S:[^:]*]]: f32, %[[O:[^:]*]]: tensor<?x4xf32>
// CHECK-SAME: plim.cost = 16777216 : i64, plim.dispatch_function, plim.parallel_loops = array<i64>
// CHECK-NEXT:   %[[CONTEXT:.*]] = plim.context : !plim.context
// CHECK-NEXT:   %[[R:.*]] = plim.call @npu.product(%[[CONTEXT]], %[[A]], %[[B]], %[[S]], %[[O]])
// CHECK-SAME:     destinations = array<i64: 4>, pure}
// CHECK-NEXT:   return %[[R]]
func.func private @product(%a: tensor<?x8xf32> {plim.access = #plim.access<readonly>},
                           %b: tensor<8x4xf32> {plim.access = #plim.access<readonly>}, %s: f32,
                           %o: tensor<?x4xf32> {plim.access = #plim.access<writeonly>}) -> tensor<?x4xf32>
    attributes {plim.dispatch_function, plim.parallel_loops = array<i64: 0, 1>} {
  %f = linalg.fill ins(%s : f32) outs(%o : tensor<?x4xf32>) -> tensor<?x4xf32>
  %r = linalg.generic {plim.device = "npu", indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<?x8xf32>, tensor<8x4xf32>) outs(%f : tensor<?x4xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %z, %p : f32
    linalg.yield %t : f32
  } -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// Upstream would make a plain matmul of this one.
//      CHECK: plim.external @npu.transposed
// CHECK-SAME: linalg.generic
func.func private @transposed(%a: tensor<4x4xf32> {plim.access = #plim.access<readonly>},
                              %o: tensor<4x4xf32> {plim.access = #plim.access<readwrite>}) -> tensor<4x4xf32>
    attributes {plim.dispatch_function, plim.parallel_loops = array<i64: 0, 1>} {
  %r = linalg.generic {indexing_maps = [#at, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%o : tensor<4x4xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %z, %p : f32
    linalg.yield %t : f32
  } -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// Names for more than upstream knows.
//      CHECK: plim.external @npu.names
// CHECK-SAME: linalg.negf ins(
// CHECK-SAME: linalg.sqrt ins(
// CHECK-SAME: linalg.max ins(
//  CHECK-NOT: linalg.generic
//      CHECK: func.func private @names
func.func private @names(%a: tensor<4xf32> {plim.access = #plim.access<readonly>},
                         %o: tensor<4xf32> {plim.access = #plim.access<writeonly>}) -> tensor<4xf32>
    attributes {plim.dispatch_function, plim.parallel_loops = array<i64: 0>} {
  %e = tensor.empty() : tensor<4xf32>
  %n = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: f32, %z: f32):
    %t = arith.negf %x : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  %s = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%n : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: f32, %z: f32):
    %t = math.sqrt %x : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  %m = linalg.generic {indexing_maps = [#v, #v, #v], iterator_types = ["parallel"]} ins(%s, %a : tensor<4xf32>, tensor<4xf32>) outs(%o : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %t = arith.maximumf %x, %y : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  return %m : tensor<4xf32>
}

// What the host runs stays as it is.
//  CHECK-NOT: plim.external @npu.stays
//      CHECK: func.func private @stays
//      CHECK: linalg.exp
func.func private @stays(%o: tensor<4xf32> {plim.access = #plim.access<readwrite>}) -> tensor<4xf32>
    attributes {plim.dispatch_function, plim.parallel_loops = array<i64: 0>} {
  %r = linalg.exp ins(%o : tensor<4xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// Only we know what a check is: the host runs it, and the report will say why.
//      CHECK: func.func private @checks
//      CHECK: plim.check
func.func private @checks(%i: tensor<4xi1> {plim.access = #plim.access<readonly>},
                          %o: tensor<4xi1> {plim.access = #plim.access<writeonly>}) -> tensor<4xi1>
    attributes {plim.dispatch_function, plim.parallel_loops = array<i64: 0>} {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%i : tensor<4xi1>) outs(%o : tensor<4xi1>) {
  ^bb0(%x: i1, %z: i1):
    %ok = plim.check %x, "in.mlir:1:1: no"
    linalg.yield %ok : i1
  } -> tensor<4xi1>
  return %r : tensor<4xi1>
}

// Memory in between is upstream's, in its place and of as many elements.
//      CHECK: plim.external @npu.temporary
// CHECK-SAME: %[[N:[^ ]*]] = tensor.dim %arg0, %c0 : tensor<?xf32>\0A %[[E:[^ ]*]] = tensor.empty(%[[N]]) : tensor<?xf32>\0A %[[X:[^ ]*]] = linalg.exp ins(%arg0 : tensor<?xf32>) outs(%[[E]] : tensor<?xf32>) -> tensor<?xf32>\0A
// CHECK-SAME: %[[F:[^ ]*]] = tensor.empty(%[[N]]) : tensor<?xf32>\0A %{{[^ ]*}} = linalg.exp ins(%[[X]] : tensor<?xf32>) outs(%[[F]] : tensor<?xf32>)
//      CHECK: func.func private @temporary
func.func private @temporary(%a: tensor<?xf32> {plim.access = #plim.access<readonly>},
                             %o: tensor<?xf32> {plim.access = #plim.access<readwrite>}) -> tensor<?xf32>
    attributes {plim.dispatch_function, plim.parallel_loops = array<i64: 0>} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %e = plim.alloc(%n) {scope = "local"} : tensor<?xf32>
  %x = linalg.exp ins(%a : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %f = plim.alloc(%n) {max_bytes = 64 : i64, scope = "local"} : tensor<?xf32>
  %y = linalg.exp ins(%x : tensor<?xf32>) outs(%f : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.add ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%o : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// CHECK-LABEL: func.func @f(
//       CHECK: plim.dispatch @product {{.*}} {plim.device = "npu"}
//       CHECK: plim.dispatch @transposed {{.*}} {plim.device = "npu"}
//       CHECK: plim.dispatch @stays {{.*}} {plim.device = "host"}
//       CHECK: plim.dispatch @checks {{.*}} {plim.device = "host", plim.refusal = "npu: it checks indices while it runs"}
func.func @f(%a: tensor<?x8xf32>, %b: tensor<8x4xf32>, %s: f32, %o: tensor<?x4xf32>, %q: tensor<4x4xf32>,
             %v: tensor<4xf32>, %i: tensor<4xi1>, %d: tensor<?xf32>)
    -> (tensor<?x4xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4xi1>, tensor<4xf32>, tensor<?xf32>) {
  %r = plim.dispatch @product ins(%a, %b, %s : tensor<?x8xf32>, tensor<8x4xf32>, f32) outs(%o : tensor<?x4xf32>)
      {plim.device = "npu"} -> tensor<?x4xf32>
  %t = plim.dispatch @transposed ins(%q : tensor<4x4xf32>) outs(%q : tensor<4x4xf32>)
      {plim.device = "npu", plim.fallback_device = "host"} -> tensor<4x4xf32>
  %e = plim.dispatch @stays outs(%v : tensor<4xf32>) {plim.device = "host"} -> tensor<4xf32>
  %c = plim.dispatch @checks ins(%i : tensor<4xi1>) outs(%i : tensor<4xi1>)
      {plim.device = "npu", plim.fallback_device = "host"} -> tensor<4xi1>
  %n = plim.dispatch @names ins(%v : tensor<4xf32>) outs(%v : tensor<4xf32>) {plim.device = "npu"} -> tensor<4xf32>
  %m = plim.dispatch @temporary ins(%d : tensor<?xf32>) outs(%d : tensor<?xf32>) {plim.device = "npu"} -> tensor<?xf32>
  return %r, %t, %e, %c, %n, %m : tensor<?x4xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4xi1>, tensor<4xf32>, tensor<?xf32>
}
}
