// Which allocations are gone with their block, and which may outlive it.
// RUN: plimsoll-opt %s -plim-infer-accessors -plim-place-allocations | FileCheck %s
// Uses that are read again are in another order.
// RUN: plimsoll-opt %s -plim-infer-accessors | plimsoll-opt -plim-place-allocations | FileCheck %s

module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu",
        "plim.max_stack_alloca_bytes" = 1024 : i64, "plim.stack_budget_bytes" = 1536 : i64>>} {

func.func private @same(%a: memref<4xf32>) -> memref<4xf32> attributes {plim.kernel} {
  return %a : memref<4xf32>
}
func.func private @look(%a: memref<4xf32>) attributes {plim.kernel} {
  return
}

// In the blocks that follow they are used, or released.
// CHECK-LABEL: func.func @blocks(
//       CHECK: plim.alloc() {{.*}}scope = "global.stack"} : memref<4xf32>
//       CHECK: plim.alloc() {{.*}}reason = "it may outlive the block that allocates it"{{.*}} : memref<5xf32>
//       CHECK: plim.alloc() {{.*}}reason = "it may outlive the block that allocates it"{{.*}} : memref<6xf32>
func.func @blocks(%v: f32) attributes {plim.kernel} {
  %c0 = arith.constant 0 : index
  %here = memref.alloc() : memref<4xf32>
  memref.store %v, %here[%c0] : memref<4xf32>
  memref.dealloc %here : memref<4xf32>
  %used = memref.alloc() : memref<5xf32>
  memref.store %v, %used[%c0] : memref<5xf32>
  %released = memref.alloc() : memref<6xf32>
  cf.br ^next
^next:
  memref.store %v, %used[%c0] : memref<5xf32>
  memref.dealloc %released : memref<6xf32>
  return
}

// Calls keep what they give back, views nothing; what makes a buffer of a buffer may be the same one.
// CHECK-LABEL: func.func @names(
//       CHECK: plim.alloc() {{.*}}reason = "16 bytes are within the limit {{.*}} : memref<4xf32>
//       CHECK: plim.alloc() {{.*}}reason = "it may outlive the block that allocates it"{{.*}} : memref<4xf32>
//       CHECK: plim.alloc() {{.*}}reason = "20 bytes are within the limit {{.*}} : memref<5xf32>
//       CHECK: plim.alloc() {{.*}}reason = "it may outlive the block that allocates it"{{.*}} : memref<6xf32>
//       CHECK: plim.alloc() {{.*}}reason = "it may outlive the block that allocates it"{{.*}} : memref<7xf32>
func.func @names(%v: f32) attributes {plim.kernel} {
  %c0 = arith.constant 0 : index
  %looked = memref.alloc() : memref<4xf32>
  func.call @look(%looked) : (memref<4xf32>) -> ()
  memref.dealloc %looked : memref<4xf32>
  %given = memref.alloc() : memref<4xf32>
  %back = func.call @same(%given) : (memref<4xf32>) -> memref<4xf32>
  memref.store %v, %back[%c0] : memref<4xf32>
  memref.dealloc %given : memref<4xf32>
  %viewed = memref.alloc() : memref<5xf32>
  %view = memref.subview %viewed[1] [2] [1] : memref<5xf32> to memref<2xf32, strided<[1], offset: 1>>
  memref.store %v, %view[%c0] : memref<2xf32, strided<[1], offset: 1>>
  memref.dealloc %viewed : memref<5xf32>
  %grown = memref.alloc() : memref<6xf32>
  %more = memref.realloc %grown : memref<6xf32> to memref<8xf32>
  memref.store %v, %more[%c0] : memref<8xf32>
  %renamed = memref.alloc() : memref<7xf32>
  %cast = memref.cast %renamed : memref<7xf32> to memref<?xf32>
  memref.dealloc %cast : memref<?xf32>
  return
}
}
