#ifndef PLIM_MEMORY_PASSES
#define PLIM_MEMORY_PASSES

include "mlir/Pass/PassBase.td"

def PlimSeparateDestinations : Pass<"plim-separate-destinations"> {
  let summary = "Let at most 64 ops share a destination, and no loop";
  let description = [{
    Elimination of common subexpressions leaves one `tensor.empty` for all ops whose results have the same shape. To bufferization
    they are one buffer then, and for each op it compares each read of it with each write: the third power of the number of ops.
    Of every 64 ops the destination becomes one of their own, in front of the first of them. Where lives allow it the memory
    plan lays them over each other.

    What a loop begins with becomes one of its own for each that it carries. Upstream's analysis does not see all that is written
    between a write and a read when two that a loop carries begin as one tensor without contents: both were one buffer. Nor does it see that a `scf.while`
    hands on one tensor twice, or one from outside that the next round writes to and others read: those are copied.

    Functions in whose source loops or branches hand on buffers are marked, which nobody can tell from tensors behind bufferization.

    ```mlir
    %e = tensor.empty() : tensor<8xf32>
    %a = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    ... // 63 more
    %b = linalg.abs ins(%y : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    // becomes
    %e = tensor.empty() : tensor<8xf32>
    %f = tensor.empty() : tensor<8xf32>
    %a = linalg.exp ins(%x : tensor<8xf32>) outs(%f : tensor<8xf32>) -> tensor<8xf32>
    ... // 63 more, into %e
    %b = linalg.abs ins(%y : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"separated", "separated", "destinations of their own">];
}

def PlimProtectPartialWrites : Pass<"plim-protect-partial-writes"> {
  let summary = "Keep bufferization from taking a write of a part for one of all";
  let description = [{
    Upstream takes a `vector.transfer_write` at zeros for one that overwrites a tensor if each extent of the vector is at least that of
    the tensor's dimension of the same number, also where the vector has fewer dimensions and is written elsewhere: what is read of the rest
    later is lost if the tensor gets memory of its own. An index that upstream does not see to be zero makes it look no further.

    ```mlir
    %w = vector.transfer_write %v, %t[%c0, %c0, %c0] {permutation_map = affine_map<(a, b, c) -> (b, c)>} : vector<8x16xf32>, tensor<1x15x16xf32>
    // becomes
    %z = affine.apply affine_map<() -> (0)>()
    %w = vector.transfer_write %v, %t[%z, %c0, %c0] {permutation_map = affine_map<(a, b, c) -> (b, c)>} : vector<8x16xf32>, tensor<1x15x16xf32>
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect"];
  let statistics = [Statistic<"protectedWrites", "protected", "writes of parts that looked like writes of all">];
}

def PlimHoistCarriedBuffers : Pass<"plim-hoist-carried-buffers"> {
  let summary = "Let loops and branches hand on what they make in memory that is there before";
  let description = [{
    A loop that makes what it carries anew in each round takes a buffer for it and gives back that of the round before: no plan has a place for
    a buffer that leaves the block which makes it. Where nothing takes memory while the code runs, the loop has memory of its own in front of
    it, to which each round copies what it hands on; so do branches. Buffers of a size that is not known stay as they are, and so does a
    function in whose source buffers are handed on: it writes to those that it names.

    ```mlir
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> (memref<8xf32>) {
      %t = memref.alloc() : memref<8xf32>
      ... // reads %s, writes %t
      scf.yield %t : memref<8xf32>
    }
    // becomes
    %p = memref.alloc() : memref<8xf32>
    memref.copy %x, %p : memref<8xf32> to memref<8xf32>
    scf.for %i = %c0 to %n step %c1 {
      %t = memref.alloc() : memref<8xf32>
      ... // reads %p, writes %t
      memref.copy %t, %p : memref<8xf32> to memref<8xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
  let statistics = [Statistic<"hoisted", "hoisted", "buffers in front of a loop or of branches">];
}

def PlimOrderConstants : Pass<"plim-order-constants", "::mlir::ModuleOp"> {
  let summary = "Number constants in the order in which the code reads them";
  let description = [{
    Upstream's bufferization goes through functions in an order of their addresses and numbers the constants that it makes globals
    of by that: the same source gave other symbols, and another order of data, each time. Only those that it named are renamed; they
    stand in front of what else the module has.

    ```mlir
    memref.global "private" constant @__constant_2xf32_0 : memref<2xf32> = dense<[3.0, 4.0]>
    memref.global "private" constant @__constant_2xf32 : memref<2xf32> = dense<[1.0, 2.0]>
    func.func @f() {
      %a = memref.get_global @__constant_2xf32_0 : memref<2xf32>
      %b = memref.get_global @__constant_2xf32 : memref<2xf32>
    // becomes
    memref.global "private" constant @__constant_2xf32 : memref<2xf32> = dense<[3.0, 4.0]>
    memref.global "private" constant @__constant_2xf32_0 : memref<2xf32> = dense<[1.0, 2.0]>
    func.func @f() {
      %a = memref.get_global @__constant_2xf32 : memref<2xf32>
      %b = memref.get_global @__constant_2xf32_0 : memref<2xf32>
    ```
  }];
  let statistics = [Statistic<"renamed", "renamed", "constants that got another name">];
}

def PlimReleaseBuffers : Pass<"plim-release-buffers", "::mlir::ModuleOp"> {
  let summary = "Release every buffer that bufferization allocated";
  let description = [{
    Upstream's ownership-based deallocation on host and dispatch functions (each returned buffer is
    owned by the caller: one that the callee does not own is cloned), followed by the lowering of
    its ops. Kernels are left alone: their author allocates and releases.

    A result that an argument is donated to lies in the memory of the argument when the function
    ends. It is made there if nothing needs the old contents any more when it begins, otherwise it is
    copied.

    ```mlir
    func.func @f(%x: memref<4xf32> {plim.donate = 0}, %w: memref<4x4xf32>) -> memref<4xf32> {
      %h = memref.alloc() : memref<4xf32>
      plim.dispatch @layer ins(%x, %w) outs(%h)
      %r = memref.alloc() : memref<4xf32>
      plim.dispatch @layer ins(%h, %w) outs(%r)
      return %r
    // becomes
      plim.dispatch @layer ins(%h, %w) outs(%x)
      memref.dealloc %h : memref<4xf32>
      return %x
    ```
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"released", "released", "releases inserted">,
    Statistic<"cloned", "cloned", "results copied because the function could not hand them over">,
    Statistic<"donated", "donated", "results made in the memory of a donated argument">];
}

def PlimInferAccessors : Pass<"plim-infer-accessors", "::mlir::ModuleOp"> {
  let summary = "Find out which devices touch each allocation";
  let description = [{
    All allocations become `plim.alloc`, which no canonicalisation rewrites; a `memref.alloca` gets
    the scope `global.stack` and a release behind its last use, so that loops never grow the stack.
    Then each allocation's `accessors` are the devices of the dispatches that use it, through views,
    loops, calls and results; the host for what host code and callers do; `external` where a
    function outside of the module gets it; and those that the author named.

    ```mlir
    %a = memref.alloc() : memref<4xf32>
    plim.dispatch @d outs(%a : memref<4xf32>) {plim.device = "cuda0"}
    // becomes
    %a = plim.alloc() {accessors = ["cuda0"]} : memref<4xf32>
    ```
  }];
  let dependentDialects = ["::plim::ir::PlimDialect", "::mlir::memref::MemRefDialect"];
  let statistics = [
    Statistic<"allocations", "allocations", "allocations analysed">,
    Statistic<"widened", "widened", "accessors that only the author knows">];
}

def PlimPlaceAllocations : Pass<"plim-place-allocations", "::mlir::ModuleOp"> {
  let summary = "Decide where each allocation lives";
  let description = [{
    A place is legal when it is a candidate (of the scope and `candidate_pools`), every accessor can
    reach it and the limits allow it. Of the legal ones the best is taken: `scope` becomes the place,
    `reason` and `level` say why and who decided. No legal place is an error that names each
    candidate and why it fell out.

    - The *stack* takes what is bounded, does not outlive its block, is used by the host's threads
      only, is within the limit for one allocation (which what the author put there is exempt from),
      and within the budget of every call tree that the function is part of. Allocations whose lives
      do not overlap share; those that gain most per byte come first.
    - The *workspace* is the slab of the call for host code, the worker's scratch for dispatch
      functions, and the allocator for what has no bound or outlives its block.
    - A *pool* is a memory of the target by name, as far as its capacity goes.

    In host code the slab comes before the stack, elsewhere the stack before the workspace.
    Limits come from the first device of `dlti.target_system_spec`, the module's
    `plim.engine_limits` and `plim.limits`, the policy, and the `plim.limits` of the function and of
    the allocation, the last one strongest.

    Policies choose between the legal places of scope `global`: `auto` as above; `workspace` keeps off
    the stack; `heap` too, and every buffer comes from the allocator; `stack` ignores the limit for
    one allocation, not the budget; `fixed:N` uses N as that limit.

    ```mlir
    %a = plim.alloc() {accessors = ["host"]} : memref<16xf32>
    // becomes
    %a = plim.alloc() {accessors = ["host"], bytes = 64 : i64, candidates = ["stack", "workspace"],
           level = "target", reason = "64 bytes are within the limit of 1024 for one stack allocation",
           scope = "global.stack"} : memref<16xf32>
    ```
  }];
  let dependentDialects = ["::plim::ir::PlimDialect"];
  let options = [Option<"policy", "policy", "std::string", /*default=*/"\"auto\"",
                        "auto, stack, workspace, heap or fixed:N">,
                 Option<"stackReserveBytes", "stack-reserve", "int64_t", /*default=*/"0",
                        "Part of the stack budget that code needs beside its allocations">,
                 ListOption<"deviceMemories", "device-memories", "std::string",
                            "Memories that accelerators bring to each call">];
  let statistics = [
    Statistic<"onStack", "stack", "allocations on the stack">,
    Statistic<"inWorkspace", "workspace", "allocations in the workspace">,
    Statistic<"inPools", "pools", "allocations in named pools">,
    Statistic<"demoted", "missed", "allocations that did not get the best place">];
}

def PlimPlanMemory : Pass<"plim-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Give allocations with a known life an offset in their memory";
  let description = [{
    An allocation of bounded size that does not outlive its block gets an offset that the planner
    chose: in the call's slab or in a pool, or, in a dispatch function, in the worker's scratch. Its
    release disappears. `plim.workspace_bytes`, `plim.workspace_alignment` and `plim.pool_bytes` of
    the function say what a call needs, `plim.pools` of the module in which order the runtime
    provides the pools. All others stay with the allocator of the context, and so do all of a
    function that another one calls: caller and callee would share the slab. Policy `heap` plans
    pools only.

    Where a public function has allocations of the slab, in no branch, whose sizes follow from its
    arguments through integer arithmetic that cannot trap, the whole slab is planned at the call: each
    gets a `slot`, `plim.call_plan` describes them all, and a new function yields the extents.

    With `scratch-in-slab` dispatches run one after the other, and what each needs of scratch is one more buffer of the
    slab while it runs: `plim.scratch_offset` of the dispatch says where, and
    `plim.scratch_plan` how long and how much. Slots are numbered so that each buffer may lie above
    those before it that it meets, since such a call does not search.

    ```mlir
    %a = plim.alloc() {bytes = 64 : i64, scope = "global.workspace", ...} : memref<16xf32>
    ...
    memref.dealloc %a : memref<16xf32>
    // becomes
    %a = plim.alloc() {bytes = 64 : i64, scope = "global.workspace", offset = 128 : i64,
                       lifetime = array<i64: 3, 9>, ...} : memref<16xf32>
    ```
  }];
  let dependentDialects = ["::plim::ir::PlimDialect"];
  let options = [Option<"policy", "policy", "std::string", /*default=*/"\"auto\"",
                        "The policy of the placement">,
                 Option<"scratchInSlab", "scratch-in-slab", "bool", /*default=*/"false",
                        "Give the scratch of dispatches a place in the slab">];
  let statistics = [
    Statistic<"planned", "planned", "allocations given an offset">,
    Statistic<"late", "late", "allocations planned at the call">,
    Statistic<"missed", "missed", "allocations left to the allocator">];
}

def PlimVerifyPlacement : Pass<"plim-verify-placement", "::mlir::ModuleOp"> {
  let summary = "Refuse IR in which a stage after placement escaped its constraints";
  let description = [{
    Every allocation must still be a `plim.alloc` in one of its candidate places; one on the stack
    must be bounded and must not outlive its block; and no function may have more stack allocations
    than placement gave it. A violation is a fault of the engine, and is reported before it can
    become an overflow.

    ```mlir
    %a = memref.alloca() : memref<4xf32>
    // error: 'memref.alloca' op was allocated after placement: no stage may do that
    ```
  }];
  let statistics = [Statistic<"verified", "verified", "allocations looked at">];
}

#endif
