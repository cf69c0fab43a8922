// RUN: plimsoll-opt %s -plim-annotate-aliases | FileCheck %s
// RUN: plimsoll-opt %s -plim-annotate-aliases=inlined | FileCheck %s --check-prefix=INLINED --implicit-check-not=invariant
// INLINED: llvm.func

// Bytes [0, 64), [64, 128) and [32, 64) of the slab, and [0, 8) of a pool. The base stands for what
// lies at offset zero; views are followed, through descriptors too. An argument of a kernel is none of
// these memories; what is loaded from memory may be anything.
// CHECK-LABEL: llvm.func @plim.raw.kernel(
//       CHECK: llvm.store %{{.*}} {alias_scopes = [#alias_scope], noalias_scopes = [#alias_scope1, #alias_scope3]}
//       CHECK: llvm.store %{{.*}} {alias_scopes = [#alias_scope1], noalias_scopes = [#alias_scope, #alias_scope2, #alias_scope3]}
//       CHECK: llvm.store %{{.*}} {alias_scopes = [#alias_scope2], noalias_scopes = [#alias_scope1, #alias_scope3]}
//       CHECK: llvm.store %{{.*}} {alias_scopes = [#alias_scope3], noalias_scopes = [#alias_scope, #alias_scope1, #alias_scope2]}
//       CHECK: llvm.store %{{.*}} {noalias_scopes = [#alias_scope, #alias_scope1, #alias_scope2, #alias_scope3]}
//       CHECK: llvm.store %{{.*}}, %[[UNKNOWN:[^ ]*]] : f32, !llvm.ptr
//   CHECK-NOT: plim.place
llvm.func @plim.raw.kernel(%context: !llvm.ptr, %argument: !llvm.ptr, %v: f32, %i: i64)
    attributes {plim.kernel} {
  %slab = llvm.load %context {plim.place = {bytes = array<i64: 0, 64>, memory = ""}} : !llvm.ptr -> !llvm.ptr
  %b = llvm.getelementptr inbounds %slab[64] {plim.place = {bytes = array<i64: 64, 128>, memory = ""}} : (!llvm.ptr) -> !llvm.ptr, i8
  %c = llvm.getelementptr inbounds %slab[32] {plim.place = {bytes = array<i64: 32, 64>, memory = ""}} : (!llvm.ptr) -> !llvm.ptr, i8
  %pool = llvm.load %context {plim.place = {bytes = array<i64: 0, 8>, memory = "sram"}} : !llvm.ptr -> !llvm.ptr
  %ai = llvm.getelementptr %slab[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  llvm.store %v, %ai : f32, !llvm.ptr
  %empty = llvm.mlir.poison : !llvm.struct<(ptr, struct<(i64, ptr)>)>
  %whole = llvm.insertvalue %b, %empty[0] : !llvm.struct<(ptr, struct<(i64, ptr)>)>
  %more = llvm.insertvalue %b, %whole[1, 1] : !llvm.struct<(ptr, struct<(i64, ptr)>)>
  %rest = llvm.insertvalue %i, %more[1, 0] : !llvm.struct<(ptr, struct<(i64, ptr)>)>
  %inner = llvm.extractvalue %rest[1] : !llvm.struct<(ptr, struct<(i64, ptr)>)>
  %back = llvm.extractvalue %inner[1] : !llvm.struct<(i64, ptr)>
  %bi = llvm.getelementptr %back[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  llvm.store %v, %bi : f32, !llvm.ptr
  llvm.store %v, %c : f32, !llvm.ptr
  llvm.store %v, %pool : f32, !llvm.ptr
  llvm.store %v, %argument : f32, !llvm.ptr
  %unknown = llvm.load %argument : !llvm.ptr -> !llvm.ptr
  llvm.store %v, %unknown : f32, !llvm.ptr
  llvm.return
}

// What a dispatch only reads does not change while it runs; what it writes does, and so may what a
// kernel's caller passes twice.
// CHECK-LABEL: llvm.func @bindings(
//       CHECK: llvm.load %{{.*}} invariant : !llvm.ptr -> f32
//       CHECK: llvm.load %arg1 : !llvm.ptr -> f32
//       CHECK: llvm.load %arg2 : !llvm.ptr -> f32
llvm.func @bindings(%in: !llvm.ptr {llvm.noalias, llvm.readonly}, %out: !llvm.ptr {llvm.noalias},
                    %other: !llvm.ptr {llvm.readonly}) -> f32 {
  %p = llvm.getelementptr %in[4] : (!llvm.ptr) -> !llvm.ptr, f32
  %a = llvm.load %p : !llvm.ptr -> f32
  %b = llvm.load %out : !llvm.ptr -> f32
  %c = llvm.load %other : !llvm.ptr -> f32
  %d = llvm.fadd %a, %b : f32
  %e = llvm.fadd %d, %c : f32
  llvm.store %e, %out : f32, !llvm.ptr
  llvm.return %e : f32
}
