// RUN: plimsoll-opt %s -plim-verify-placement -split-input-file -verify-diagnostics

func.func @right() attributes {plim.stack_sum = 16 : i64} {
  %a = plim.alloc() {accessors = ["host"], bytes = 16 : i64, candidates = ["stack"], scope = "global.stack"} : memref<4xf32>
  memref.dealloc %a : memref<4xf32>
  %b = plim.alloc() {accessors = ["host"], candidates = ["workspace"], scope = "workgroup"} : memref<4xf32>
  return
}
func.func @late() {
  // expected-error @below {{was allocated after placement: no stage may do that}}
  %a = memref.alloca() : memref<4xf32>
  // expected-error @below {{was allocated after placement: no stage may do that}}
  %b = memref.alloc() : memref<4xf32>
  return
}
func.func @unplaced() {
  // expected-error @below {{has no place}}
  %a = plim.alloc() : memref<4xf32>
  return
}
func.func @elsewhere() {
  // expected-error @below {{lies in 'stack', which is none of its candidates ["workspace"]}}
  %a = plim.alloc() {accessors = ["gpu"], bytes = 16 : i64, candidates = ["workspace"], scope = "global.stack"} : memref<4xf32>
  return
}
func.func @unbounded(%n: index) {
  // expected-error @below {{is on the stack without a bound of its size}}
  %a = plim.alloc(%n) {accessors = ["host"], candidates = ["stack"], scope = "global.stack"} : memref<?xf32>
  return
}
func.func @escapes() -> memref<4xf32> {
  // expected-error @below {{is on the stack and may outlive the block that allocates it}}
  %a = plim.alloc() {accessors = ["host"], bytes = 16 : i64, candidates = ["stack"], scope = "global.stack"} : memref<4xf32>
  return %a : memref<4xf32>
}
// expected-error @below {{has 32 bytes of stack allocations, 16 after placement: a later stage has duplicated one}}
func.func @twice() attributes {plim.stack_sum = 16 : i64} {
  %a = plim.alloc() {accessors = ["host"], bytes = 16 : i64, candidates = ["stack"], scope = "global.stack"} : memref<4xf32>
  %b = plim.alloc() {accessors = ["host"], bytes = 16 : i64, candidates = ["stack"], scope = "global.stack"} : memref<4xf32>
  return
}
