#ifndef PLIM_OPS
#define PLIM_OPS

include "ir/Plim/PlimBase.td"
include "ir/Plim/PlimStrategy.td"
include "mlir/Dialect/Bufferization/IR/AllocationOpInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Plim_Buffer : AnyTypeOf<[AnyRankedTensor, MemRefOf<[AnyType]>]>;

class Plim_Op<string mnemonic, list<Trait> traits = []> : Op<Plim_Dialect, mnemonic, traits>;

def Plim_DispatchOp : Plim_Op<"dispatch", [
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "run a dispatch function on explicit bindings";
  let description = [{
    Runs the dispatch function `function` over its workgroups. `inputs` are tensors or memrefs that
    are read and scalars; `outputs` are the destinations. On tensors the op returns one result per
    output (destination-passing style); on memrefs it returns nothing and writes the outputs.

    `accesses` has one entry per shaped operand, inputs first: what the dispatch function does to
    it. `plim-infer-access` fills it in; without it every input is read-only and every output is
    read-write.

    Bindings have the types that the dispatch function was made for: an extent is passed to it only where
    its type leaves it open. That is why this is no `DestinationStyleOpInterface`, of which upstream folds
    `tensor.cast` into the operands.

    ```mlir
    %r = plim.dispatch @main_matmul_0 ins(%a, %s : tensor<?x4xf32>, f32)
                                      outs(%init : tensor<?xf32>) -> tensor<?xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$function,
                       Variadic<AnyType>:$inputs,
                       Variadic<AnyShaped>:$outputs,
                       OptionalAttr<Plim_AccessArrayAttr>:$accesses);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $function (`ins` `(` $inputs^ `:` type($inputs) `)`)?
    (`outs` `(` $outputs^ `:` type($outputs) `)`)? attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    /// Is the operand one of the outputs?
    bool isOutput(::mlir::OpOperand &operand);
    /// On tensors, the result that is made in an output.
    ::mlir::OpResult getResultIn(::mlir::OpOperand &output);
    /// The shaped operands in binding order: inputs, then outputs.
    ::llvm::SmallVector<::mlir::OpOperand *> getBindings();
    /// The inputs that are no bindings: numbers and indices, in order.
    ::llvm::SmallVector<::mlir::Value> getScalars();
    /// What the dispatch function does to a binding.
    Access getAccess(::mlir::OpOperand &binding);
  }];
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def Plim_ScheduleOp : Plim_Op<"schedule", [
    NoRegionArguments, NoTerminator, RecursiveMemoryEffects, SingleBlock]> {
  let summary = "dispatches, and what each of them waits for";
  let description = [{
    Holds two or more dispatches on buffers and nothing else. `predecessors` says for each those before
    it, by position, that must have ended before it begins; without it none waits for another. Two of
    which neither waits for the other, directly or through others, may run in any order and at once, so
    neither writes what the other one reads or writes. The op ends when all of them have.

    ```mlir
    plim.schedule {
      plim.dispatch @queries ins(%x : memref<8xf32>) outs(%q : memref<8xf32>)
      plim.dispatch @keys ins(%x : memref<8xf32>) outs(%k : memref<8xf32>)
      plim.dispatch @squares ins(%q : memref<8xf32>) outs(%s : memref<8xf32>)
    } {predecessors = [array<i64>, array<i64>, array<i64: 0>]}
    ```
  }];
  let arguments = (ins OptionalAttr<TypedArrayAttrBase<
                       DenseI64ArrayAttr, "predecessors of each dispatch">>:$predecessors);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$body attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// For each dispatch the set of its predecessors: bit i for dispatch #i.
    ::llvm::SmallVector<uint64_t> getPredecessorSets();
    /// Those sets, with what predecessors wait for.
    static ::llvm::SmallVector<uint64_t> closureOf(::llvm::ArrayRef<uint64_t> predecessors);
    /// Dispatches at most, as many as the runtime takes at once.
    static constexpr unsigned limit = 64;
  }];
}

def Plim_ContextOp : Plim_Op<"context", [Pure]> {
  let summary = "the device context of the running call";
  let description = [{
    Yields the context that the enclosing function was called with. Functions in which nothing
    uses it are called without one. The one op of the dialect that a source may have.
  }];
  let results = (outs Plim_ContextType:$context);
  let assemblyFormat = "attr-dict `:` type($context)";
}

def Plim_AreApartOp : Plim_Op<"are_apart", [Pure]> {
  let summary = "do no two buffers among the arguments of a kernel's call have a byte in common?";
  let description = [{
    What the caller has found out (`PLIM_CALL_APART`): false where nobody did, as in a call of the raw pointer.
  }];
  let results = (outs I1:$apart);
  let assemblyFormat = "attr-dict `:` type($apart)";
}

def Plim_ExternalOp : Plim_Op<"external", [Symbol]> {
  let summary = "a function of the host application, bound when the module is linked";
  let description = [{
    What `plim-import` makes of a private declaration that something calls. `function_type` is without
    the context, which every such function gets first. `accesses` has one entry per shaped argument;
    `donations` one per result: the argument that a tensor result is made in, or -1.
    A tensor result that leaves an extent open, and is made in no argument, it makes itself.
    `pure`: it does nothing but compute its results, from its arguments and what they point at.

    `plim-outline-device-code` makes one for each dispatch function that an accelerator runs: `device` is
    its name, and `code` what its compiler made of the function.

    ```mlir
    plim.external @sum : (f32, memref<?x4xf32>) -> i32
        {accesses = [#plim.access<readonly>], donations = array<i64: -1>, pure}
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       DefaultValuedOptionalAttr<StrAttr, "\"private\"">:$sym_visibility,
                       TypeAttrOf<FunctionType>:$function_type,
                       Plim_AccessArrayAttr:$accesses,
                       DenseI64ArrayAttr:$donations,
                       UnitAttr:$pure,
                       OptionalAttr<StrAttr>:$device,
                       OptionalAttr<StrAttr>:$code);
  let assemblyFormat = [{
    ($sym_visibility^)? $sym_name `:` $function_type attr-dict
  }];
  let extraClassDeclaration = [{
    /// Does the function make the result itself?
    bool isOpenResult(unsigned index);
  }];
}

def Plim_CallOp : Plim_Op<"call", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "call a function of the host application";
  let description = [{
    Calls a `plim.external` with the context first, then its arguments, then a destination for each
    tensor result that no argument is donated to and whose extents are known. `destinations` has, for each
    tensor result, the operand that it is made in, or -1 for one that the callee makes. On buffers the
    former are gone; the latter are memory that the callee has allocated and the caller releases. `accesses` has one entry per shaped
    operand: all that the callee touches of the memory of the module. What else it does is unknown,
    so that no call is moved, merged or dropped, unless it is `pure`.

    ```mlir
    %n = plim.call @sum(%context, %x, %row) {accesses = [#plim.access<readonly>],
             destinations = array<i64>, pure} : (!plim.context, f32, memref<?x4xf32>) -> i32
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee,
                       Variadic<AnyType>:$arguments,
                       Plim_AccessArrayAttr:$accesses,
                       DenseI64ArrayAttr:$destinations,
                       UnitAttr:$pure);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $callee `(` $arguments `)` attr-dict `:` functional-type($arguments, $results)
  }];
  let extraClassDeclaration = [{
    /// In place of a destination.
    static constexpr int64_t madeByCallee = -1;
    /// What the callee does to the buffer or tensor of an operand.
    Access getAccess(::mlir::OpOperand &operand);
    /// Does the callee make the tensor, or the buffer, that the result is?
    bool isMadeByCallee(::mlir::OpResult result);
    /// The tensor result that is made in an operand; null if there is none.
    ::mlir::OpResult getResultIn(::mlir::OpOperand &operand);
  }];
  let hasVerifier = 1;
}

def Plim_CheckOp : Plim_Op<"check", [NoMemoryEffect, SameOperandsAndResultType]> {
  let summary = "fail the call, later, if a condition does not hold";
  let description = [{
    Yields `condition`. Where it is false the call fails with `message` when the enclosing function
    ends; until then the code goes on, so whatever must not happen has to be guarded by the result.
    Other than `cf.assert` it may stand in the body of a linalg op: it has no effect that would keep
    the op from being fused and tiled, and a loop around it can still be vectorised. It is not
    speculatable: no pass may move it to where it would not have been executed.

    ```mlir
    %inside = arith.cmpi ult, %i, %n : index
    %ok = plim.check %inside, "gather.mlir:12:10: index out of range"
    %v = scf.if %ok -> f32 { ... } else { ... }
    ```
  }];
  let arguments = (ins I1:$condition, StrAttr:$message);
  let results = (outs I1:$ok);
  let assemblyFormat = "$condition `,` $message attr-dict";
  let hasFolder = 1;
}

def Plim_DotGroupsOp : Plim_Op<"dot_groups", [
    Pure, AllTypesMatch<["a", "b"]>, AllTypesMatch<["sum", "result"]>] # ElementwiseMappable.traits> {
  let summary = "add the products of two groups of narrow numbers to a sum";
  let description = [{
    Each element of `a` and of `b` holds as many numbers of a type as 32 bits have room for, the first in the low bits. The result is
    `sum + a[0] * b[0] + a[1] * b[1] + ...`:

    - two of `i16`, with signs, and a sum of 32 bits that wraps;
    - four of `i8`, those of `a` without and those of `b` with a sign, and such a sum;
    - two of `bf16`, and a sum in `f32`: products and sums are rounded one after the other, in an order that is the processor's, and
      denormal numbers count as zero where it has an instruction.

    Processors have one instruction for each, which no pass of LLVM makes of the arithmetic. `plim-pack-panels` makes it,
    `plim-lower-to-llvm` lowers it, to arithmetic where there is no such instruction.

    ```mlir
    %next = plim.dot_groups %a, %b, %sum of bf16 : vector<6x16xi32>, vector<6x16xf32>
    ```
  }];
  let arguments = (ins SignlessIntegerLike:$a, SignlessIntegerLike:$b,
                       AnyTypeOf<[SignlessIntegerLike, FloatLike]>:$sum, TypeAttr:$element);
  let results = (outs AnyTypeOf<[SignlessIntegerLike, FloatLike]>:$result);
  let assemblyFormat = "$a `,` $b `,` $sum `of` $element attr-dict `:` type($a) `,` type($sum)";
  let builders = [OpBuilder<(ins "::mlir::Value":$a, "::mlir::Value":$b, "::mlir::Value":$sum, "::mlir::Type":$element),
                            [{ build($_builder, $_state, sum.getType(), a, b, sum, ::mlir::TypeAttr::get(element)); }]>];
  let extraClassDeclaration = [{
    /// The products of two groups of scalars, or of one lane of vectors.
    int64_t getNumProducts() { return 32 / getElement().getIntOrFloatBitWidth(); }
  }];
  let hasVerifier = 1;
}

def Plim_TileProductOp : Plim_Op<"tile_product", [
    DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "add a product of matrices to another, in tile registers";
  let description = [{
    `sum[m, n] += a[m, k] * b[k, n]` for all rows and columns of `sum` and all `k`, the products as wide as the sum: bf16 and f32,
    or integers of 8 bits, of which `unsignedA` and `unsignedB` have no sign, and of 32, which wrap. On tensors the result is the
    new sum, on memrefs there is none.

    Tile registers have 16 rows of 64 bytes. `a` has rows and `b` columns, of a known number, for whole tiles: multiples of 16. What is
    behind those of `sum` is read but does not matter. `b` has groups of as many elements as 32 bits hold, which follow each other
    along `k`, the first in the low bits; there are a multiple of 16 of them, and `a` has as many elements. `plim-pack-panels`
    makes it where the host has such registers, `plim-lower-tile-products` makes the loops around them.

    Sums that have not as many columns as `b`, or not a multiple of 32 rows, need memory for 16 rows that have: a second output,
    of which nothing is read. With `fromZero` the old sum is not read either, and taken for zero.

    ```mlir
    %r:2 = plim.tile_product ins(%a, %b : tensor<48x512xbf16>, tensor<256x32xi32>)
                             outs(%sum, %rows : tensor<?x32xf32>, tensor<16x32xf32>) -> tensor<?x32xf32>, tensor<16x32xf32>
    ```
  }];
  let arguments = (ins Plim_Buffer:$a, Plim_Buffer:$b, Variadic<Plim_Buffer>:$outputs, UnitAttr:$unsignedA, UnitAttr:$unsignedB,
                       UnitAttr:$fromZero);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `ins` `(` $a `,` $b `:` type($a) `,` type($b) `)` `outs` `(` $outputs `:` type($outputs) `)` attr-dict
    (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutputsMutable(); }
    ::mlir::Value getSum() { return getOutputs().front(); }
    /// Is what was in an output read?
    bool isRead(::mlir::OpOperand &output) { return !getFromZero() && output.get() == getSum(); }
    /// Memory for 16 rows of whole tiles; null if there is none.
    ::mlir::Value getRows() { return getOutputs().size() > 1 ? getOutputs()[1] : ::mlir::Value(); }
    /// Has a sum of such a shape rows or columns for which that is needed?
    static bool needsRows(::llvm::ArrayRef<int64_t> sum, int64_t columns) { return sum[0] < 0 || sum[0] % 32 != 0 || sum[1] != columns; }
    /// Elements in 32 bits.
    int64_t groupSize() { return 32 / ::mlir::getElementTypeOrSelf(getA().getType()).getIntOrFloatBitWidth(); }
  }];
  let hasVerifier = 1;
}

def Plim_UnpackPanelsOp : Plim_Op<"unpack_panels", [Pure]> {
  let summary = "an operand of a product, of which there are panels";
  let description = [{
    The tensor whose elements `panels` has in another order: first the number of a panel, which holds as many neighbours along dimension
    `column` of the result as the innermost dimension of `panels` has places, zeros behind the last; then the other dimensions of
    the result, in the order of `rest`; innermost the columns of the panel. So `result[k, n]` is `panels[n / 32, k, n % 32]` where 32 is that
    width, `column` is 1 and `rest` is `[0]`. Panels for `plim.dot_groups` have elements of 32 bits that hold `group` neighbours along
    dimension `grouped` of the result, the first in the low bits, zeros behind the last: integers of fewer bits than a member of a group
    extended in either way.

    `plim-pack-constants` makes it, and `plim-pack-panels` reads the panels themselves in its place.

    ```mlir
    %w = plim.unpack_panels %panels {column = 1 : i64, rest = array<i64: 0>} : tensor<16x768x32xf32> -> tensor<768x500xf32>
    %v = plim.unpack_panels %bytes {column = 1 : i64, rest = array<i64: 0>, grouped = 0 : i64, group = 4 : i64}
        : tensor<16x192x32xi32> -> tensor<768x500xi8>
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$panels, I64Attr:$column, DenseI64ArrayAttr:$rest,
                       OptionalAttr<I64Attr>:$grouped, DefaultValuedAttr<I64Attr, "1">:$group);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$panels attr-dict `:` type($panels) `->` type($result)";
  let extraClassDeclaration = [{
    /// Columns of a panel.
    int64_t getWidth() { return getPanels().getType().getShape().back(); }
    /// Do elements of the panels hold neighbours along a dimension of the result?
    bool isGrouped(int64_t dimension) { return getGrouped() && int64_t(*getGrouped()) == dimension; }
  }];
  let hasVerifier = 1;
}

def Plim_RequireOp : Plim_Op<"require", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "fail the call, now, if a condition does not hold";
  let description = [{
    As `cf.assert`, but that the message may name numbers that only the call knows: {0}, {1}, ... stand for
    `values`.

    ```mlir
    %same = arith.cmpi eq, %k0, %k1 : index
    plim.require %same, "net.mlir:4:8: 'linalg.matmul': extent 1 of argument #0 is {0}, ..."(%k0, %k1)
    ```
  }];
  let arguments = (ins I1:$condition, StrAttr:$message, Variadic<Index>:$values);
  let assemblyFormat = "$condition `,` $message (`(` $values^ `)`)? attr-dict";
  let hasCanonicalizer = 1;
}

def Plim_PollOp : Plim_Op<"poll"> {
  let summary = "leave the function if the call has been stopped, or has failed";
  let description = [{
    `plim-poll-stops` puts it into loops, so that a stop ends them. What it looks at another thread may set
    at any time: nothing moves across it.
  }];
  let assemblyFormat = "attr-dict";
}

def Plim_AllocOp : Plim_Op<"alloc", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>,
    DeclareOpInterfaceMethods<AllocationOpInterface,
                              ["buildDealloc", "buildClone", "getHoistingKind"]>]> {
  let summary = "an allocation with constraints, and later with its place";
  let description = [{
    Uninitialised memory. On tensors it is `tensor.empty` with constraints, on memrefs
    `memref.alloc` with constraints, released by `memref.dealloc`. It is an op of its own because
    upstream drops the annotations of the ops that it rewrites.

    Constraints, from the author (`plim-import-allocations`):

    - `scope`: `global`, `global.stack`, `global.workspace`, `global.POOL`, `local`, `workgroup`;
    - `candidate_pools`: where a `global` one may live instead, in order of preference: names of
      memories of the target, `stack`, `workspace`;
    - `accessors`: devices that touch it beside those that the IR shows, or `external`;
    - `max_bytes`: a bound for a dynamic size, checked at run time;
    - `alignment` in bytes;
    - `limits`: what of the target's stack limits is different for this allocation.

    `plim-infer-accessors` completes `accessors`, and marks as `automatic` what ends with the frame of
    its function: a `memref.alloca` that is carried around. `plim-place-allocations` rewrites `scope` to the
    place that it chose, one of `candidates`, and says how many `bytes` it takes at most, the
    `reason`, and at which `level` it was decided. `plim-plan-memory` adds the `offset` in the slab
    or pool of the call and the `lifetime`, in positions of the function; a planned allocation has
    no `memref.dealloc`. Where only the call knows the sizes it adds the `slot`: which of the offsets
    that the call is given is that of the allocation.

    ```mlir
    %t = plim.alloc(%n) {candidate_pools = ["sram", "dram"], max_bytes = 4096 : i64}
         : tensor<?x4xf32>
    %b = plim.alloc() {accessors = ["host"], bytes = 64 : i64, candidates = ["stack", "workspace"],
         level = "target", offset = 128 : i64, reason = "...", scope = "global.workspace"}
         : memref<16xf32>
    ```
  }];
  let arguments = (ins Variadic<Index>:$dynamicSizes,
                       DefaultValuedAttr<StrAttr, "\"global\"">:$scope,
                       OptionalAttr<StrArrayAttr>:$candidate_pools,
                       OptionalAttr<StrArrayAttr>:$accessors,
                       OptionalAttr<I64Attr>:$max_bytes,
                       OptionalAttr<I64Attr>:$alignment,
                       OptionalAttr<DictionaryAttr>:$limits,
                       UnitAttr:$automatic,
                       OptionalAttr<StrArrayAttr>:$candidates,
                       OptionalAttr<I64Attr>:$bytes,
                       OptionalAttr<StrAttr>:$reason,
                       OptionalAttr<StrAttr>:$level,
                       OptionalAttr<I64Attr>:$offset,
                       OptionalAttr<I64Attr>:$slot,
                       OptionalAttr<DenseI64ArrayAttr>:$lifetime);
  let results = (outs Plim_Buffer:$result);
  let assemblyFormat = "`(` $dynamicSizes `)` attr-dict `:` type($result)";
  let extraClassDeclaration = [{
    ::mlir::ShapedType getType() { return ::mlir::cast<::mlir::ShapedType>(getResult().getType()); }
    bool isOnTensor() { return ::mlir::isa<::mlir::TensorType>(getResult().getType()); }
    /// The extents, static ones as attributes.
    ::llvm::SmallVector<::mlir::OpFoldResult> getMixedSizes();
    /// Has the author said where it may live, so that it must exist as a buffer of its own?
    bool isPinned();
    /// Has it a place in the slab or in a pool?
    bool isPlanned() { return getOffset() || getSlot(); }
    /// Its alignment in the frame of a function, bytes. Needs `bytes`.
    int64_t getFrameAlignment();
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

#endif
