// What LLVM makes of what it is told about buffers, in the code that it generates.
// REQUIRES: avx2
// RUN: plimsoll run %s -f scale --target x86-64-v3 --dump-asm - -i 1024xf32=1 -i 1024xf32=0 -i f32=2 \
// RUN:   | sed '/^\t[.]/d' | FileCheck %s --check-prefixes=SCALE,SUM,LOOKUP

// The constant is loaded once, whatever the stores are to.
// LOOKUP-LABEL: plim.raw.lookup:
//       LOOKUP: vbroadcastss (%{{.*}},%rdi,4), [[VALUE:%ymm[0-9]+]]
//  LOOKUP-NEXT: xorl
//  LOOKUP-NEXT: .LBB
//  LOOKUP-NEXT: vmovups [[VALUE]],
//       LOOKUP: jne
//   LOOKUP-NOT: jne
//       LOOKUP: retq
memref.global "private" constant @table : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
func.func @lookup(%k: index, %y: memref<1024xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1024 : index
  %t = memref.get_global @table : memref<4xf32>
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %t[%k] : memref<4xf32>
    memref.store %a, %y[%i] : memref<1024xf32>
  }
  return
}

// Where the call says that no two buffers overlap there is no check of their addresses, and the factor is
// loaded once. The other variant is what the flag is tested for.
// SCALE-LABEL: plim.entry.scale:
//       SCALE: testb $1, 12(%rdi)
//       SCALE: jne [[APART:.LBB[0-9_]+]]
//       SCALE: cmpq
//       SCALE: {{^}}[[APART]]:
//  SCALE-NEXT: vbroadcastss (%{{.*}}), [[FACTOR:%ymm[0-9]+]]
//  SCALE-NEXT: xorl
//  SCALE-NEXT: {{^}}[[LOOP:.LBB[0-9_]+]]:
//  SCALE-NEXT: vmulps ({{.*}}), [[FACTOR]],
//   SCALE-NOT: broadcast
//       SCALE: jne [[LOOP]]
func.func @scale(%x: memref<1024xf32>, %y: memref<1024xf32>, %s: memref<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1024 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %s[] : memref<f32>
    %v = memref.load %x[%i] : memref<1024xf32>
    %p = arith.mulf %a, %v : f32
    memref.store %p, %y[%i] : memref<1024xf32>
  }
  return
}

// The sum stays in registers: the loop stores nothing, and reads only what it adds.
// SUM-LABEL: plim.entry.sum:
//       SUM: testb $1, 12(%rdi)
//       SUM: jne [[APART:.LBB[0-9_]+]]
//       SUM: {{^}}[[APART]]:
//       SUM: {{^}}[[LOOP:.LBB[0-9_]+]]:
//  SUM-NEXT: vpaddd (%rcx,%rdx,4), %ymm0, %ymm0
//  SUM-NEXT: vpaddd
//  SUM-NEXT: vpaddd
//  SUM-NEXT: vpaddd
//   SUM-NOT: mov
//       SUM: cmpq $1024
//  SUM-NEXT: jne [[LOOP]]
func.func @sum(%x: memref<1024xi32>, %y: memref<i32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1024 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<1024xi32>
    %a = memref.load %y[] : memref<i32>
    %p = arith.addi %a, %v : i32
    memref.store %p, %y[] : memref<i32>
  }
  return
}

// A dispatch knows without asking that what it writes is apart: one comparison, of the loop.
// RUN: plimsoll run %s -f triad --target x86-64-v3 --dump-asm - -i 1024xf32=1 -i 1024xf32=1 \
// RUN:   | sed '/^\t[.]/d' | FileCheck %s --check-prefix=TRIAD
// TRIAD-LABEL: {{^}}plim.body.triad_elementwise_0:
//   TRIAD-NOT: cmpq
//       TRIAD: {{^}}[[LOOP:.LBB[0-9_]+]]:
//  TRIAD-NEXT: vmovups
//       TRIAD: vaddps
//       TRIAD: vmovups %ymm
//       TRIAD: cmpq $1024
//  TRIAD-NEXT: jl [[LOOP]]
//   TRIAD-NOT: jne
//       TRIAD: retq
func.func @triad(%x: tensor<1024xf32>, %y: tensor<1024xf32>) -> tensor<1024xf32> {
  %r = arith.addf %x, %y : tensor<1024xf32>
  return %r : tensor<1024xf32>
}
