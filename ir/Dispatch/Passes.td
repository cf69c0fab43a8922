#ifndef PLIM_DISPATCH_PASSES
#define PLIM_DISPATCH_PASSES

include "mlir/Pass/PassBase.td"

def PlimFuseElementwise : Pass<"plim-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Fuse chains of elementwise ops into one op";
  let description = [{
    Upstream's fusion patterns, restricted to where they neither repeat work nor change results: the
    consumer is elementwise and reads every element of the producer once, the producer does not read
    its destination, has no other user, and is in no fewer loops. (Without that, upstream re-applies a producer that
    updates its destination, and evaluates one that feeds a contraction once per product.) An op whose
    destination is a `plim.alloc` stays, with that destination, as it is. An op reads at most 32 tensors and
    has at most 256 ops in its body: longer chains become several.

    What is computed from places, rows and columns alone, by a few cheap operations, is repeated in each elementwise op that
    uses it, also in more loops: a mask of the places that see each other costs less there than to read, and says what it masks.

    ```mlir
    %a = linalg.generic ... ins(%x) outs(%e) { math.exp }
    %b = linalg.generic ... ins(%a, %y) outs(%e) { arith.addf }
    // becomes
    %b = linalg.generic ... ins(%x, %y) outs(%e) { math.exp, arith.addf }
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::affine::AffineDialect"];
  let statistics = [Statistic<"fused", "fused", "producers fused">,
                    Statistic<"missed", "missed", "producers left alone">];
}

def PlimAlternateUpdates : Pass<"plim-alternate-updates", "::mlir::func::FuncOp"> {
  let summary = "Update what a loop carries in two places by turns";
  let description = [{
    A loop that carries a tensor and inserts a part into it which it computes from other elements of the tensor, as a stencil does in
    each step of time, would need a copy of what it computes, or of the tensor. It gets a second place, and two
    iterations become one, which go from one to the other and back. What is around the part is the same in both: the part is
    the same one in each iteration. The loop itself is what remains of an odd number of iterations.

    Loops are left alone that have less than four iterations, if that is known, or more than 128 ops.

    ```mlir
    %r = scf.for %t = %0 to %n step %1 iter_args(%a = %x) {
      %b = tensor.insert_slice %f(%a) into %a[1, 1] [98, 98] [1, 1]
      scf.yield %b
    }
    // becomes
    %p:2 = scf.for %t = %0 to %even step %2 iter_args(%a = %x, %other = %x) {
      %b = tensor.insert_slice %f(%a) into %other[1, 1] [98, 98] [1, 1]
      %c = tensor.insert_slice %f(%b) into %a[1, 1] [98, 98] [1, 1]
      scf.yield %c, %b
    }
    %r = scf.for %t = %even to %n step %1 iter_args(%a = %p#0) { ... }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"alternated", "alternated", "loops whose iterations go by pairs">];
}

def PlimInterleaveParts : Pass<"plim-interleave-parts", "::mlir::func::FuncOp"> {
  let summary = "Make rows of a few elements at once, not an element of each row at a time";
  let description = [{
    Insertions that together make all of two to eight elements of rows, an element of each row at a time, as a concatenation along a last
    dimension of one does, become one elementwise op that chooses by the place in the row: rows are written once, and vectors of them
    shuffled.

    ```mlir
    %a = tensor.insert_slice %x into %e[0, 0] [1000, 1] [1, 1] : tensor<1000xf32> into tensor<1000x2xf32>
    %b = tensor.insert_slice %y into %a[0, 1] [1000, 1] [1, 1] : tensor<1000xf32> into tensor<1000x2xf32>
    // becomes
    %b = linalg.generic {indexing_maps = [(i, k) -> (i), (i, k) -> (i), (i, k) -> (i, k)], ..} ins(%x, %y) outs(%e) {
      %k = linalg.index 1
      arith.select (%k == 0), %in, %in_0
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"interleaved", "interleaved", "chains of insertions that became an op">];
}

def PlimFuseSiblings : Pass<"plim-fuse-siblings", "::mlir::func::FuncOp"> {
  let summary = "Reduce rows once for all that is wanted of them";
  let description = [{
    Reductions of the same rows, at most three, become one with several results, where none reads what another makes, nothing that has
    effects would have to move, and each may be taken in any order: the least and the largest element, a sum and that of the squares. Memory is read once. Reductions of columns stay
    apart, whose accumulators need the registers.

    ```mlir
    %a = linalg.generic {... ["parallel", "reduction"]} ins(%x) outs(%low) { arith.minimumf }
    %b = linalg.generic {... ["parallel", "reduction"]} ins(%x) outs(%high) { arith.maximumf }
    // becomes
    %r:2 = linalg.generic {... ["parallel", "reduction"]} ins(%x) outs(%low, %high) { arith.minimumf, arith.maximumf }
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
  let statistics = [Statistic<"fused", "fused", "reductions taken into another">,
                    Statistic<"missed", "missed", "reductions that need what the other makes, or what has effects">];
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

def PlimFuseOperands : Pass<"plim-fuse-operands", "::mlir::ModuleOp"> {
  let summary = "Let products read what their operands are made from by widening or transposition";
  let description = [{
    A sum of products (`Products.h`) may have an operand that an elementwise op makes and that does no more than make numbers wider, and
    take the same number away from each. The product does so itself then: less is read, and processors have instructions for products of
    narrow numbers. With a few rows it reads its panel in the order that a transposition started from, too, unless that is made once,
    of constants. What is made stays if something else reads it. A reshape into groups in between comes first.

    ```mlir
    %wide = linalg.generic .. ins(%x : tensor<?x?xi8>) { arith.extui .. : i8 to i32 }
    %r = linalg.generic .. ins(%wide, %y : tensor<?x?xi32>, tensor<?x?xi32>) { arith.muli, arith.addi }
    // becomes
    %r = linalg.generic .. ins(%x, %y : tensor<?x?xi8>, tensor<?x?xi32>) { arith.extui, arith.muli, arith.addi }
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::affine::AffineDialect"];
  let statistics = [Statistic<"fused", "fused", "operands that products make of others">];
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
    their results into what the op starts from. What is no whole chunk is folded on its own, beside the chunks, and added last.
    Reduction loops that follow each other in all operands count as one.

    Sums and products of floats have the chunks that code for whole rows and columns has (`plim-vectorize-rows`,
    `plim-chunk-sums`), 8192 elements or 256 rows, and their results are added in order (`plim.in_order`): nobody can tell whether
    they were split. Of products of matrices, and of what is the same in any order, a chunk is worth a task, whatever number of
    threads there is, and divides the loop where it can. A part of a dimension that is not the outermost is read where it is;
    for a product it would be copied, so what has no such divisor stays whole there. Operands that are panels
    (`plim.unpack_panels`) or constants stay whole.

    Elementwise producers of a reduction become part of its body, since a reshape would stand between them. Sums and products of
    f16 and bf16 are taken in f32 to the end (`plim-widen-accumulators`).

    ```mlir
    %r = linalg.generic ins(%x : tensor<?xf32>) outs(%init : tensor<f32>) { arith.addf }
    // becomes
    %chunks = tensor.expand_shape %x[0...%whole] [[0, 1]] : tensor<?xf32> into tensor<?x8192xf32>
    %e = linalg.fill ins(-0.0) : tensor<?xf32>
    %p = linalg.generic ins(%chunks : tensor<?x8192xf32>) outs(%e : tensor<?xf32>) { arith.addf }
    %sum = linalg.generic {plim.in_order} ins(%p : tensor<?xf32>) outs(%init : tensor<f32>) { arith.addf }
    %rest = linalg.generic ins(%x[%whole...] : tensor<?xf32>) outs(-0.0 : tensor<f32>) { arith.addf }
    %r = linalg.generic ins(%rest : tensor<f32>) outs(%sum : tensor<f32>) { arith.addf }
    ```

    With `strict`, integers alone.
  }];
  let options = [Option<"strict", "strict", "bool", /*default=*/"false",
                        "Every operation on floats rounds as the source says, in its order">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::affine::AffineDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"splitOps", "split", "reductions split among workgroups">];
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
    is not dense could not be bound to a dispatch. In a loop, what else reads an elementwise result that is inserted reads it where it was inserted.

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
    48 rows, or a mask of places, of which a workgroup leaves out what is hidden. The border of an image, which is inserted into a tensor that is filled, joins what reads windows of it, if the image has
    at least as many elements as the filters: each workgroup makes its part (`plim-tile-borders`), unless that is most of a large image. Fills and copies that make destinations, empty
    tensors and constants that are scalars, splats or small are repeated in each dispatch that uses
    them. So are slices that are only read element by element or inserted elsewhere: those that lie side by side along their
    last dimension, and others that are read once. An elementwise op whose result is inserted into
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

def PlimInferBorders : Pass<"plim-infer-borders", "::mlir::ModuleOp"> {
  let summary = "Say of what a dispatch reads where it is zero around the edge";
  let description = [{
    A convolution reads images that another dispatch wrote into zeros. How wide these are at each edge, in all dispatches of the
    function, is an attribute of the argument, so that windows can leave them out (`plim-skip-borders`).

    ```mlir
    %p = plim.dispatch @pad ins(%x) outs(%e) -> tensor<1x64x58x58xf32>   // inserts into zeros at [0, 0, 1, 1]
    %r = plim.dispatch @convolution ins(%p, %w) outs(%o)
    func.func private @convolution(%p: tensor<1x64x58x58xf32> {plim.zero_borders = array<i64: 0, 0, 0, 0, 1, 1, 1, 1>}, ...)
    ```
  }];
  let statistics = [Statistic<"found", "found", "arguments with borders of zeros">];
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

def PlimOutlineForalls : Pass<"plim-outline-foralls", "::mlir::ModuleOp"> {
  let summary = "Make dispatches of parallel loops over tensors";
  let description = [{
    The outermost `scf.forall` of a function becomes a dispatch, of which each iteration is a workgroup. What it shares is the
    destinations, and what else it uses are bindings and scalars; small constants are made again inside.

    Loops stay where they are, and are run one iteration after the other, if something in them calls, has effects or is for a device, if an iteration may
    read or write what another one writes, or if there is a product in them and fewer iterations than cores: each product is a
    dispatch of its own then.

    ```mlir
    %r = scf.forall (%i) in (%n) shared_outs(%o = %out) -> (tensor<?x100xf32>) {
      %row = tensor.extract_slice %x[%i, 0] [1, 100] [1, 1] : tensor<?x100xf32> to tensor<100xf32>
      ..
      scf.forall.in_parallel { tensor.parallel_insert_slice %sorted into %o[%i, 0] [1, 100] [1, 1] : .. }
    }
    // becomes
    %r = plim.dispatch @main_forall ins(%n, %x : index, tensor<?x100xf32>) outs(%out : tensor<?x100xf32>) -> tensor<?x100xf32>
    ```
  }];
  let options = [
    Option<"inlineConstantBytes", "inline-constant-bytes", "int64_t", "64",
           "constants of at most this size are part of the dispatch">];
  let dependentDialects = ["::plim::ir::PlimDialect"];
  let statistics = [
    Statistic<"outlined", "outlined", "loops that became dispatches">,
    Statistic<"kept", "kept", "loops that the function runs">];
}

def PlimOutlineParallelLoops : Pass<"plim-outline-parallel-loops", "::mlir::ModuleOp"> {
  let summary = "Make dispatches of the parallel loops of kernels";
  let description = [{
    The outermost `scf.parallel`, `scf.forall` and `affine.parallel` of a kernel become dispatches, whose workgroups
    are ranges of their iterations (plim-choose-workgroups). What they use of the kernel are bindings and scalars; constants
    and views are made again inside. Views of one buffer may be parts of each other: `plim.may_alias`. So may arguments of the kernel; a
    loop with loops inside becomes two dispatches, of which the one for calls that keep them apart has `llvm.noalias`. Buffers of which at most
    one is an argument have it always.

    A loop that reduces becomes one of at most 64 parts, which store what they reduce, and an `scf.for` that reduces that. Each part,
    and a loop whose reduction is not by one operation with a neutral element, is an `scf.for` that carries the results; its operations
    may be regrouped.

    Loops stay where they are if the work is known to be less than a task is worth, if something in them calls, uses a variable
    of the module or allocates memory of a size that is not known, if they write none of the kernel's buffers, or if they use a buffer with
    strides, unless it is a view that is made in the kernel.

    ```mlir
    func.func @scale(%x: memref<?xf32>, %n: index, %f: f32) attributes {plim.kernel} {
      scf.parallel (%i) = (%c0) to (%n) step (%c1) { .. memref.store %v, %x[%i] : memref<?xf32> }
    // becomes
    func.func @scale(..) attributes {plim.kernel} { plim.dispatch @scale_loop ins(%n, %f : index, f32) outs(%x : memref<?xf32>) }
    func.func private @scale_loop(%n: index, %f: f32, %x: memref<?xf32> {llvm.noalias}) attributes {plim.dispatch_function, plim.may_alias} {
      scf.parallel ..
    ```
  }];
  let dependentDialects = ["::plim::ir::PlimDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::vector::VectorDialect"];
  let options = [Option<"strict", "strict", "bool", /*default=*/"false",
                        "Reduce in the order of the iterations">];
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

#endif
