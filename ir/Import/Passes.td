#ifndef PLIM_IMPORT_PASSES
#define PLIM_IMPORT_PASSES

include "mlir/Pass/PassBase.td"

def PlimImportAllocations : Pass<"plim-import-allocations", "::mlir::ModuleOp"> {
  let summary = "Turn annotated allocations into plim.alloc";
  let description = [{
    `tensor.empty`, `bufferization.alloc_tensor` and `memref.alloc` with a constraint (`plim.scope`,
    `plim.candidate_pools`, `plim.accessors`, `plim.max_bytes`, `plim.limits`) become `plim.alloc`,
    so that no pass in between drops it. Runs first for that reason, and refuses what only the engine
    may say: ops of the dialect but plim.context, and its other attributes, which later stages believe. A dynamic size
    with a `max_bytes` is compared with it at run time. `plim.round_rows` goes from a product to the op in its body that
    multiplies, for the same reason.

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
  let statistics = [Statistic<"checked", "checked", "operations of the source">];
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
    - loops and branches of the affine dialect in functions over tensors become those of `scf`, and a switch that yields a tensor becomes
      branches: bufferization takes what it yields for something that may be written over;
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
  let statistics = [Statistic<"changed", "changed", "functions with rare operations">];
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
  let statistics = [Statistic<"converted", "converted", "operations on whole tensors">,
                    Statistic<"missed", "missed", "choices of one tensor of two, which stay">];
}

#endif
