// Dependences from accesses and places, and what may pass between dispatches.
// RUN: plimsoll-opt %s -plim-schedule -split-input-file | FileCheck %s

// A diamond in order: of its dependences those stay that do not follow from others.
// CHECK-LABEL: func.func @diamond(
//       CHECK: plim.schedule {
// CHECK-COUNT-4: plim.dispatch
//  CHECK-NEXT: } {predecessors = [array<i64>, array<i64: 0>, array<i64: 0>, array<i64: 1, 2>]}
//  CHECK-NEXT: return
func.func private @read(%a: memref<8xf32> {plim.access = #plim.access<readonly>},
                        %o: memref<8xf32> {plim.access = #plim.access<writeonly>})
    attributes {plim.dispatch_function}
func.func private @join(%a: memref<8xf32> {plim.access = #plim.access<readonly>},
                        %b: memref<8xf32> {plim.access = #plim.access<readonly>},
                        %c: memref<8xf32> {plim.access = #plim.access<readonly>},
                        %o: memref<8xf32> {plim.access = #plim.access<writeonly>})
    attributes {plim.dispatch_function}
func.func @diamond(%x: memref<8xf32>, %y: memref<8xf32>) {
  %a = plim.alloc() {scope = "global.workspace", bytes = 32 : i64, offset = 0 : i64} : memref<8xf32>
  plim.dispatch @read ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
  %b = plim.alloc() {scope = "global.workspace", bytes = 32 : i64, offset = 64 : i64} : memref<8xf32>
  plim.dispatch @read ins(%a : memref<8xf32>) outs(%b : memref<8xf32>)
  %c = plim.alloc() {scope = "global.workspace", bytes = 32 : i64, offset = 128 : i64} : memref<8xf32>
  plim.dispatch @read ins(%a : memref<8xf32>) outs(%c : memref<8xf32>)
  plim.dispatch @join ins(%a, %b, %c : memref<8xf32>, memref<8xf32>, memref<8xf32>)
      outs(%y : memref<8xf32>)
  return
}

// -----

// A group and what follows it become one; nothing waits for the whole group.
// CHECK-LABEL: func.func @after_a_group(
//       CHECK: plim.schedule {
//       CHECK: } {predecessors = [array<i64>, array<i64>, array<i64: 0>, array<i64: 1>]}
//   CHECK-NOT: plim.schedule
func.func private @read(%a: memref<8xf32> {plim.access = #plim.access<readonly>},
                        %o: memref<8xf32> {plim.access = #plim.access<writeonly>})
    attributes {plim.dispatch_function}
func.func @after_a_group(%x: memref<8xf32>) {
  %a = plim.alloc() {scope = "global.workspace", bytes = 32 : i64, offset = 0 : i64} : memref<8xf32>
  %b = plim.alloc() {scope = "global.workspace", bytes = 32 : i64, offset = 64 : i64} : memref<8xf32>
  plim.schedule {
    plim.dispatch @read ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
    plim.dispatch @read ins(%x : memref<8xf32>) outs(%b : memref<8xf32>)
  }
  %c = plim.alloc() {scope = "global.workspace", bytes = 32 : i64, offset = 128 : i64} : memref<8xf32>
  plim.dispatch @read ins(%a : memref<8xf32>) outs(%c : memref<8xf32>)
  %d = plim.alloc() {scope = "global.workspace", bytes = 32 : i64, offset = 192 : i64} : memref<8xf32>
  plim.dispatch @read ins(%b : memref<8xf32>) outs(%d : memref<8xf32>)
  return
}

// -----

// The same memory again: who writes it waits for its last reader. Places that overlap in part count.
// CHECK-LABEL: func.func @reused(
//       CHECK: } {predecessors = [array<i64>, array<i64: 0>, array<i64: 1>, array<i64>, array<i64: 1>]}
func.func private @read(%a: memref<8xf32> {plim.access = #plim.access<readonly>},
                        %o: memref<8xf32> {plim.access = #plim.access<writeonly>})
    attributes {plim.dispatch_function}
func.func @reused(%x: memref<8xf32>, %y: memref<8xf32>) {
  %a = plim.alloc() {scope = "global.workspace", bytes = 32 : i64, offset = 0 : i64} : memref<8xf32>
  %b = plim.alloc() {scope = "global.workspace", bytes = 32 : i64, offset = 64 : i64} : memref<8xf32>
  %c = plim.alloc() {scope = "global.workspace", bytes = 32 : i64, offset = 0 : i64} : memref<8xf32>
  %d = plim.alloc() {scope = "global.workspace", bytes = 32 : i64, offset = 128 : i64} : memref<8xf32>
  %e = plim.alloc() {scope = "global.workspace", bytes = 32 : i64, offset = 80 : i64} : memref<8xf32>
  plim.dispatch @read ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
  plim.dispatch @read ins(%a : memref<8xf32>) outs(%b : memref<8xf32>)
  plim.dispatch @read ins(%x : memref<8xf32>) outs(%c : memref<8xf32>)
  plim.dispatch @read ins(%x : memref<8xf32>) outs(%d : memref<8xf32>)
  plim.dispatch @read ins(%x : memref<8xf32>) outs(%e : memref<8xf32>)
  return
}

// -----

// A slab and a pool are apart; two pools are.
// CHECK-LABEL: func.func @memories(
//       CHECK: } {predecessors = [array<i64>, array<i64>, array<i64>]}
func.func private @read(%a: memref<8xf32> {plim.access = #plim.access<readonly>},
                        %o: memref<8xf32> {plim.access = #plim.access<writeonly>})
    attributes {plim.dispatch_function}
func.func @memories(%x: memref<8xf32>) {
  %a = plim.alloc() {scope = "global.workspace", bytes = 32 : i64, offset = 0 : i64} : memref<8xf32>
  %b = plim.alloc() {scope = "global.sram", bytes = 32 : i64, offset = 0 : i64} : memref<8xf32>
  %c = plim.alloc() {scope = "global.dram", bytes = 32 : i64, offset = 0 : i64} : memref<8xf32>
  plim.dispatch @read ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
  plim.dispatch @read ins(%x : memref<8xf32>) outs(%b : memref<8xf32>)
  plim.dispatch @read ins(%x : memref<8xf32>) outs(%c : memref<8xf32>)
  return
}

// -----

// Where only the call knows the places, what lives at the same time is apart.
// CHECK-LABEL: func.func @late(
//       CHECK: } {predecessors = [array<i64>, array<i64>, array<i64: 0, 1>]}
func.func private @read(%a: memref<?xf32> {plim.access = #plim.access<readonly>},
                        %o: memref<?xf32> {plim.access = #plim.access<writeonly>})
    attributes {plim.dispatch_function}
func.func @late(%x: memref<?xf32>, %n: index) {
  %a = plim.alloc(%n) {scope = "global.workspace", slot = 0 : i64, lifetime = array<i64: 1, 5>} : memref<?xf32>
  %b = plim.alloc(%n) {scope = "global.workspace", slot = 1 : i64, lifetime = array<i64: 2, 5>} : memref<?xf32>
  %c = plim.alloc(%n) {scope = "global.workspace", slot = 2 : i64, lifetime = array<i64: 5, 7>} : memref<?xf32>
  plim.dispatch @read ins(%x : memref<?xf32>) outs(%a : memref<?xf32>)
  plim.dispatch @read ins(%x : memref<?xf32>) outs(%b : memref<?xf32>)
  plim.dispatch @read ins(%x : memref<?xf32>) outs(%c : memref<?xf32>)
  return
}

// -----

// Sizes, loads of what nobody writes and checks pass; a load of a result does not.
// CHECK-LABEL: func.func @passing(
//       CHECK: memref.load
//       CHECK: cf.assert
//       CHECK: plim.schedule {
// CHECK-COUNT-2: plim.dispatch
//       CHECK: }
//       CHECK: memref.load
//       CHECK: plim.schedule {
// CHECK-COUNT-2: plim.dispatch
//       CHECK: }
//  CHECK-NEXT: return
func.func private @fill(%s: f32, %o: memref<8xf32> {plim.access = #plim.access<writeonly>})
    attributes {plim.dispatch_function}
func.func @passing(%x: memref<8xf32>, %ok: i1) {
  %zero = arith.constant 0 : index
  %f = arith.constant 1.0 : f32
  %a = plim.alloc() {scope = "global.workspace", bytes = 32 : i64, offset = 0 : i64} : memref<8xf32>
  plim.dispatch @fill ins(%f : f32) outs(%a : memref<8xf32>)
  %s = memref.load %x[%zero] : memref<8xf32>
  cf.assert %ok, "not ok"
  %b = plim.alloc() {scope = "global.workspace", bytes = 32 : i64, offset = 64 : i64} : memref<8xf32>
  plim.dispatch @fill ins(%s : f32) outs(%b : memref<8xf32>)
  %t = memref.load %b[%zero] : memref<8xf32>
  plim.dispatch @fill ins(%t : f32) outs(%a : memref<8xf32>)
  plim.dispatch @fill ins(%s : f32) outs(%b : memref<8xf32>)
  return
}

// -----

// A check does not pass what the caller could see, and unplanned memory is given back in time.
// CHECK-LABEL: func.func @staying(
//   CHECK-NOT: plim.schedule
//       CHECK: plim.dispatch
//       CHECK: cf.assert
//       CHECK: plim.dispatch
//       CHECK: memref.dealloc
//       CHECK: plim.dispatch
func.func private @fill(%s: f32, %o: memref<8xf32> {plim.access = #plim.access<writeonly>})
    attributes {plim.dispatch_function}
func.func @staying(%x: memref<8xf32>, %ok: i1) {
  %f = arith.constant 1.0 : f32
  plim.dispatch @fill ins(%f : f32) outs(%x : memref<8xf32>)
  cf.assert %ok, "not ok"
  %a = plim.alloc() {scope = "global"} : memref<8xf32>
  plim.dispatch @fill ins(%f : f32) outs(%a : memref<8xf32>)
  memref.dealloc %a : memref<8xf32>
  plim.dispatch @fill ins(%f : f32) outs(%x : memref<8xf32>)
  return
}

// -----

// Slices of one buffer reach from their first element to their last, rows apart by the buffer's: the first two may run
// beside each other, one ends where the other begins; the third has rows between rows of both.
// CHECK-LABEL: func.func @slices(
//       CHECK: } {predecessors = [array<i64>, array<i64>, array<i64: 0, 1>]}
func.func private @above(%o: memref<4x16xf32, strided<[16, 1]>> {plim.access = #plim.access<writeonly>})
    attributes {plim.dispatch_function}
func.func private @middle(%o: memref<4x8xf32, strided<[16, 1], offset: 36>> {plim.access = #plim.access<writeonly>})
    attributes {plim.dispatch_function}
func.func private @below(%o: memref<4x16xf32, strided<[16, 1], offset: 64>> {plim.access = #plim.access<writeonly>})
    attributes {plim.dispatch_function}
func.func @slices() {
  %a = plim.alloc() {scope = "global.workspace", bytes = 512 : i64, offset = 0 : i64} : memref<8x16xf32>
  %above = memref.subview %a[0, 0] [4, 16] [1, 1] : memref<8x16xf32> to memref<4x16xf32, strided<[16, 1]>>
  %middle = memref.subview %a[2, 4] [4, 8] [1, 1] : memref<8x16xf32> to memref<4x8xf32, strided<[16, 1], offset: 36>>
  %below = memref.subview %a[4, 0] [4, 16] [1, 1] : memref<8x16xf32> to memref<4x16xf32, strided<[16, 1], offset: 64>>
  plim.dispatch @above outs(%above : memref<4x16xf32, strided<[16, 1]>>)
  plim.dispatch @below outs(%below : memref<4x16xf32, strided<[16, 1], offset: 64>>)
  plim.dispatch @middle outs(%middle : memref<4x8xf32, strided<[16, 1], offset: 36>>)
  return
}
