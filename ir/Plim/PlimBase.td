// The plim dialect: only what upstream lacks. Why each thing exists: docs/rationale/Plim.md.
#ifndef PLIM_BASE
#define PLIM_BASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Plim_Dialect : Dialect {
  let name = "plim";
  let cppNamespace = "::plim::ir";
  let summary = "Dispatches with explicit bindings, their access, and where memory lives";
  let description = [{
    A module of the engine holds *host code*, which says what happens in which order, and
    *dispatch functions*, which compute. Between them stands `plim.dispatch`, whose operands are the
    only memory a dispatch can touch. Everything else the engine needs is upstream MLIR.

    Discardable attributes of the dialect:

    | attribute | on | meaning |
    |---|---|---|
    | `plim.dispatch_function` | `func.func` | this function is the body of dispatches |
    | `plim.kernel` | `func.func` | a function over scalars and memrefs, called through a raw pointer |
    | `plim.scope`, `plim.candidate_pools`, `plim.accessors`, `plim.max_bytes` | allocations of upstream dialects | constraints, as on `plim.alloc` |
    | `plim.limits` | allocations, `func.func`, the module | stack limits that differ from the target's |
    | `plim.device` | `plim.dispatch` | the device that runs it |
    | `plim.parallel_loops` | dispatch functions | loops of the root that workgroups may split |
    | `plim.cost` | dispatch functions | estimated scalar operations of a workgroup |
    | `plim.round_rows` | products of linalg | the rows may be rounded to bytes where the weights were quantised |
    | `plim.split` | linalg ops | half of a reduction that workgroups share, or what must not keep another from being split |
    | `plim.workgroups` | dispatch functions | how they are split, until it is carried out |
    | `plim.panels`, `plim.registers` | linalg ops in dispatch functions | how they are computed, until it is carried out |
    | `plim.strategy` | dispatch functions | all of those decisions, for people |
    | `plim.engine_limits` | the module | limits of the engine, weaker than `plim.limits` |
    | `plim.stack_bytes`, `plim.stack_budget` | functions | estimated stack of the call tree, and what it had to keep |
    | `plim.stack_sum` | functions | all stack allocations together, for the verifier of placement |
    | `plim.workspace_bytes`, `plim.workspace_alignment` | functions | the slab of a call, or the scratch of a worker |
    | `plim.pool_bytes` | functions | what a call needs of each pool |
    | `plim.pools` | the module | the pools in the order of the context |
    | `plim.access` | arguments of functions | what the function does to the binding or memref |
    | `plim.bounds` | buffer arguments of public functions | bounds of their dynamic extents |
    | `plim.pure` | declarations of host functions | nothing but its results |
  }];
  // Of tensors without elements, for which upstream's types and places must agree about what nothing accesses.
  let hasCanonicalizer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

def Plim_Access : I32EnumAttr<"Access", "what a dispatch does to a binding", [
    I32EnumAttrCase<"ReadOnly", 0, "readonly">,
    I32EnumAttrCase<"WriteOnly", 1, "writeonly">,
    I32EnumAttrCase<"ReadWrite", 2, "readwrite">]> {
  let cppNamespace = "::plim::ir";
  let genSpecializedAttr = 0;
}

def Plim_AccessAttr : EnumAttr<Plim_Dialect, Plim_Access, "access"> {
  let assemblyFormat = "`<` $value `>`";
}

def Plim_AccessArrayAttr : TypedArrayAttrBase<Plim_AccessAttr, "accesses, one per binding">;

def Plim_ContextType : TypeDef<Plim_Dialect, "Context"> {
  let mnemonic = "context";
  let summary = "the device context of a call";
  let description = [{
    The typed first argument of generated code (`plim_context` in the ABI). It carries the
    workspace, the allocator and the failure state of the call.
  }];
}

#endif
