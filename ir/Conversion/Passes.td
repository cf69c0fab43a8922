#ifndef PLIM_CONVERSION_PASSES
#define PLIM_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

def PlimExpandCopies : Pass<"plim-expand-copies", "::mlir::func::FuncOp"> {
  let summary = "Turn strided copies into loops and expansions into casts";
  let description = [{
    Upstream lowers `memref.copy` of a strided buffer to a call of its runner library. Here it
    becomes an op that turns into loops, unless the buffers are known to lie in one piece or are rows of any length; a copy of a buffer onto itself is dropped. A dense buffer's
    `memref.expand_shape` becomes a cast with the new extents.

    ```mlir
    memref.copy %a, %b : memref<4x4xf32, strided<[8, 1]>> to memref<4x4xf32>
    // becomes
    linalg.copy ins(%a : memref<4x4xf32, strided<[8, 1]>>) outs(%b : memref<4x4xf32>)
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::affine::AffineDialect"];
  let statistics = [Statistic<"expanded", "expanded", "copies that become loops">,
                    Statistic<"missed", "missed", "copies that stay calls of memcpy">];
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

def PlimDefineArithmetic : Pass<"plim-define-arithmetic"> {
  let summary = "Give results to shifts and conversions that have none";
  let description = [{
    LLVM says of a shift by the width or more, and of a float that the integer cannot hold, that the result is
    poison: any value, and another one for each use. Here

    - bits that are shifted by the width or more are gone: the result is 0, or -1 where a negative number is
      shifted arithmetically. The amount counts without sign;
    - a float becomes the nearest integer that there is, NaN 0.

    ```mlir
    %r = arith.shli %x, %n : i32
    %i = arith.fptosi %f : f32 to i32
    // becomes
    %shifted = arith.shli %x, %n : i32
    %inside = arith.cmpi ult, %n, %c32 : i32
    %r = arith.select %inside, %shifted, %c0 : i32
    %low = select(%f > -0x1p31, %f, -0x1p31)
    %converted = arith.fptosi %low : f32 to i32
    %bounded = select(%f > 0x1.fffffep30, 2147483647, %converted)
    %i = select(%f is NaN, 0, %bounded)
    ```

    Constant bounds that the source gives the float (`arith.maximumf` of `arith.minimumf`) take the place of the integer's
    where they are no further apart, so that a saturating conversion of a quantiser is one of two.

    Amounts that are constants and small enough are left alone. Processors whose vectors shift like this
    need no more instructions.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"shifts", "shifts", "shifts whose amount may be too large">,
                    Statistic<"conversions", "conversions", "conversions to integers">];
}

def PlimPollStops : Pass<"plim-poll-stops", "::mlir::func::FuncOp"> {
  let summary = "Look in long loops whether the call has been stopped";
  let description = [{
    Work is counted in operations, about a nanosecond each. A loop that is known to take less than four times `work` is
    left alone. One whose iterations take long looks in each of them; so does `scf.while`, of which nothing is
    known. Any other becomes two: the inner one, which stays as it was for the vectoriser, takes as many
    iterations as come to `work`, or 64 where its inner loops may be short, and the outer one looks.

    ```mlir
    scf.for %i = %begin to %end step %c1 { body }
    // becomes
    scf.for %chunk = %c0 to %chunks step %c1 {
      plim.poll
      %first = %begin + %chunk * 32768
      %last = select(this is the last chunk, %end, %first + 32768)
      scf.for %i = %first to %last step %c1 { body }
    }
    ```

    The loop over the workgroups of a dispatch is left alone: the runtime hands it out in pieces and looks in
    between. So is one inside of it along an extent of a buffer, if its iterations are short: a million of them
    take some 10 ms, and another loop for each row was felt.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::plim::ir::PlimDialect"];
  let options = [Option<"work", "work", "int64_t", /*default=*/"262144",
                        "Operations between two looks of an innermost loop">];
  let statistics = [Statistic<"polls", "polls", "loops that look in each iteration">,
                    Statistic<"chunked", "chunked", "loops that became two">];
}

def PlimLowerRuntime : Pass<"plim-lower-runtime", "::mlir::ModuleOp"> {
  let summary = "Lower dispatches, buffers and failures to the runtime's symbols";
  let description = [{
    Runs on control flow graphs. Every host and dispatch function, and each kernel that needs it,
    gets the context as its first argument; `plim.context` becomes that argument. The raw pointer of a kernel
    that needs it for nothing but polls and implied assertions calls it with a context of no call, which is
    never stopped and keeps no message. Then

    - `plim.dispatch` becomes a call of `plim_rt_dispatch` with a constant descriptor,
      `plim.schedule` one of `plim_rt_schedule`; a failing one leaves the host code;
    - allocations become calls of `plim_rt_allocate` or `plim_rt_scratch`, releases calls of
      `plim_rt_release`;
    - `cf.assert` becomes a branch to `plim_rt_fail`;
    - `plim.call` becomes a call of `plim_rt_call` with the symbol `plim.external.X`, which the linker
      provides, and with views in the frame; a failing one leaves the function;
    - `plim.poll` becomes a look at the status of the call, and leaves the function when it has been stopped;
    - a function that may come back to itself begins with `plim_rt_recurse`, and ends where that fails;
    - each public function, dispatch function and kernel gets the entry that engine/abi describes. A host function
      that no other calls takes the views of its arguments and results as they are, and reads each argument
      where it is used;
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
    Statistic<"polls", "polls", "places that look whether the call was stopped">,
    Statistic<"guards", "guards", "functions that ask for stack before another turn">];
}

def PlimLowerToLLVM : Pass<"plim-lower-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Convert what is left to the LLVM dialect";
  let description = [{
    Upstream's conversion patterns, applied together, behind ours for storage floats. Integers of less than 8 bits
    are bytes in memory, vectors of them too, which LLVM's vectoriser can handle. The last of 9, 17, 25, ... bf16 is loaded
    alone: LLVM 22 cannot take such loads apart.

    ```mlir
    %v = memref.load %m[%i] : memref<?xi4>
    // becomes
    %at = llvm.getelementptr %base[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %byte = llvm.load %at : !llvm.ptr -> i8
    %v = llvm.trunc %byte : i8 to i4
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
  let statistics = [
    Statistic<"libraryCalls", "library", "functions of math called in the C library">,
    Statistic<"storageFloats", "storage-floats", "conversions of floats of 8 bits that became integer arithmetic">,
    Statistic<"smallIntegers", "small-integers", "loads and stores of less than 8 bits that became bytes">,
    Statistic<"bfloatLoads", "bfloat-loads", "loads of vectors of bf16 that LLVM could not take apart">];
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
    dispatch only reads, is marked as invariant. Not with `inlined`: where a dispatch becomes part of a function,
    the memory changes in front of it and behind.

    ```mlir
    %a = llvm.getelementptr %base[128] {plim.place = {bytes = array<i64: 128, 192>, memory = ""}}
    %v = llvm.load %a : !llvm.ptr -> f32
    // becomes
    %v = llvm.load %a {alias_scopes = [#a], noalias_scopes = [#b, #c]} : !llvm.ptr -> f32
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
  let options = [Option<"inlined", "inlined", "bool", /*default=*/"false",
                        "Dispatches become parts of the functions that call them">];
  let statistics = [
    Statistic<"annotated", "annotated", "accesses with scopes">,
    Statistic<"invariant", "invariant", "loads of what does not change">];
}

#endif
