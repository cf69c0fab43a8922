#ifndef PLIM_CONVERSION_PASSES
#define PLIM_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

def PlimExpandCopies : Pass<"plim-expand-copies", "::mlir::func::FuncOp"> {
  let summary = "Turn strided copies into loops and expansions into casts";
  let description = [{
    Upstream lowers `memref.copy` of a strided buffer to a call of its runner library. Here it
    becomes an op that turns into loops; a copy of a buffer onto itself is dropped. A dense buffer's
    `memref.expand_shape` becomes a cast with the new extents.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::affine::AffineDialect"];
}

def PlimLowerChecks : Pass<"plim-lower-checks", "::mlir::func::FuncOp"> {
  let summary = "Gather failed checks in flags that are looked at once";
  let description = [{
    Each message of `plim.check` in a function gets a flag on the stack, which LLVM keeps in a
    register: in a vectorised loop it is a reduction. The function asserts it before it returns.

    ```mlir
    %ok = plim.check %inside, "message"
    // becomes
    %old = memref.load %failed[] : memref<i8>
    memref.store (%old | not %inside), %failed[] : memref<i8>
    // and before the return
    cf.assert (%failed == 0), "message"
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::memref::MemRefDialect", "::plim::ir::PlimDialect"];
  let statistics = [Statistic<"flags", "flags", "flags, one for each message of a function">];
}

def PlimOutlineData : Pass<"plim-outline-data", "::mlir::ModuleOp"> {
  let summary = "Move the contents of globals out of the code";
  let description = [{
    Constants become external symbols whose contents the artifact carries once, in read-only pages;
    mutable globals become external symbols that each module instance owns; extern globals stay
    external and are bound to parameters. The module's `plim.data` lists all of them.

    ```mlir
    memref.global "private" constant @c : memref<2xf32> = dense<[1.0, 2.0]>
    // becomes
    memref.global @plim.data.c : memref<2xf32>
    // and in plim.data: {name = "c", kind = "constant", type = memref<2xf32>, value = dense<...>}
    ```

    Constants that are small stay: they become private constants of each object that uses them, whose
    loads LLVM can fold. Those with a scope, of which there is one buffer, do not.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
  let options = [Option<"inlineConstantBytes", "inline-constant-bytes", "int64_t", /*default=*/"0",
                        "The largest constant that stays, bytes; none, since only a target knows "
                        "what is small">,
                 Option<"guarded", "guarded", "bool", /*default=*/"false",
                        "No alignment but that of elements: data ends where guard pages begin">];
  let statistics = [Statistic<"outlined", "outlined", "globals moved out">,
                    Statistic<"inlined", "inlined", "constants that stay in the code">];
}

def PlimLowerRuntime : Pass<"plim-lower-runtime", "::mlir::ModuleOp"> {
  let summary = "Lower dispatches, buffers and failures to the runtime's symbols";
  let description = [{
    Runs on control flow graphs. Every host and dispatch function, and each kernel that needs it,
    gets the context as its first argument; `plim.context` becomes that argument. Then

    - `plim.dispatch` becomes a call of `plim_rt_dispatch` with a constant descriptor,
      `plim.schedule` one of `plim_rt_schedule`; a failing one leaves the host code;
    - allocations become calls of `plim_rt_allocate` or `plim_rt_scratch`, releases calls of
      `plim_rt_release`;
    - `cf.assert` becomes a branch to `plim_rt_fail`;
    - `plim.call` becomes a call of `plim_rt_call` with the symbol `plim.external.X`, which the linker
      provides, and with views in the frame; a failing one leaves the function;
    - a loop of host code looks at the status of the context each time round, and leaves the function when the
      call has been stopped; an innermost loop that counts does not, as it would not be vectorised any more;
    - a function that may come back to itself begins with `plim_rt_recurse`, and ends where that fails;
    - each public function, dispatch function and kernel gets the entry that engine/abi describes;
    - a kernel with several buffers gets a copy in which LLVM knows that they have no byte in common.
      The entry calls it where the context says that this is so:

    ```mlir
    func.func @k(%a: memref<f32>, %b: memref<f32>) attributes {plim.kernel} { ... }
    // becomes
    llvm.func @plim.entry.k(%context, %arguments, %results) -> i32 {
      cf.cond_br %are_apart, ^apart, ^otherwise
    ^apart:
      call @plim.apart.k(...)
    ^otherwise:
      call @plim.raw.k(...)
    }
    func.func @plim.raw.k(%a: !llvm.ptr, %b: !llvm.ptr)
    func.func private @plim.apart.k(%a: !llvm.ptr {llvm.noalias}, %b: !llvm.ptr {llvm.noalias})
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::arith::ArithDialect", "::mlir::ub::UBDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::func::FuncDialect"];
  let statistics = [
    Statistic<"dispatches", "dispatches", "dispatches lowered">,
    Statistic<"schedules", "schedules", "schedules lowered to one call">,
    Statistic<"variants", "variants", "kernels copied for arguments without a byte in common">,
    Statistic<"allocations", "allocations", "calls of the allocator and of scratch">,
    Statistic<"checks", "checks", "assertions lowered">,
    Statistic<"hostCalls", "host-calls", "calls of the host application lowered">,
    Statistic<"loopChecks", "loop-checks", "loops that can be stopped">,
    Statistic<"guards", "guards", "functions that ask for stack before another turn">];
}

def PlimLowerToLLVM : Pass<"plim-lower-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Convert what is left to the LLVM dialect";
  let description = [{
    Upstream's conversion patterns, applied together. Booleans in memory become bytes, which LLVM's
    vectoriser can handle.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
  let statistics = [
    Statistic<"libraryCalls", "library", "functions of math called in the C library">,
    Statistic<"booleans", "booleans", "loads and stores of booleans that became bytes">];
}

def PlimAnnotateAliases : Pass<"plim-annotate-aliases", "::mlir::ModuleOp"> {
  let summary = "Tell LLVM which accesses do not meet, and what does not change";
  let description = [{
    All of them are derived from one pointer, the base of the slab, of scratch or of a pool, and LLVM
    would have to take their accesses for accesses to the same memory: loops from one buffer to the
    next did not vectorise and ran at a fifth of their speed on the stack. Each buffer gets an alias
    scope; an access is apart from those scopes whose bytes are never the same. Buffers that take the
    same bytes at different times are not apart. In a kernel, accesses to the arguments are apart from
    all of them. Pointers are followed through descriptors; one that comes through a block stays
    without. `plim-lower-runtime` marks the buffers with `plim.place`.

    What is loaded through an argument that is `llvm.readonly` and `llvm.noalias`, a binding that a
    dispatch only reads, is marked as invariant.

    ```mlir
    %a = llvm.getelementptr %base[128] {plim.place = {bytes = array<i64: 128, 192>, memory = ""}}
    %v = llvm.load %a : !llvm.ptr -> f32
    // becomes
    %v = llvm.load %a {alias_scopes = [#a], noalias_scopes = [#b, #c]} : !llvm.ptr -> f32
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
  let statistics = [
    Statistic<"annotated", "annotated", "accesses with scopes">,
    Statistic<"invariant", "invariant", "loads of what does not change">];
}

#endif
