#ifndef PLIM_TRANSFORMS_PASSES
#define PLIM_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def PlimImportAllocations : Pass<"plim-import-allocations", "::mlir::ModuleOp"> {
  let summary = "Turn annotated allocations into plim.alloc";
  let description = [{
    `tensor.empty`, `bufferization.alloc_tensor` and `memref.alloc` with a constraint (`plim.scope`,
    `plim.candidate_pools`, `plim.accessors`, `plim.max_bytes`, `plim.limits`) become `plim.alloc`,
    so that no pass in between drops it. Runs first for that reason, and refuses what only the engine
    may say: ops of the dialect but plim.context, and its other attributes, which later stages believe. A dynamic size
    with a `max_bytes` is compared with it at run time.

    ```mlir
    %t = tensor.empty(%n) {plim.scope = "global.sram", plim.max_bytes = 1024 : i64} : tensor<?xf32>
    // becomes
    cf.assert %fits, "net.mlir:3:8: the allocation takes more than its max_bytes of 1024"
    %t = plim.alloc(%n) {max_bytes = 1024 : i64, scope = "global.sram"} : tensor<?xf32>
    ```
  }];
  let dependentDialects = ["::plim::ir::PlimDialect", "::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"imported", "imported", "allocations with constraints">];
}

def PlimNormalize : Pass<"plim-normalize", "::mlir::func::FuncOp"> {
  let summary = "Say in other words what upstream's folders get wrong";
  let description = [{
    Folders run wherever patterns do, and none can be left out as a pattern can (`Cleanup.h`). So what they
    are wrong about goes before the first of them runs:

    - claims that the author makes of integers (`overflow<nsw>`, `exact`, `nneg`): they wrap as all others
      do, and upstream keeps claims of one op for another one;
    - constants without elements, which upstream takes for some of equal elements, and reads one;
    - `index.ceildivs`, of which the smallest number gets the wrong sign;
    - `math.ipowi` of indices, for which there is no function;
    - sums, differences and logarithms of complex numbers, which are folded as if nothing were rounded
      and as if angles had no end;
    - loops that count in fewer than 64 bits, whose number of iterations wraps;
    - slices that drop one of several dimensions of size one, or one behind a size that may turn out to be one:
      which one they drop is guessed anew from sizes and strides. They keep all of them, and become of the other
      rank as a reshape;
    - concatenations, which are taken apart into insertions: that extents agree is required before;
    - operations on vectors that lose a mask or an accumulator, or have no lowering (`NormalizeVectors.h`).

    ```mlir
    %s = tensor.extract_slice %x[0, %i, 0] [1, 1, 8] [1, 1, 1] : tensor<1x4x8xf32> to tensor<1x8xf32>
    // becomes
    %w = tensor.extract_slice %x[0, %i, 0] [1, 1, 8] [1, 1, 1] : tensor<1x4x8xf32> to tensor<1x1x8xf32>
    %s = tensor.collapse_shape %w [[0, 1], [2]] : tensor<1x1x8xf32> into tensor<1x8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::complex::ComplexDialect",
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::vector::VectorDialect", "::plim::ir::PlimDialect"];
  let statistics = [Statistic<"normalized", "normalized", "ops that were said in other words">];
}

def PlimCheckOperations : Pass<"plim-check-operations", "::mlir::ModuleOp"> {
  let summary = "Refuse operations that nothing here can run";
  let description = [{
    The first pass of all: each operation that no later stage knows is an error that says where it stands and
    why, also where nothing uses it. What the registered dialects have besides runs, or is refused by the pass
    whose business its operands are; docs/reference/operations.md lists all of it. So is an attribute whose name is nearly
    that of one that the operation could have and has not: `strids` would be kept, and mean nothing.

    ```mlir
    vector.print %a : f32
    // error: 'vector.print' is not supported: a function returns what it computes, ...
    ```
  }];
}

def PlimDecompose : Pass<"plim-decompose", "::mlir::func::FuncOp"> {
  let summary = "Express rare operations in those that the pipeline knows";
  let description = [{
    Runs before `plim-import`, behind the conversions of TOSA and of arithmetic on tensors:

    - `tensor.gather` becomes a `linalg.generic` that reads at coordinates, `tensor.scatter` loops over
      `tensor.insert_slice`, `tensor.bitcast` an elementwise `arith.bitcast`;
    - `linalg.pack` with tiles of dynamic size becomes a pad, an `expand_shape` and a transpose (static tiles are
      `plim-import`'s), transforms of Winograd their products;
    - `math.clampf` and the classes of numbers that LLVM has no conversion for become comparisons;
    - loops and branches of the affine dialect in functions over tensors become those of `scf`;
    - `memref.distinct_objects` goes, and the result of `memref.generic_atomic_rmw` is what was stored, which
      upstream's lowering misses;
    - `bufferization.dealloc_tensor` goes: who releases what the compiler finds out.

    ```mlir
    %r = tensor.gather %x[%i] gather_dims([0]) : (tensor<?x2xf32>, tensor<3x1xindex>) -> tensor<3x2xf32>
    // becomes
    %r = linalg.generic ... outs(%e : tensor<3x2xf32>) {
      %row = linalg.index 0 : index
      %column = linalg.index 1 : index
      %c = tensor.extract %i[%row, %c0] : tensor<3x1xindex>
      %v = tensor.extract %x[%c, %column] : tensor<?x2xf32>
      linalg.yield %v : f32
    }
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::vector::VectorDialect"];
}

def PlimImport : Pass<"plim-import", "::mlir::ModuleOp"> {
  let summary = "Check what comes in and bring it to the forms that the pipeline knows";
  let description = [{
    Runs after the upstream conversions to linalg and after inlining. It

    - rejects what the engine cannot run, each with one located error: unsupported types at the
      boundary of a public function, tensors whose size in bytes does not fit the address space,
      writable tensors of constants, calls through values, whose stack has no bound;
    - turns private declarations into `plim.external`, which the host application binds at link, and
      calls of them into `plim.call`, with the context and with a destination for each tensor result
      (docs/design/external-functions.md);
    - marks functions without any tensor as kernels (`plim.kernel`) and the tensor arguments of all
      others as not writable;
    - turns `ml_program` globals into memref globals: a load from a mutable one is a copy, a store
      writes in place; an extern one becomes a declaration that is bound to a parameter at load;
    - decomposes aggregate and shape-changing tensor ops (softmax, pad, concat, generate, splat)
      and generalises named ops, so that later passes see `linalg.generic`, `linalg.fill` and
      slices.

    ```mlir
    %p = tensor.splat %x : tensor<8xf32>
    // becomes
    %e = tensor.empty() : tensor<8xf32>
    %p = linalg.fill ins(%x : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>

    func.func private @sum(memref<?xf32> {plim.access = #plim.access<readonly>}) -> f32
    %s = func.call @sum(%row) : (memref<?xf32>) -> f32
    // becomes
    plim.external @sum : (memref<?xf32>) -> f32
        {accesses = [#plim.access<readonly>], donations = array<i64: -1>}
    %context = plim.context : !plim.context
    %s = plim.call @sum(%context, %row) {accesses = [#plim.access<readonly>],
             destinations = array<i64>} : (!plim.context, memref<?xf32>) -> f32
    ```
  }];
  let dependentDialects = ["::plim::ir::PlimDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect",
                           "::mlir::affine::AffineDialect",
                           "::mlir::bufferization::BufferizationDialect"];
  let statistics = [
    Statistic<"externals", "externals", "functions of the host application">,
    Statistic<"kernels", "kernels", "functions without tensors">,
    Statistic<"globals", "globals", "ml_program globals converted">];
}

def PlimWidenStorageFloats : Pass<"plim-widen-storage-floats", "::mlir::func::FuncOp"> {
  let summary = "Compute with floats of 8 bits in f32";
  let description = [{
    f8E4M3FN and f8E5M2 are types to store numbers in. Each operation of `arith` and `math` on them becomes one on
    f32, whose result is rounded: before anything is fused or reordered, so that no sum is rounded at other places
    than its author sees. Runs behind `plim-import`; named linalg ops that are not generic yet become so.
    The conversions stay until `plim-lower-to-llvm`, which writes them as arithmetic on bits.

    ```mlir
    %s = arith.addf %a, %b : f8E5M2
    // becomes
    %x = arith.extf %a : f8E5M2 to f32
    %y = arith.extf %b : f8E5M2 to f32
    %w = arith.addf %x, %y : f32
    %s = arith.truncf %w : f32 to f8E5M2
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect"];
  let statistics = [Statistic<"widened", "widened", "operations computed in f32">];
}

def PlimCheckArithmetic : Pass<"plim-check-arithmetic", "::mlir::func::FuncOp"> {
  let summary = "Make operations on numbers that may have no result a value or a located error";
  let description = [{
    What valid IR can do with numbers is a value or an error of the call, in every kind of function. Errors,
    with the location of the op:

    - integers divided by zero (`arith`, `index`, affine maps with a symbol as divisor, which must be
      positive), and zero to a negative power (`math.ipowi`);
    - a position in a vector, or a dimension of a tensor or memref, that does not exist; one that only the call
      knows (`tensor.dim %x, %i`) is chosen among all;
    - a loop whose step is zero or less.

    ```mlir
    %q = arith.divsi %a, %b : i32
    // becomes
    %nonzero = arith.cmpi ne, %b, %c0 : i32
    cf.assert %nonzero, "f.mlir:2:8: integer division by zero" {plim.implied}
    %wraps = (%b == -1) & (%a == -2147483648)
    %divisor = arith.select %wraps, %c1, %b : i32
    %q = arith.divsi %a, %divisor : i32
    ```

    In the body of a linalg op it is `plim.check`, which a loop around it does not have to leave; the code goes
    on with a divisor of one. The smallest number divided by -1 wraps, as products do.

    What authors promise beyond the operation (`overflow<nsw>`, `exact`) `plim-normalize` has dropped, since LLVM
    may do anything where it is not kept; `ub.poison` is zero. Flags of floating-point math stay: a result that they do not allow
    is any number. `plim-define-arithmetic` gives values to the rest.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect", "::mlir::vector::VectorDialect",
                           "::plim::ir::PlimDialect"];
  let statistics = [Statistic<"checks", "checks", "run-time comparisons inserted">,
                    Statistic<"replaced", "replaced", "ops of other dialects replaced by arith">];
}

def PlimCheckShapes : Pass<"plim-check-shapes", "::mlir::func::FuncOp"> {
  let summary = "Check at run time that nothing is accessed outside of a buffer";
  let description = [{
    No function with tensors accesses anything outside of a buffer, whatever its arguments are: what cannot
    be proven at load is a comparison in front of the op, and one that does not hold fails the call with
    the place and the name of the op and the numbers that do not fit. What always holds leaves nothing.
    `docs/design/bounds.md` has a row for each kind of access.

    A linalg op that ties two extents to one loop is undefined when they differ; other index expressions are
    followed over the whole range of the loops.

    ```mlir
    %k0 = tensor.dim %a, %c1 : tensor<?x?xf32>
    %k1 = tensor.dim %b, %c0 : tensor<?x?xf32>
    %same = arith.cmpi eq, %k0, %k1 : index
    plim.require %same, "net.mlir:4:8: 'linalg.matmul': extent 1 of argument #0 is {0}, but extent 0 of
                         argument #1 is {1}"(%k0, %k1)
    ```

    An element that is accessed at an index which neither the loops nor its type keep inside is checked
    where it is used: in host code by `plim.require`, in the body of an op by `plim.check`, which a loop
    around it does not have to leave. Nothing is read where the check fails.

    ```mlir
    %v = tensor.extract %table[%i] : tensor<?xf32>
    // in a body becomes
    %inside = arith.cmpi ult, %i, %n : index
    %ok = plim.check %inside, "gather.mlir:9:10: index out of range in dimension 0 of tensor<?xf32>"
    %v = scf.if %ok -> f32 { tensor.extract ... } else { zero }
    ```

    What a kernel does to memory is its author's own.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::complex::ComplexDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::vector::VectorDialect", "::plim::ir::PlimDialect"];
  let statistics = [Statistic<"checks", "checks", "run-time comparisons inserted">];
}

def PlimSpecializeExtents : Pass<"plim-specialize-extents", "::mlir::ModuleOp"> {
  let summary = "Make the dynamic extents of one function's arguments static";
  let description = [{
    Keeps one public function, for arguments whose dynamic extents are those of `extents`, in the order of the
    arguments and their dimensions. Other functions stay as far as that one needs them. Casts carry
    the old types to the body, upstream's canonicalisation takes what is known through it, and results
    whose extents are known then get static types too.

    Runs when the checks of extents are in place: those that hold fold away, one that does not fails
    the call as it always did. The other way round, canonicalisation would see ops that cannot be.

    ```mlir
    func.func @main(%a: tensor<?x4xf32>) -> tensor<?x4xf32>
    // with function=main extents=8 becomes
    func.func @main(%a: tensor<8x4xf32>) -> tensor<8x4xf32>
    ```

    A tensor that a loop carries gets a static type too, if the body keeps its extents.

    A function that comes back to itself is an error.
  }];
  let options = [
    Option<"functionName", "function", "std::string", /*default=*/"", "the public function">,
    ListOption<"extents", "extents", "int64_t", "its dynamic extents">];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"specialized", "specialized", "extents made static">];
}

def PlimFuseElementwise : Pass<"plim-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Fuse chains of elementwise ops into one op";
  let description = [{
    Upstream's fusion patterns, restricted to where they neither repeat work nor change results: the
    consumer is elementwise and reads every element of the producer once, the producer does not read
    its destination and has no other user. (Without that, upstream re-applies a producer that
    updates its destination, and evaluates one that feeds a contraction once per product.) An op whose
    destination is a `plim.alloc` stays, with that destination, as it is. An op reads at most 32 tensors and
    has at most 256 ops in its body: longer chains become several.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::affine::AffineDialect"];
  let statistics = [Statistic<"fused", "fused", "producers fused">,
                    Statistic<"missed", "missed", "producers left alone">];
}

def PlimElementwiseToLinalg : Pass<"plim-elementwise-to-linalg", "::mlir::func::FuncOp"> {
  let summary = "Elementwise ops on tensors become linalg ops";
  let description = [{
    As upstream's convert-elementwise-to-linalg, but for a choice between two tensors of dynamic extents by
    one condition: as an elementwise op it would be wrong where the extents differ, as those of the two
    branches of an `scf.if` may. Bufferization chooses between the buffers.

    ```mlir
    %s = arith.addf %a, %b : tensor<?xf32>
    %r = arith.select %c, %s, %a : tensor<?xf32>
    // becomes
    %s = linalg.generic ... ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%a : tensor<?xf32>)
    %r = arith.select %c, %s, %a : tensor<?xf32>
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def PlimPrepareConstants : Pass<"plim-prepare-constants", "::mlir::ModuleOp"> {
  let summary = "Compute once, when the module is linked, what depends on constants alone";
  let description = [{
    What functions compute of constants and parameters alone (`FixedValues.h`) moves to `@plim.prepare`, which the engine runs
    once it has linked the module, and which leaves the results in globals of the module (`plim.prepared`) that nobody writes
    from then on: filters in the order in which convolutions read them, weights that are widened or scaled. Only what computes
    moves, not views of it, and not what is so small that it stands in the code, or four times as large as what it is made of:
    memory would be read where a register does. Equal values are one; their name is a digest of how they come about.

    What only moves elements of one global, and puts zeros behind them (`Arrangement.h`), needs no code: the engine arranges it before
    it runs the function, as `plim.arrangement` says.

    Nothing moves where the host has no pages, so that memory is what was given.

    ```mlir
    %w = bufferization.to_tensor %weights restrict : memref<64x128xi8> to tensor<64x128xi8>
    %f = linalg.generic ins(%w) outs(%e : tensor<64x128xf32>) { arith.sitofp, arith.mulf }
    // becomes
    %g = memref.get_global @plim.prepare.0f3c : memref<64x128xf32>
    %f = bufferization.to_tensor %g restrict : memref<64x128xf32> to tensor<64x128xf32>
    ```
  }];
  let options = [
    Option<"inlineConstantBytes", "inline-constant-bytes", "int64_t", "64", "what is no larger stays in the code">];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect", "::mlir::func::FuncDialect",
                           "::mlir::memref::MemRefDialect"];
  let statistics = [
    Statistic<"prepared", "prepared", "values that are computed once">,
    Statistic<"arranged", "arranged", "those of them that need no code">];
}

def PlimFuseWidening : Pass<"plim-fuse-widening", "::mlir::func::FuncOp"> {
  let summary = "Let products read the narrow numbers that their operands are made from";
  let description = [{
    A sum of products (`Products.h`) whose operand is made by an elementwise op that does nothing but make numbers wider, and take the same
    number away from each, does so itself: less is read, and processors have instructions for products of narrow numbers. The wide
    tensor stays if something else reads it.

    ```mlir
    %wide = linalg.generic .. ins(%x : tensor<?x?xi8>) { arith.extui .. : i8 to i32 }
    %r = linalg.generic .. ins(%wide, %y : tensor<?x?xi32>, tensor<?x?xi32>) { arith.muli, arith.addi }
    // becomes
    %r = linalg.generic .. ins(%x, %y : tensor<?x?xi8>, tensor<?x?xi32>) { arith.extui, arith.muli, arith.addi }
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::affine::AffineDialect"];
  let statistics = [Statistic<"fused", "fused", "operands that products make wider">];
}

def PlimSeparateZeroPoints : Pass<"plim-separate-zero-points", "::mlir::ModuleOp"> {
  let summary = "Take zero points out of sums of products of integers";
  let description = [{
    The sum of (a - za) * (b - zb) is that of a * b, less za times the sum of b, less zb times the sum of a, plus za * zb for
    each term. All of it wraps in the type of the sum, where that holds whatever the numbers are. What is left inside is a
    product as all others, for which processors have instructions; what is added is one elementwise op on the
    result, to which what follows fuses. Sums of weights are constants (`plim-prepare-constants`).

    Zero points are the same for all elements: scalars, tensors of rank 0, or constants. Where one is 0 its terms are left out.
    An op stays as it is where it would not be a product (`Products.h`), where its sums have fewer than eight terms, where it
    multiplies each element of what is to be summed, but a constant, fewer than eight times, and where those would be sums of windows of
    an image. What is not added to zeros is corrected before.

    ```mlir
    %r = linalg.generic ... ins(%a, %b, %za, %zb : tensor<?x?xi8>, tensor<?x?xi8>, i32, i32) outs(%zeros : tensor<?x?xi32>) {
      arith.extsi %x, arith.subi %za, arith.extsi %y, arith.subi %zb, arith.muli, arith.addi
    }
    // becomes
    %p = linalg.generic ... ins(%a, %b) outs(%zeros) { arith.extsi %x, arith.extsi %y, arith.muli, arith.addi }
    %columns = linalg.generic ... ins(%b) outs(%z : tensor<?xi32>) attrs = {plim.split} { arith.extsi, arith.addi }
    %rows = linalg.generic ... ins(%a) outs(%y : tensor<?xi32>) attrs = {plim.split} { arith.extsi, arith.addi }
    %r = linalg.generic ... ins(%p, %rows, %columns) outs(%e) { %p - %zb * %rows - %za * %columns + %k * %za * %zb }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::affine::AffineDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"separated", "separated", "products without zero points inside">];
}

def PlimSplitReductions : Pass<"plim-split-reductions", "::mlir::func::FuncOp"> {
  let summary = "Split long reductions of few results among workgroups";
  let description = [{
    A dispatch has as many workgroups as its parallel loops give. A reduction whose combiner may be reordered, with little of
    those and much to do, becomes one of chunks, which run in parallel from the neutral element of the combiner, and one of
    their results into what the op starts from. What is no whole chunk is folded before that, and runs beside the chunks.
    Reduction loops that follow each other in all operands count as one.

    A chunk is worth a task, whatever number of threads there is: its length depends on the op and the extents that are
    known alone. Where it can be, it divides the loop; a part of a dimension that is not the outermost would be copied, so
    what has no such divisor stays whole there. Operands that are panels (`plim.unpack_panels`) or constants stay whole.

    Elementwise producers of a reduction become part of its body, since a reshape would stand between them. Sums and products of
    f16 and bf16 are taken in f32 to the end (`plim-widen-accumulators`).

    ```mlir
    %r = linalg.generic ins(%x : tensor<?xf32>) outs(%init : tensor<f32>) { arith.addf }
    // becomes
    %rest = linalg.generic ins(%x[%whole...] : tensor<?xf32>) outs(%init : tensor<f32>) { arith.addf }
    %chunks = tensor.expand_shape %x[0...%whole] [[0, 1]] : tensor<?xf32> into tensor<?x131072xf32>
    %e = linalg.fill ins(-0.0) : tensor<?xf32>
    %p = linalg.generic ins(%chunks : tensor<?x131072xf32>) outs(%e : tensor<?xf32>) { arith.addf }
    %r = linalg.generic ins(%p : tensor<?xf32>) outs(%rest : tensor<f32>) { arith.addf }
    ```

    With `strict`, integers alone.
  }];
  let options = [Option<"strict", "strict", "bool", /*default=*/"false",
                        "Every operation on floats rounds as the source says, in its order">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::affine::AffineDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"splitOps", "split", "reductions split among workgroups">];
}

def PlimSeparateDestinations : Pass<"plim-separate-destinations"> {
  let summary = "Let at most 64 ops share a destination";
  let description = [{
    Elimination of common subexpressions leaves one `tensor.empty` for all ops whose results have the same shape. To bufferization
    they are one buffer then, and for each op it compares each read of it with each write: the third power of the number of ops.
    Of every 64 ops the destination becomes one of their own, in front of the first of them. Where lives allow it the memory
    plan lays them over each other.

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
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
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

def PlimDecoupleConstantWrites : Pass<"plim-decouple-constant-writes", "::mlir::func::FuncOp"> {
  let summary = "Give ops whose destination must not be written a destination of their own";
  let description = [{
    Bufferization copies what must stay as it is where it is used as a destination of an op in
    destination-passing style: constants, parameters, arguments that belong to the caller; constants
    also where a loop starts from one. Where the op does not read its destination, that becomes
    `tensor.empty`. An elementwise op reads the old value as an input instead, a splat as a scalar. Else a splat becomes a
    fill, and anything else the read-only input of a copy; both become part of the dispatch.

    The other way round, an elementwise op reads an input where it writes, if the destination is that
    input, or is empty and nothing else needs what a loop carries around: as two operands of a dispatch
    they would be two buffers.

    ```mlir
    %c = arith.constant dense<0.0> : tensor<4x4xf32>
    %r = linalg.generic ... outs(%c : tensor<4x4xf32>) // a reduction
    // becomes
    %e = tensor.empty() : tensor<4x4xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
    %r = linalg.generic ... outs(%f : tensor<4x4xf32>)
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"decoupled", "decoupled", "destinations replaced">,
    Statistic<"reread", "reread", "of these, read as an input instead">,
    Statistic<"inPlace", "in-place", "inputs that are read where the result is written">,
    Statistic<"copied", "copied", "of these, copied">];
}

def PlimViewSlices : Pass<"plim-view-slices", "::mlir::ModuleOp"> {
  let summary = "Compute what is inserted as a slice where it is inserted";
  let description = [{
    Upstream's elimination of empty tensors, for slices whose elements lie next to each other: a
    concatenation along the first dimension needs no buffers for its parts, and nothing is copied. What
    is not dense could not be bound to a dispatch.

    ```mlir
    %x = linalg.exp ins(%a : ...) outs(%e : tensor<4x8xf32>)   // %e is empty
    %r = tensor.insert_slice %x into %d[3, 0] [4, 8] [1, 1]
    // becomes
    %s = tensor.extract_slice %d[3, 0] [4, 8] [1, 1]
    %x = linalg.exp ins(%a : ...) outs(%s : tensor<4x8xf32>)
    %r = tensor.insert_slice %x into %d[3, 0] [4, 8] [1, 1]
    ```
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect",
                           "::mlir::bufferization::BufferizationDialect"];
  let statistics = [Statistic<"views", "views", "empty tensors that became slices">];
}

def PlimFormDispatches : Pass<"plim-form-dispatches", "::mlir::ModuleOp"> {
  let summary = "Group tensor ops into dispatches and outline them";
  let description = [{
    Walks each block backwards. An op with tensor results that computes something becomes the root
    of a dispatch; its producers join when all their uses are inside, and when tiling the root over
    at least one of its parallel loops tiles them without computing anything twice. So elementwise
    consumers fuse with the contraction or reduction they follow, and chains of row-wise reductions
    (softmax, layer normalisation) become one dispatch; those nearest to the root come first, as many as
    a dispatch may have. An operand of a product is worth having in memory, unless it is the rows of one with at most 256
    columns and is larger than the result: these are computed by the workgroup that needs them, and stay in its caches. So
    attention is one dispatch. What computes them may be a product itself if its sums have at most 256 terms, and there must be
    48 rows. The border of an image, which is inserted into a tensor that is filled, joins what reads windows of it, if the image has
    at least as many elements as the filters: each workgroup makes its part (`plim-tile-borders`). Fills and copies that make destinations, empty
    tensors and constants that are scalars, splats or small are repeated in each dispatch that uses
    them. So are slices that are only read element by element or inserted elsewhere: those that lie side by side along their
    last dimension, and others that are read once. A product has a copy of its own. An elementwise op whose result is inserted into
    something that it does not read, nor an older version of it, is computed there. Slices whose elements lie next to each other are views of what they are slices of, and so are
    the results that ops write into such a slice.

    Halves of a reduction that `plim-split-reductions` has split join nothing that would take workgroups from them, or lose its own.

    ```mlir
    %m = linalg.generic ...          // a contraction
    %r = linalg.generic ins(%m) ...  // relu
    // becomes
    %r = plim.dispatch @main_contraction_0 ins(%a, %b : ...) outs(%e : ...) -> tensor<4x8xf32>
    ```
  }];
  let dependentDialects = ["::plim::ir::PlimDialect", "::mlir::complex::ComplexDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::vector::VectorDialect"];
  let options = [Option<"fuse", "fuse", "bool", /*default=*/"true",
                        "Fuse producers; off, each op is a dispatch: the oracle">,
                 Option<"fuseForCaches", "fuse-for-caches", "bool", /*default=*/"true",
                        "Fuse what pays where a workgroup has caches, rows of products and borders of images; off "
                        "where compilers of devices, which know fewer ops at once, may get them">,
                 Option<"maxOps", "max-ops", "size_t", /*default=*/"32",
                        "Ops of a dispatch at most: each is loops of its own, and the code generator "
                        "takes more than twice as long for twice of them; what people write has ten">,
                 Option<"inlineConstantBytes", "inline-constant-bytes", "int64_t", /*default=*/"0",
                        "Constants of at most so many bytes are copied into dispatches, too; none, "
                        "since only a target knows what is small">];
  let statistics = [
    Statistic<"dispatches", "dispatches", "dispatches formed">,
    Statistic<"inlined", "inlined", "constants, other than scalars and splats, copied into a dispatch">,
    Statistic<"fused", "fused", "producers fused into a dispatch">,
    Statistic<"missed", "missed", "producers with one consumer that could not be fused">];
}

def PlimAssignDevices : Pass<"plim-assign-devices", "::mlir::ModuleOp"> {
  let summary = "Say which device of the target runs each dispatch";
  let description = [{
    A `plim.device` annotation on a dispatch names a device of `dlti.target_system_spec` that must run
    it: the host, a CPU of its kind, or one of `devices`, for which there is a compiler. Any other is an
    error. A dispatch without annotation is for `preferred`, if that is given, and `plim.fallback_device`
    says who runs it if that device does not take it; otherwise it is for the first device, the host.
    With `host-only` the host runs all of them, whatever is annotated.

    ```mlir
    %r = plim.dispatch @matmul ins(%a, %b : ...) outs(%e : ...) -> ...
    // becomes, with preferred=npu
    %r = plim.dispatch @matmul ins(%a, %b : ...) outs(%e : ...)
             {plim.device = "npu", plim.fallback_device = "host"} -> ...
    ```
  }];
  let options = [
    ListOption<"devices", "devices", "std::string", "accelerators that there is a compiler for">,
    Option<"preferred", "preferred", "std::string", "",
           "the one of them that gets what names no device">,
    Option<"hostOnly", "host-only", "bool", "false", "the host runs everything">];
  let statistics = [Statistic<"assigned", "assigned", "dispatches that name no device">];
}

def PlimMergeDispatches : Pass<"plim-merge-dispatches", "::mlir::ModuleOp"> {
  let summary = "Keep one function for dispatches that compute the same";
  let description = [{
    Dispatch functions that differ in nothing but their names become one: layers of a network that are
    alike are compiled once. Where only the values of small tensors differ, or of constant scalars that are
    operands of fills and other linalg ops, the value becomes an operand of the dispatch. One that all
    agree on stays a constant, which the code generator can fold.

    ```mlir
    %0 = plim.dispatch @main_contraction_0 ins(%x, %a : ...) outs(%e : ...)  // fills with 0.0
    %1 = plim.dispatch @main_contraction_1 ins(%0, %b : ...) outs(%e : ...)  // fills with 1.0
    // becomes
    %0 = plim.dispatch @main_contraction_0 ins(%x, %a, %zero : ..., f32) outs(%e : ...)
    %1 = plim.dispatch @main_contraction_0 ins(%0, %b, %one : ..., f32) outs(%e : ...)
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"merged", "merged", "dispatch functions that another one stands for">,
    Statistic<"operands", "operands", "constants that became operands">];
}

def PlimInferAccess : Pass<"plim-infer-access", "::mlir::ModuleOp"> {
  let summary = "Infer what is read and written, and hold it against what is declared";
  let description = [{
    For a dispatch: an input is `readonly`. An output is `writeonly` when the dispatch function overwrites
    all of it without using what it held: it reaches only destination operands whose element the op's
    body does not use. Else it is `readwrite`. The result stands on the arguments of the dispatch function
    (`plim.access`) and on the dispatches.

    For a memref argument of any other function: what any op does to its memory, through views, control
    flow, calls and returns. What the author declares (`plim.access`) stays, and is an error where an op
    does more. A function must not free an argument, and nothing may write to a constant; a public
    function that returns one would let its caller write.

    ```mlir
    func.func @f(%x: memref<4xf32>, %y: memref<4xf32>) {
      memref.copy %x, %y : memref<4xf32> to memref<4xf32>
    // becomes
    func.func @f(%x: memref<4xf32> {plim.access = #plim.access<readonly>},
                 %y: memref<4xf32> {plim.access = #plim.access<writeonly>}) {
    ```
  }];
  let dependentDialects = ["::plim::ir::PlimDialect"];
  let statistics = [
    Statistic<"readOnly", "readonly", "read-only bindings">,
    Statistic<"writeOnly", "writeonly", "write-only bindings">,
    Statistic<"readWrite", "readwrite", "read-write bindings">];
}

def PlimOutlineBufferOps : Pass<"plim-outline-buffer-ops", "::mlir::ModuleOp"> {
  let summary = "Make dispatches of linalg on the buffers of kernels";
  let description = [{
    An operation of linalg on buffers of a kernel, and the `linalg.fill` in front of it that gives its result the first value, become a
    dispatch on tensors, which code generation tiles and vectorises. That holds if no two of its buffers have an element in
    common: where they are arguments, the call tells (`plim.are_apart`), and otherwise the op runs as loops over buffers.

    Ops stay where they are if a buffer is a view or has strides, if they read of what they write other elements than the one that they
    write, with several results, with a body that has other effects, in parallel loops, and with 4096 scalar operations or fewer.

    ```mlir
    func.func @f(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %c: memref<64x64xf32>) attributes {plim.kernel} {
      linalg.matmul ins(%a, %b : ..) outs(%c : ..)
    // becomes
      %apart = plim.are_apart : i1
      scf.if %apart { plim.dispatch @f_matmul ins(%a, %b : ..) outs(%c : memref<64x64xf32>) } else { linalg.matmul .. }
    ```
  }];
  let dependentDialects = ["::plim::ir::PlimDialect", "::mlir::scf::SCFDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"outlined", "outlined", "ops that became dispatches">,
    Statistic<"kept", "kept", "ops that stay on buffers">];
}

def PlimOutlineParallelLoops : Pass<"plim-outline-parallel-loops", "::mlir::ModuleOp"> {
  let summary = "Make dispatches of the parallel loops of kernels";
  let description = [{
    The outermost `scf.parallel`, `scf.forall` and `affine.parallel` of a kernel become dispatches, whose workgroups
    are ranges of their iterations (plim-choose-workgroups). What they use of the kernel are bindings and scalars; constants
    and views are made again inside. Buffers may be parts of each other, as the arguments of a kernel may: `plim.may_alias`.

    Loops stay where they are if they reduce, if the work is known to be less than a task is worth, if something in them calls, uses a variable
    of the module or allocates memory of a size that is not known, if they write none of the kernel's buffers, or if they use a buffer with
    strides, unless it is a view that is made in the kernel.

    ```mlir
    func.func @scale(%x: memref<?xf32>, %n: index, %f: f32) attributes {plim.kernel} {
      scf.parallel (%i) = (%c0) to (%n) step (%c1) { .. memref.store %v, %x[%i] : memref<?xf32> }
    // becomes
    func.func @scale(..) attributes {plim.kernel} { plim.dispatch @scale_loop ins(%n, %f : index, f32) outs(%x : memref<?xf32>) }
    func.func private @scale_loop(%n: index, %f: f32, %x: memref<?xf32>) attributes {plim.dispatch_function, plim.may_alias} {
      scf.parallel ..
    ```
  }];
  let dependentDialects = ["::plim::ir::PlimDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::vector::VectorDialect"];
  let statistics = [
    Statistic<"outlined", "outlined", "loops that became dispatches">,
    Statistic<"kept", "kept", "loops that the kernel runs">];
}

def PlimOutlineDeviceCode : Pass<"plim-outline-device-code", "::mlir::ModuleOp"> {
  let summary = "Hand dispatch functions of accelerators to their compilers";
  let description = [{
    A dispatch function that an accelerator runs becomes a module of its own, in which it is public and
    named operations stand where the general form of linalg says the same. What the compiler of the device
    makes of its text is the `code` of a `plim.external`, which the dispatch function calls instead of
    computing: its operands are those of the function, each destination donated to its result. One
    launch has one workgroup.

    A device that does not take it is an error if the author has named it, with the reason; else
    `plim.fallback_device` runs the dispatch, and `plim.refusal` keeps the reason for reports. No compiler
    is asked for functions with operations of the plim dialect, which checks of indices are: nobody
    outside knows them. In `plimsoll-opt` every device takes everything, and the text is the code.

    ```mlir
    func.func private @main_0(%a: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
      %r = linalg.exp ins(%a : tensor<?xf32>) outs(%o : tensor<?xf32>) -> tensor<?xf32>
      return %r : tensor<?xf32>
    }
    // becomes
    plim.external @npu.main_0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
        {accesses = [#plim.access<readonly>, #plim.access<writeonly>], code = "...", device = "npu",
         donations = array<i64: 1>, pure}
    func.func private @main_0(%a: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
      %context = plim.context : !plim.context
      %r = plim.call @npu.main_0(%context, %a, %o) {destinations = array<i64: 2>, ...}
      return %r : tensor<?xf32>
    }
    ```
  }];
  let constructor = "::plim::ir::createPlimOutlineDeviceCode()";
  let dependentDialects = ["::plim::ir::PlimDialect"];
  let statistics = [
    Statistic<"outlined", "outlined", "dispatch functions that accelerators run">,
    Statistic<"refused", "refused", "dispatch functions that they did not take">];
}

def PlimBindArguments : Pass<"plim-bind-arguments", "::mlir::ModuleOp"> {
  let summary = "Give dispatch functions and kernels their bare-pointer signature";
  let description = [{
    Arguments of a dispatch function or kernel become: a rank-0 memref per binding (a bare pointer
    later), then the scalars, then an index per dynamic extent of the bindings. Dispatch functions
    compute on tensors over these buffers and write their results in place.

    ```mlir
    func.func private @d(%a: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32>
    // becomes
    func.func private @d(%a: memref<f32>, %o: memref<f32>, %a_0: index, %o_0: index) {
      %m = memref.reinterpret_cast %a to offset: [0], sizes: [%a_0], strides: [1]
      %t = bufferization.to_tensor %m restrict
      ...
      bufferization.materialize_in_destination %r in restrict writable %out
      return
    }
    ```
    A kernel keeps the order of its scalars and buffers in its own argument list.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::affine::AffineDialect",
                           "::mlir::bufferization::BufferizationDialect"];
  let statistics = [
    Statistic<"buffers", "buffers", "buffers that became bare pointers">,
    Statistic<"extents", "extents", "dynamic extents passed beside them">];
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
    slab while it runs: `plim.scratch_offset` of the dispatch says where.

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
  }];
  let statistics = [Statistic<"verified", "verified", "allocations looked at">];
}

def PlimGroupDispatches : Pass<"plim-group-dispatches", "::mlir::ModuleOp"> {
  let summary = "Find dispatches that may run at the same time, before their buffers have a place";
  let description = [{
    A group is a `plim.schedule` in which none waits for another. To the planner it is one position, so
    buffers of its dispatches are apart; `plim-schedule` then asks only what the places leave open.

    Two dispatches of a block depend on each other when they share memory and one of them writes it.
    What they share follows from their accesses and from where their buffers come from, through
    views, branches and loops: two allocations are distinct, and so are they and everything that was
    there before; arguments may alias each other and globals. Slices of one buffer that have no element
    in common are distinct too.

    A dispatch joins an earlier one when it depends neither on that one nor on anything between that
    would have to stay behind. Allocations, checks and computations of scalars that it needs move
    ahead of the group; a check never moves ahead of a write that the caller could see. Copies,
    loads and stores order by the memory they touch, calls and ops with regions end the search.

    ```mlir
    plim.dispatch @q ins(%x, %wq : ...) outs(%q : ...)
    plim.dispatch @k ins(%x, %wk : ...) outs(%k : ...)
    plim.dispatch @scores ins(%q, %k : ...) outs(%s : ...)
    // becomes
    plim.schedule {
      plim.dispatch @q ins(%x, %wq : ...) outs(%q : ...)
      plim.dispatch @k ins(%x, %wk : ...) outs(%k : ...)
    }
    plim.dispatch @scores ins(%q, %k : ...) outs(%s : ...)
    ```
  }];
  let dependentDialects = ["::plim::ir::PlimDialect"];
  let statistics = [
    Statistic<"groups", "groups", "groups formed">,
    Statistic<"grouped", "grouped", "dispatches in a group">,
    Statistic<"missed", "missed", "dispatches that run alone">];
}

def PlimSchedule : Pass<"plim-schedule", "::mlir::ModuleOp"> {
  let summary = "Join the dispatches of a block, with the dependences between them";
  let description = [{
    Dispatches and groups that follow each other become one `plim.schedule`, the runtime's unit of work,
    in which each dispatch waits for those only whose results or places it needs. Runs after planning: two
    dispatches depend on each other when one writes memory that the other one touches, and planned
    allocations are the same memory where they overlap in their slab or pool. For those that only a call
    places their lifetimes tell: what lives at the same time is apart. Of the dependences those stay that do not
    follow from others.

    What stands between two dispatches and touches none of their memory moves ahead of them:
    allocations, sizes, loads, checks unless a dispatch has written what the caller could see. Anything else, a
    release of unplanned memory too, begins a new schedule, and so does the 65th dispatch.

    ```mlir
    plim.schedule {
      plim.dispatch @q ins(%x, %wq : ...) outs(%q : ...)
      plim.dispatch @k ins(%x, %wk : ...) outs(%k : ...)
    }
    plim.dispatch @squares ins(%q : ...) outs(%s : ...)
    plim.dispatch @scores ins(%s, %k : ...) outs(%t : ...)
    // becomes
    plim.schedule {
      plim.dispatch @q ins(%x, %wq : ...) outs(%q : ...)
      plim.dispatch @k ins(%x, %wk : ...) outs(%k : ...)
      plim.dispatch @squares ins(%q : ...) outs(%s : ...)
      plim.dispatch @scores ins(%s, %k : ...) outs(%t : ...)
    } {predecessors = [array<i64>, array<i64>, array<i64: 0>, array<i64: 1, 2>]}
    ```
  }];
  let dependentDialects = ["::plim::ir::PlimDialect"];
  let statistics = [
    Statistic<"schedules", "schedules", "schedules formed">,
    Statistic<"scheduled", "scheduled", "dispatches in a schedule">,
    Statistic<"dependences", "dependences", "dependences between them">];
}

#endif
