#ifndef PLIM_CODEGEN_PASSES
#define PLIM_CODEGEN_PASSES

include "mlir/Pass/PassBase.td"

def PlimCountOperations : Pass<"plim-count-operations", "::mlir::func::FuncOp"> {
  let summary = "Count the arithmetic operations of a dispatch function";
  let description = [{
    `plim.operations` receives how many additions, products, functions and the like a run of the dispatch function does as its source has
    them: what reports compare times with. What moves, converts, compares or chooses counts nothing, nor do indices. Nothing is said where an
    extent is not known, where there are loops other than those of linalg, or numbers that are not plain.

    ```mlir
    func.func private @f(..) attributes {plim.dispatch_function} { .. linalg.matmul .. 4x8, 8x2 .. }
    // becomes
    func.func private @f(..) attributes {plim.dispatch_function, plim.operations = 128 : i64}
    ```
  }];
  let statistics = [
    Statistic<"counted", "counted", "dispatch functions of which the operations are known">,
    Statistic<"missed", "missed", "dispatch functions of which they are not">];
}

def PlimChooseWorkgroups : Pass<"plim-choose-workgroups", "::mlir::func::FuncOp"> {
  let summary = "Choose how a dispatch function is split into workgroups";
  let description = [{
    Of the op whose result the dispatch function writes the parallel loops in `plim.parallel_loops` may be tiled. Sizes are chosen so that
    a workgroup is worth a task: about two million scalar operations, a point costing its arithmetic plus its memory
    traffic. A problem that fits one workgroup stays whole.

    Products of few rows pay for memory with each element of the other operand, as reductions do.

    Workgroups of a contraction or a convolution are larger, since they use again what they load or have columns side by side:
    four for each core of the target, with as many rows as half the second-level cache has room for, 512 elements of each, and
    columns for the rest (`Products.h` says which loops are which; of other reductions of several operands columns are what all operands with
    the columns of the result run along, if there are rows beside them). Where a consumer needs whole rows, these take no more than a quarter of that
    cache; at least 48 rows, if there are as many for each core. Rows that are split are 64 at least, as each workgroup copies the
    panels of its columns. Columns that are split are split into equal numbers that fill vectors, if there is such a
    number; else rows are split, if there are enough. Where the reduction has one block (`plim-choose-panels`), a workgroup's
    part of the result is no more than an eighth of that cache, so that the rows stay there.

    Where columns are reduced that lie side by side, as many workgroups as there are cores share them, if each has 256 or more: memory is
    read along the rows. The loop of a kernel (plim-outline-parallel-loops) is split from its innermost loop on.

    `plim.cost` receives the estimated scalar operations of one workgroup.

    ```mlir
    func.func private @f(..) attributes {plim.dispatch_function, plim.parallel_loops = array<i64: 0, 1>}
    // becomes
    func.func private @f(..) attributes {plim.dispatch_function, plim.parallel_loops = array<i64: 0, 1>, plim.cost = 2064384 : i64,
        plim.workgroups = #plim.workgroups<tiles = [16, 0], because = "each is worth a task">}
    ```
  }];
  let dependentDialects = ["::plim::ir::PlimDialect"];
  let statistics = [
    Statistic<"chosen", "chosen", "dispatch functions with several workgroups">,
    Statistic<"missed", "missed", "dispatch functions with one">];
}

def PlimTileWorkgroups : Pass<"plim-tile-workgroups", "::mlir::func::FuncOp"> {
  let summary = "Split a dispatch function into workgroups";
  let description = [{
    Carries out `#plim.workgroups` (`plim-choose-workgroups`): tiles the op whose result the dispatch function writes with one
    `scf.forall` and fuses every producer into the tile. The loop of a kernel becomes a `scf.forall` over ranges of its iterations.

    ```mlir
    %r = linalg.generic ... outs(%o : tensor<4096x4096xf32>)
    // becomes, with #plim.workgroups<tiles = [16, 0], ..>
    %r = scf.forall (%i) = (0) to (4096) step (16) shared_outs(%s = %o) -> (tensor<4096x4096xf32>)
    ```
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::affine::AffineDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::linalg::LinalgDialect"];
  let statistics = [
    Statistic<"tiled", "tiled", "dispatch functions split">,
    Statistic<"missed", "missed", "dispatch functions that could not be split">];
}

def PlimTileInsertions : Pass<"plim-tile-insertions", "::mlir::func::FuncOp"> {
  let summary = "Split borders and concatenations into workgroups";
  let description = [{
    A dispatch that inserts a tensor into one that is filled, which is a border, or into one that others have a part of, which
    is a concatenation, is split along the outermost dimension. A workgroup fills its part and writes over it while it is
    in the caches.

    ```mlir
    %f = linalg.fill ins(%zero : f32) outs(%out : tensor<58x58x64xf32>) -> tensor<58x58x64xf32>
    %r = tensor.insert_slice %x into %f[1, 1, 0] [56, 56, 64] [1, 1, 1] : tensor<56x56x64xf32> into tensor<58x58x64xf32>
    // becomes
    %r = scf.forall (%i) = (0) to (58) step (4) shared_outs(%o = %out) {
      %f = linalg.fill ins(%zero : f32) outs(%o[%i, 0, 0] [%n, 58, 64])
      %p = tensor.insert_slice %x[%from, 0, 0] [%some, 56, 64] into %f[%to, 1, 0]
      tensor.parallel_insert_slice %p into %o[%i, 0, 0]
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::affine::AffineDialect", "::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"tiled", "tiled", "insertions of several workgroups">];
}

def PlimTileBorders : Pass<"plim-tile-borders", "::mlir::func::FuncOp"> {
  let summary = "Give each workgroup its part of an image with its border";
  let description = [{
    Where a tile of a dispatch function reads a part of a tensor that was inserted into one that is filled (`plim-form-dispatches`), that
    part is made in memory of its own, of the part of the tensor that stands in it: the image with its border never is as a
    whole.

    ```mlir
    %f = linalg.fill ins(%zero : f32) outs(%empty : tensor<58x58x64xf32>) -> tensor<58x58x64xf32>
    %p = tensor.insert_slice %x into %f[1, 1, 0] [56, 56, 64] [1, 1, 1] : tensor<56x56x64xf32> into tensor<58x58x64xf32>
    scf.forall (%i) = (0) to (56) step (7) {
      %t = tensor.extract_slice %p[%i, 0, 0] [9, 58, 64] [1, 1, 1] : tensor<58x58x64xf32> to tensor<9x58x64xf32>
    // becomes
    scf.forall (%i) = (0) to (56) step (7) {
      %f = linalg.fill ins(%zero : f32) outs(%empty : tensor<9x58x64xf32>) -> tensor<9x58x64xf32>
      %s = tensor.extract_slice %x[%from, 0, 0] [%some, 56, 64] [1, 1, 1]
      %t = tensor.insert_slice %s into %f[%into, 1, 0] [%some, 56, 64] [1, 1, 1]
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::affine::AffineDialect"];
  let statistics = [Statistic<"tiled", "tiled", "parts with a border">];
}

def PlimPropagateLayouts : Pass<"plim-propagate-layouts", "::mlir::ModuleOp"> {
  let summary = "Store the images of a network as its convolutions compute them best";
  let description = [{
    A convolution with constant filters is fastest with the filters as columns of its product (`Products.h`): any number of pixels
    are rows, and the panels are of what lies there in the right order already (`plim-prepare-constants`). So where the result has
    pixels innermost, as all networks that store images by channels have it, it is computed the other way round, and everything
    that goes along the same dimensions follows: sums, activations, borders, poolings, convolutions of single channels. Products
    and sums read operands in any order. What else reads them gets them transposed; a network for which that is not worth its
    products stays as it is.

    ```mlir
    %r = linalg.generic ins(%x, %w : tensor<1x64x58x58xf32>, tensor<128x64x3x3xf32>) outs(%f) -> tensor<1x128x56x56xf32>
    %s = linalg.generic ins(%r : tensor<1x128x56x56xf32>) outs(%e) { arith.maximumf }
    // becomes
    %t = linalg.transpose ins(%w) permutation = [1, 2, 3, 0]
    %r = linalg.generic ins(%x, %t : tensor<1x64x58x58xf32>, tensor<64x3x3x128xf32>) outs(%f) -> tensor<1x56x56x128xf32>
    %s = linalg.generic ins(%r : tensor<1x56x56x128xf32>) outs(%e) { arith.maximumf }
    ```

    Of the loops of such a sum that along the channels runs innermost, if there are many, unless it is `strict`.

    Upstream's propagation of layouts moves `linalg.pack`, and neither transpositions nor through windows.
  }];
  let options = [Option<"strict", "strict", "bool", /*default=*/"false",
                        "Each sum is taken in the order of the source">];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"turned", "turned", "products whose filters have become columns">,
    Statistic<"followed", "followed", "other ops that have another layout">,
    Statistic<"missed", "missed", "ops of networks that are too small for it">];
}

def PlimPropagateReshapes : Pass<"plim-propagate-reshapes", "::mlir::func::FuncOp"> {
  let summary = "Give ops that follow each other the same dimensions";
  let description = [{
    Ops between which a reshape stands cannot be fused. Dimensions of one element that an op reads or writes at a constant
    index, which reductions keep in other frameworks, are dropped, also from elementwise ops behind a reduction; and where a product of joined batches, or of joined rows,
    stands between ops on all of their dimensions, its loops are split as these are. What is read by nothing but a reshape of
    other operands is a view.

    ```mlir
    %s = linalg.batch_matmul ins(%q, %k : tensor<24x64x32xf32>, tensor<24x32x64xf32>) outs(%e) -> tensor<24x64x64xf32>
    %x = tensor.expand_shape %s [[0, 1], [2], [3]] : tensor<24x64x64xf32> into tensor<2x12x64x64xf32>
    %y = linalg.generic ins(%x) ...
    // becomes
    %x = linalg.generic ins(%q', %k' : tensor<2x12x64x32xf32>, tensor<2x12x32x64xf32>) outs(%e') -> tensor<2x12x64x64xf32>
    %y = linalg.generic ins(%x) ...
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::affine::AffineDialect"];
  let statistics = [
    Statistic<"reduced", "reduced", "ops with fewer dimensions">,
    Statistic<"moved", "moved", "reshapes that an op takes the place of">,
    Statistic<"missed", "missed", "reshapes that would bring nothing together">];
}

def PlimCollapseProducts : Pass<"plim-collapse-products", "::mlir::func::FuncOp"> {
  let summary = "Make one loop of those that a product runs along together";
  let description = [{
    In a reduction over two operands (`Products.h`) of whole tensors: loops of one iteration that only sum, such as those of
    a window of one place, go, so does that of a single column where others are columns without it (rows that lie side by side,
    lines of one pixel), and loops that all operands have side by side become one. A pointwise convolution is a product of
    all pixels then, and one batch of rows with a matrix that all share is a product of all of them. What reads the result
    follows, as far as it can, so that it can still be fused; views remain between both shapes.

    ```mlir
    %r = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x64x56x56xf32>, tensor<32x64x1x1xf32>) outs(%e) -> tensor<1x32x56x56xf32>
    // becomes
    %r = linalg.generic ins(%x', %w' : tensor<1x64x3136xf32>, tensor<32x64xf32>) outs(%e') -> tensor<1x32x3136xf32>
    %s = tensor.expand_shape %r [[0], [1], [2, 3]] : tensor<1x32x3136xf32> into tensor<1x32x56x56xf32>
    ```
  }];
  let options = [Option<"strict", "strict", "bool", /*default=*/"false",
                        "Each sum is taken in the order of the source">];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::affine::AffineDialect"];
  let statistics = [
    Statistic<"collapsed", "collapsed", "products with fewer loops">];
}

def PlimCollapseReductions : Pass<"plim-collapse-reductions", "::mlir::func::FuncOp"> {
  let summary = "Make one loop of those that a reduction runs along together";
  let description = [{
    In a reduction that is no product (`Products.h`): loops of the reduction that all inputs have side by side become one,
    which is longer and so fills vectors. Elements are taken in the same order. What computes elements for it
    alone comes along. A reduction of what others read too, or of the results of another one, with which it could be computed,
    keeps its loops.

    Windows of 32 elements and more that follow each other without a gap, all of a known extent, are rows: the input is reshaped.

    What up to four columns choose, as the place of their largest element, is chosen along rows of a transposed input.

    ```mlir
    %r = linalg.reduce { arith.maximumf } ins(%x : tensor<64x512x7x7xf32>) outs(%e : tensor<64x512xf32>) dimensions = [2, 3]
    // becomes
    %r = linalg.generic ins(%x' : tensor<64x512x49xf32>) outs(%e : tensor<64x512xf32>)
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::affine::AffineDialect"];
  let statistics = [
    Statistic<"collapsed", "collapsed", "reductions with fewer loops">,
    Statistic<"transposed", "transposed", "choices of few columns">,
    Statistic<"split", "split", "reductions of windows that became rows">];
}

def PlimUnrollReductions : Pass<"plim-unroll-reductions", "::mlir::func::FuncOp"> {
  let summary = "Write out the terms of short reductions";
  let description = [{
    A reduction that is no product, of at most eight terms that lie side by side and are less than a line of the caches: vectors
    along so few are mostly empty. Its body is written out for each term, in order, so that vectors go along the results. Sums that
    are rounded have at most three terms, unless `strict`: the order of more is that of sums whose number of terms is not known. What
    computes elements for it alone comes along. A reduction of the results of another one, with which it is computed, keeps its
    loop.

    ```mlir
    %r = linalg.reduce { arith.addf } ins(%x : tensor<1000x3xf32>) outs(%e : tensor<1000xf32>) dimensions = [1]
    // becomes
    %r = linalg.generic {indexing_maps = [(i) -> (i, 0), (i) -> (i, 1), (i) -> (i, 2), (i) -> (i)], iterator_types = ["parallel"]}
        ins(%x, %x, %x) outs(%e : tensor<1000xf32>)
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
  let options = [Option<"strict", "strict", "bool", /*default=*/"false",
                        "Every operation rounds as the source says, in its order">];
  let statistics = [
    Statistic<"unrolled", "unrolled", "reductions without a loop">];
}

def PlimKeepQuantized : Pass<"plim-keep-quantized", "::mlir::ModuleOp"> {
  let summary = "Let products read weights as the integers that they are stored as";
  let description = [{
    Weights that a product reads and that are computed from constants alone, a float from an integer that is known to fit 8 bits and from what a
    block of them, or a column, has in common (a scale, a zero point), are four times as large as those. Products of few rows,
    or of as many as a call brings, read them all for each call: so they read the integers, as bytes in panels of two vectors, and make
    the floats on the way. A register tile makes each once for all of its rows. `plim-prepare-constants` arranges the integers
    once, and what a zero point leaves of them, if that is a byte as well. Where a product has 64 rows or more, its weights become floats once instead (`plim-pack-constants`). Floats are computed as
    the source says, in the same order.

    Where a product says that its rows may be rounded (`plim.round_rows`), weights are a number less a zero point times a scale, and the
    host multiplies groups of integers (`plim.dot_groups`), rows become bytes, in steps of which 127 are the largest number of
    a block. For any number of rows: a group takes an instruction for four products of 8 bits, or two of 16. Weights of 2 and 4 bits lie in words, of which
    shifts and masks make the groups. The sum of a block becomes a float and is scaled once:
    `(dot(rows, numbers) - sum(rows) * zero) * (step * scale)`.

    Elementwise ops behind take the shape of the result, whose columns are in panels.

    ```mlir
    %w = linalg.generic ... ins(%q, %s : tensor<4096x128x32xi8>, tensor<4096x128xf32>) { arith.sitofp, arith.mulf }
    %c = tensor.collapse_shape %w [[0], [1, 2]] : tensor<4096x128x32xf32> into tensor<4096x4096xf32>
    %r = linalg.generic ... ins(%x, %c : tensor<?x4096xf32>, tensor<4096x4096xf32>) outs(%f) { arith.mulf, arith.addf }
    // becomes
    %p = linalg.transpose ins(%q_expanded) : tensor<128x128x32x32xi8> // panels, blocks, in a block, columns
    %t = linalg.transpose ins(%s_expanded) : tensor<128x128x32xf32>
    %e = linalg.generic ... ins(%x_expanded, %p, %t) outs(%f_expanded) { arith.sitofp, arith.mulf, arith.mulf, arith.addf }
    %r = tensor.collapse_shape %e [[0], [1, 2]] : tensor<?x128x32xf32> into tensor<?x4096xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect", "::plim::ir::PlimDialect"];
  let options = [Option<"strict", "strict", "bool", /*default=*/"false",
                        "Round no rows: results are those of the source">];
  let statistics = [Statistic<"kept", "kept", "products that read integers">];
}

def PlimPackConstants : Pass<"plim-pack-constants", "::mlir::ModuleOp"> {
  let summary = "Make the panels of products with constants once";
  let description = [{
    The operand with the columns of a product (`Products.h`) that is a constant, or computed from such, and that
    `plim-pack-panels` would copy in each call: it is brought into the order of panels here, which `plim-prepare-constants`
    computes once. `plim.unpack_panels` stands for the operand, and `plim-pack-panels` takes the panels from behind it.
    They hold groups where the host multiplies and adds such (`plim.dot_groups`), for any number of rows; what is widened, or for tile
    registers, is copied as before. A single row, which reads all of a
    large operand once, gets panels of eight vectors, so that it reads memory in its order.

    Up to three columns of floats, or half a vector of them beside as few rows, are turned: they lie along what is summed then, as the rows do,
    and each element of the result is a sum of vectors.

    ```mlir
    %r = linalg.matmul ins(%x, %w : tensor<?x768xf32>, tensor<768x512xf32>) outs(%f) -> tensor<?x512xf32>
    // becomes
    %e = tensor.expand_shape %w [[0], [1, 2]] : tensor<768x512xf32> into tensor<768x16x32xf32>
    %p = linalg.transpose ins(%e) permutation = [1, 0, 2]
    %u = plim.unpack_panels %p {column = 1, rest = array<i64: 0>} : tensor<16x768x32xf32> -> tensor<768x512xf32>
    %r = linalg.matmul ins(%x, %u) outs(%f) -> tensor<?x512xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect", "::plim::ir::PlimDialect"];
  let options = [Option<"strict", "strict", "bool", /*default=*/"false",
                        "Floats are multiplied and added as the source says">];
  let statistics = [
    Statistic<"packed", "packed", "operands whose panels are made once">,
    Statistic<"turned", "turned", "operands of few columns that lie along what is summed">];
}

def PlimChoosePanels : Pass<"plim-choose-panels", "::mlir::func::FuncOp"> {
  let summary = "Choose how products and convolutions read their operands";
  let description = [{
    For a reduction over two operands, named or generic, of any layout (`Products.h`), the panels of the one that has the columns: blocks
    of about 512 of the reduction by as many columns as a register tile has. All rows of a workgroup use a panel while it
    is in the nearest caches.

    Panels are copied where that pays: an operand whose columns are not contiguous, for four rows and more; one read through windows,
    for 16; others for 48 rows, if a row is long or there are many, unless the nearest cache keeps the rows of a panel where they
    lie. Otherwise panels are read in place, one after the other, each for all rows and all of the reduction. Where the rows of a wide
    operand would drive each other from the second-level cache, as those of 16 KiB do, few rows go along all columns with eight
    iterations of the reduction at a time. The order in which a sum is taken stays the same.

    The other operand, the block's rows, is copied where there are many columns and its rows lie at least 4 KiB apart: rows would otherwise
    fall on the same lines of the second-level cache. Lines of an image that do not fill vectors are copied beside each other.

    Operands that the product widens, such as f16, are widened when they are copied, for four rows and more, and so are rows of
    a workgroup, up to 1024, or all that its windows touch. Products and convolutions of bf16 whose sum is f32, of integers of up to 8 bits, or
    of 16 with a sign, whose sum has 32, are taken two or four iterations of a loop at a time where the host has an instruction for that: of one that
    is no part of a window of the rows, and wastes least. Products of matrices are left to tile registers where there are such.

    ```mlir
    linalg.matmul ins(%a, %b : tensor<64x2048xf32>, tensor<2048x128xf32>) outs(%c : tensor<64x128xf32>)
    // becomes, for a target with vectors of 256 bits
    linalg.matmul {plim.panels = #plim.panels<panel = copied, rows = in_place, depth = [512], columns = 16, lines = 1,
                                              because = "it is deep">} ...
    ```
  }];
  let dependentDialects = ["::plim::ir::PlimDialect"];
  let options = [Option<"strict", "strict", "bool", /*default=*/"false",
                        "Floats are multiplied and added as the source says">];
  let statistics = [
    Statistic<"chosen", "chosen", "products with a strategy">,
    Statistic<"missed", "missed", "products left as they are">];
}

def PlimPackPanels : Pass<"plim-pack-panels", "::mlir::func::FuncOp"> {
  let summary = "Copy what a product or a convolution reads along its columns";
  let description = [{
    Carries out `#plim.panels` (`plim-choose-panels`): blocks the reduction and the columns, and copies each block of the operand with
    columns, whose elements then lie in the order in which `plim-register-tile` reads them.

    ```mlir
    %r = linalg.matmul {plim.panels = #plim.panels<panel = copied, rows = in_place, depth = [512], columns = 16, ..>}
        ins(%a, %b : tensor<64x2048xf32>, tensor<2048x128xf32>) outs(%c) -> tensor<64x128xf32>
    // becomes
    scf.for %k = 0 to 2048 step 512 {
      scf.for %n = 0 to 128 step 16 {
        %panel = linalg.generic ins(%b[%k, %n] [512, 16]) outs(%empty : tensor<512x16xf32>) // a copy
        linalg.generic ins(%a[0, %k] [64, 512], %panel) outs(%c[0, %n] [64, 16])
    ```

    In a convolution the panel is of the filter where channels are innermost, and of the image where they are not: it then
    has the windows, whatever their strides and dilations are, and the loops over channels and window become one where the
    filter has them side by side.

    The last panel, whose columns may not fill vectors, is copied also where others are read in place, with zeros behind them, and so is
    the result, if the memory for that is known to be small.

    Where the reduction has one block, what alone reads the result, element by element, is part of the loops and takes a panel
    when it is done: the product needs memory for one panel's columns.

    Groups, in 32 bits each, are for `plim.dot_groups`. Bytes are multiplied as one without a sign by one with a sign: where both are
    alike, the rows are copied with their top bits flipped, and what that adds, the same for all rows, is taken from the sum first.
    Tiles are for `plim.tile_product`.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::affine::AffineDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::bufferization::BufferizationDialect"];
  let statistics = [
    Statistic<"packed", "packed", "products whose panels are copied">,
    Statistic<"inPlace", "in-place", "products that read panels where they lie">,
    Statistic<"swept", "swept", "products of few rows that go along all columns for each block of the reduction">,
    Statistic<"inTiles", "in-tiles", "products in tile registers">,
    Statistic<"grouped", "grouped", "products of narrow numbers that are taken several iterations at a time">,
    Statistic<"missed", "missed", "products that could not be blocked">];
}

def PlimFuseInTiles : Pass<"plim-fuse-in-tiles", "::mlir::func::FuncOp"> {
  let summary = "Compute elements in the loops that use them";
  let description = [{
    In a dispatch function, an elementwise op becomes part of the op that reads its result, a reduction or another elementwise
    op, if that is the only one; and of each of several where an element is cheaper computed again than stored and loaded. The
    first of several that sums rows, or reduces them otherwise, stores what the others read. What goes over rows that lie in
    the nearest cache does so fewer times, and with less memory.

    ```mlir
    %e = linalg.generic ins(%x, %max) outs(%empty) { exp(%in - %m) }
    %s = linalg.generic ins(%e) outs(%zeros) { %out + %in }
    %y = linalg.generic ins(%e, %s) ...
    // becomes
    %e, %s = linalg.generic ins(%x, %max) outs(%empty, %zeros) { exp(%in - %m), %out + exp(%in - %m) }
    %y = linalg.generic ins(%e, %s) ...
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::affine::AffineDialect"];
  let statistics = [
    Statistic<"fused", "fused", "ops that became part of an op that reads them">,
    Statistic<"kept", "kept", "ops that became part of a reduction, and whose result it stores">,
    Statistic<"missed", "missed", "readers of which an op could not become part">];
}

def PlimSkipMasked : Pass<"plim-skip-masked", "::mlir::func::FuncOp"> {
  let summary = "Leave out the columns of a tile that masks make nothing of";
  let description = [{
    In a dispatch function, where an op gives a very low number to all columns of a tile behind a last one, or in front of a first
    one, as causal attention does to the scores of later keys, and where nothing comes of them in the ops that follow in its
    block: a maximum without them is the same, their exponentials are zero, and so is what a sum or a product adds of
    them. The ops go over the other columns alone, and so does the product that computes the scores. The bounds are computed for each
    tile; if one of its rows has no column at all, these are all columns.

    Comparisons are of sums of indices and of numbers that all rows of the tile share, which may be read from memory.
    A finite number is low from -2^29 on if nothing but scores is beside it. A mask from memory is not looked at: it may make all
    that a row has left low, too.

    ```mlir
    %s = linalg.generic ins(%scores) { %in if column <= row + %iv else -inf }  // 64x1024
    // becomes, with %n = min(%iv + 64, 1024)
    %s = linalg.generic ins(%scores of %n columns) { %in if column <= row + %iv else -inf } // 64x%n
    ```

    An infinite number or NaN in the values of a key that is left out has no effect; times a probability of zero it would be NaN.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"skipped", "skipped", "tiles whose masked columns are left out">];
}

def PlimOnlineSoftmax : Pass<"plim-online-softmax", "::mlir::func::FuncOp"> {
  let summary = "Compute attention in blocks of keys";
  let description = [{
    In a dispatch function, where a tile of queries has more than 512 keys, or only a call knows how many, the ops from their
    scores to the product with the values go over 512 keys at a time, and scores stay in the cache. The maximum of a row so far
    is subtracted from them; where it grows, sums of exponentials, the result's rows among them, are multiplied by the
    exponential of the difference between the old one and the new one. That is the online softmax of Milakov and Gimelshein
    (arXiv:1805.02867), in blocks as in Rabe and Staats (arXiv:2112.05682).

    What is accumulated has to be the maximum, sums of products of the exponentials of scores less the maximum, or sums that
    do not depend on it. Two products without a softmax between them are taken so, too.

    ```mlir
    %s = scores of 64x1024; %m = maximum of %s; %p, %l = exponentials of %s - %m, their sum; %o = %p * values
    // becomes
    %m, %l, %o = scf.for %j = 0 to 1024 step 512 iter_args(%m = -inf, %l = 0, %o = 0) {
      %s = scores of 64x512; %n = maximum of %s and %m; %c = exponential of %m - %n
      %p, %k = exponentials of %s - %n, their sum and %l * %c; %q = %p * values + %o * %c
      scf.yield %n, %k, %q
    }
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"blocked", "blocked", "tiles whose keys are in blocks">];
}

def PlimDivideProducts : Pass<"plim-divide-products", "::mlir::func::FuncOp"> {
  let summary = "Divide the product of a softmax, not its probabilities";
  let description = [{
    In a dispatch function, where a product of matrices takes exponentials that were divided by their sum along its depth, it takes
    the exponentials themselves, and its result is divided: that has fewer elements where there are more keys than elements of a
    value. The exponentials have to be of differences from their maximum: they are at most 1 then.

    ```mlir
    %p = linalg.generic ins(%e, %sum) { %in / %s }
    %y = linalg.generic ins(%p, %v) outs(%zeros) { %out + %in * %v }
    // becomes
    %x = linalg.generic ins(%e, %v) outs(%zeros) { %out + %in * %v }
    %y = linalg.generic ins(%sum) outs(%x) { %out / %s }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect"];
  let statistics = [Statistic<"divided", "divided", "products whose result is divided">];
}

def PlimComputeInPlace : Pass<"plim-compute-in-place", "::mlir::func::FuncOp"> {
  let summary = "Compute element by element in the memory of an operand that is not needed any more";
  let description = [{
    In a dispatch function, an elementwise op whose result would have memory of its own takes that of an operand of the same
    type and order, if that was computed here and is read by nothing behind. Rows of a workgroup that several ops go over
    then take a part of the nearer caches once.

    ```mlir
    %e = linalg.generic ins(%scores, %max) outs(%empty) { exp(%in - %m) }
    // becomes
    %e = linalg.generic ins(%max) outs(%scores) { exp(%out - %m) }
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
  let statistics = [Statistic<"reused", "reused", "ops that compute in place">];
}

def PlimPadScratch : Pass<"plim-pad-scratch", "::mlir::func::FuncOp"> {
  let summary = "Keep the rows of scratch memory from falling on one set of the caches";
  let description = [{
    Memory that a dispatch function allocates for rows whose length is a multiple of 4096 bytes gets rows that are a line of
    the caches longer: a column of it would otherwise fall on a single set of the nearest cache, which holds a few lines.

    ```mlir
    %s = tensor.empty() : tensor<64x1024xf32>
    // becomes
    %m = tensor.empty() : tensor<64x1040xf32>
    %s = tensor.extract_slice %m[0, 0] [64, 1024] [1, 1] : tensor<64x1040xf32> to tensor<64x1024xf32>
    ```
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"padded", "padded", "tensors with longer rows">];
}

def PlimOrderLoops : Pass<"plim-order-loops", "::mlir::func::FuncOp"> {
  let summary = "Run the loops of reductions in the order of their results";
  let description = [{
    In dispatch functions the parallel loops of a `linalg.generic` that reduces go in the order of the result's dimensions, and those of
    the reduction behind them. The order of the reduction's loops, and with it that of a sum, stays.

    ```mlir
    linalg.generic {indexing_maps = [.., affine_map<(k, n, m) -> (m, n)>], iterator_types = ["reduction", "parallel", "parallel"]}
    // becomes
    linalg.generic {indexing_maps = [.., affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
  let statistics = [Statistic<"ordered", "ordered", "reductions whose loops were interchanged">];
}

def PlimChunkSums : Pass<"plim-chunk-sums", "::mlir::func::FuncOp"> {
  let summary = "Sum long columns a chunk of rows at a time";
  let description = [{
    In dispatch functions sums and products of columns over more than 256 rows, or over a number of them that is not known, start from the
    neutral element every 256 rows, and what that gives is added to what there was; fewer rows do so too, unless they are added to zeros. Workgroups that share the rows (`plim-split-reductions`)
    have the same chunks, so that results depend neither on them nor on what is known. Along rows `plim-vectorize-rows` does so. Products
    of matrices stay whole.

    ```mlir
    %r = linalg.generic ins(%x : tensor<?x64xf32>) outs(%i : tensor<64xf32>) { arith.addf } // columns
    // becomes
    %r = scf.for %k = 0 to %rows step 256 iter_args(%sum = %i) {
      %n = linalg.fill ins(-0.0) : tensor<64xf32>
      %p = linalg.generic ins(%x[%k, 0] [min(256, %rows - %k), 64]) outs(%n) { arith.addf }
      linalg.generic ins(%p) outs(%sum) { arith.addf }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::affine::AffineDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"chunked", "chunked", "sums taken a chunk at a time">];
}

def PlimChooseRegisterTiles : Pass<"plim-choose-register-tiles", "::mlir::func::FuncOp"> {
  let summary = "Choose tiles of accumulators for the registers of the target";
  let description = [{
    For contractions, convolutions and other reductions whose innermost result dimension is parallel and contiguous in an input:
    columns of that dimension, two vectors or one, by as many rows of another parallel one as registers allow. With 32 registers
    these are 12 x 2 vectors, or up to 14 where that leaves less over, or 8 x 2 of AArch64, with 16 registers 6 x 2, or 4 x 2 of 128 bits. One vector a row
    leaves room for twice as many rows, and sums of four terms or fewer have no more; a single row has eight vectors. Rows that fall on the same set of the nearest cache are six at most.
    Where columns are reduced of more than 64 rows, four vectors of them see eight rows before the next four do (`terms`), or one if rows
    are shorter than a page, and wait in the nearest cache until the next rows come.

    ```mlir
    linalg.matmul ins(%a, %b : tensor<96x512xf32>, tensor<512x32xf32>) outs(%c : tensor<96x32xf32>)
    // becomes, for a target with 16 registers of 256 bits
    linalg.matmul {plim.registers = #plim.registers<rows = 6, row_loop = 0, columns = 16, column_loop = 1, lanes = 8, terms = 0,
                                                    because = "12 of 16 registers">} ...
    ```
  }];
  let dependentDialects = ["::plim::ir::PlimDialect"];
  let statistics = [
    Statistic<"chosen", "chosen", "reductions with register accumulators">,
    Statistic<"missed", "missed", "reductions left to plain loops">];
}

def PlimRegisterTile : Pass<"plim-register-tile", "::mlir::func::FuncOp"> {
  let summary = "Take reductions a tile of accumulators at a time";
  let description = [{
    Tiles the parallel loops of what has `#plim.registers` and peels the remainders. What is left of rows whose number is not
    known is taken four and then one at a time; columns that are more than a vector, a vector and the rest; columns whose number is not
    known stay loops. What gives the result its first value moves into the tiles, unless these wait for each other (`terms`): then a loop
    over the last of the reduction's loops is around them.

    ```mlir
    %r = linalg.matmul {plim.registers = #plim.registers<rows = 6, row_loop = 0, columns = 16, column_loop = 1, ..>} ..
    // becomes
    scf.for %m = 0 to 96 step 6 { scf.for %n = 0 to 32 step 16 {
      linalg.matmul {plim.registers = ..} ins(%a[%m, 0] [6, 512], %b[0, %n] [512, 16]) outs(%c[%m, %n] [6, 16])
    ```
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::affine::AffineDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"tiled", "tiled", "reductions that are tiled">,
    Statistic<"missed", "missed", "reductions that could not be tiled">];
}

def PlimVectorizeTiles : Pass<"plim-vectorize-tiles", "::mlir::func::FuncOp"> {
  let summary = "Keep a tile of accumulators in vector registers";
  let description = [{
    The reduction loops of a tile run with steps of one, around a body that is elementwise over rows and columns and
    becomes vectors; accumulators are hoisted out of the loops. What is read through a window with strides becomes a slice with
    strides, and where columns are a few elements apart vectors of what lies side by side, shuffled; an image that gets a border
    has them side by side in that order (`SplitColumns.h`). What a `linalg.fill` writes first is
    broadcast into registers instead, and so is a row of offsets. A short loop along a window that moves over the rows of a tile is the
    innermost if the sum may be reordered, and unrolled if it is, unless a wide border can be left out (`plim-skip-borders`): a row is then
    loaded once for all places of the window. Where the host has masks, vectors of 14 columns are made 16 (`FilledVectors.h`).

    ```mlir
    linalg.matmul {plim.registers = ..} ins(%a : tensor<6x512xf32>, %b : tensor<512x16xf32>) outs(%c : tensor<6x16xf32>)
    // becomes
    %first = vector.transfer_read %c[0, 0] : vector<6x16xf32>
    %sums = scf.for %k = 0 to 512 step 1 iter_args(%sum = %first) -> (vector<6x16xf32>) {
      %x = vector.transfer_read %a[0, %k] {permutation_map = affine_map<(d0, d1) -> (d0, 0)>}
      %y = vector.transfer_read %b[%k, 0] {permutation_map = affine_map<(d0, d1) -> (0, d1)>}
    ```
  }];
  let options = [Option<"strict", "strict", "bool", /*default=*/"false",
                        "Each sum is taken in the order of the source">];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::affine::AffineDialect",
                           "::mlir::vector::VectorDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"vectorized", "vectorized", "tiles with register accumulators">,
    Statistic<"filled", "filled", "functions whose vectors were made a power of two">,
    Statistic<"split", "split", "images with a border whose columns lie apart as windows read them">,
    Statistic<"missed", "missed", "tiles left to plain loops">];
}

def PlimSkipBorders : Pass<"plim-skip-borders", "::mlir::func::FuncOp"> {
  let summary = "Leave out the places of a window where an image has a border of zeros";
  let description = [{
    Sums of products in vector registers (`plim-vectorize-tiles`) of which one factor is read from a tensor that is zero around the edge
    (`Borders.h`): a loop along a window runs only where something of what is read lies inside. What is left out is as if it were zero even
    where a weight is infinite or NaN, so that this is not for `strict` numerics. Loops that reach the border nowhere, or never
    with all that they read at once, stay as they are.

    ```mlir
    %padded = tensor.insert_slice %image into %zeros[0, 0, 6, 6] [1, 64, 33, 33] [1, 1, 1, 1]
    %sums = scf.for %ky = 0 to 3 step 1 iter_args(%sum = %first) { ... vector.transfer_read %padded[0, %c, %y + %ky * 6, ...] ... }
    // becomes
    %begin = affine.max affine_map<(y) -> (0, (6 - y) ceildiv 6)>(%y)
    %end = affine.min affine_map<(y) -> (3, (39 - y) ceildiv 6)>(%y)
    %sums = scf.for %ky = %begin to %end step 1 iter_args(%sum = %first)
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect"];
  let statistics = [Statistic<"shortened", "shortened", "loops that leave a border out">];
}

def PlimFillBorders : Pass<"plim-fill-borders", "::mlir::func::FuncOp"> {
  let summary = "Fill the border of an image alone";
  let description = [{
    Where most of a tensor that is filled is written right behind, as the inside of an image with a border, what lies around that is
    filled: before and behind it, dimension by dimension. Short rows with a border of their own are filled as fast as a whole.

    ```mlir
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<34x34x16xf32>) -> tensor<34x34x16xf32>
    %p = tensor.insert_slice %x into %f[1, 1, 0] [32, 32, 16] [1, 1, 1] : tensor<32x32x16xf32> into tensor<34x34x16xf32>
    // becomes
    %top = linalg.fill ins(%zero : f32) outs(%e[0, 0, 0] [1, 34, 16])
    %bottom = linalg.fill ins(%zero : f32) outs(%e[33, 0, 0] [1, 34, 16])
    %left = linalg.fill ins(%zero : f32) outs(%e[1, 0, 0] [32, 1, 16])
    %right = linalg.fill ins(%zero : f32) outs(%e[1, 33, 0] [32, 1, 16])
    %p = tensor.insert_slice %x into %e[1, 1, 0] [32, 32, 16] [1, 1, 1]
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"filled", "filled", "images whose border alone is filled">];
}

def PlimLowerTileProducts : Pass<"plim-lower-tile-products", "::mlir::func::FuncOp"> {
  let summary = "Go through products in tile registers";
  let description = [{
    `plim.tile_product` on memrefs: two tiles of rows by two of columns at a time, whose sums stay in registers for all of the
    reduction. Rows that are left, and sums whose columns do not fill tiles, go through 16 rows on the stack.

    ```mlir
    plim.tile_product ins(%a, %b : memref<32x512xbf16>, memref<256x32xi32>) outs(%sum : memref<32x32xf32>)
    // becomes
    %s00 = amx.tile_load %sum[%c0, %c0] : memref<32x32xf32> into !amx.tile<16x16xf32>   // and three more
    %t:4 = scf.for %g = 0 to 256 step 16 iter_args(%c00 = %s00, ...) {
      %a0 = amx.tile_load %a[%c0, %g * 2] : memref<32x512xbf16> into !amx.tile<16x32xbf16>   // and %a1
      %b0 = amx.tile_load %b[%g, %c0] : memref<256x32xi32> into !amx.tile<16x32xbf16>        // and %b1
      %d00 = amx.tile_mulf %a0, %b0, %c00 : !amx.tile<16x32xbf16>, !amx.tile<16x32xbf16>, !amx.tile<16x16xf32>
    ```
  }];
  let dependentDialects = ["::mlir::amx::AMXDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
  let statistics = [Statistic<"lowered", "lowered", "products lowered">];
}

def PlimPrefetchPanels : Pass<"plim-prefetch-panels", "::mlir::func::FuncOp"> {
  let summary = "Fetch the panel that comes next while one is computed with";
  let description = [{
    Where panels that were made once (`plim-pack-constants`), lie in a large operand, or are copied from one, are read for several tiles
    of rows, each row of a panel that is read also fetches a line of the panel that the loops will come to next, into the
    second-level cache. All the weights of a model rarely fit there, and the first tile of rows would wait for memory at every
    panel, the others not at all. Fetched is one line in each tile of rows in turn; past the last panel what lies there is fetched, which does no harm.

    ```mlir
    scf.for %n { scf.for %m { scf.for %k {
      %b = vector.transfer_read %panels[%n, %k, %c0] : memref<16x768x32xf32>, vector<6x32xf32>
    // becomes
      memref.prefetch %panels[%n1, %k, %line], read, locality<2>, data : memref<16x768x32xf32>
      %b = vector.transfer_read %panels[%n, %k, %c0] : memref<16x768x32xf32>, vector<6x32xf32>
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"prefetched", "prefetched", "reads of panels that fetch the next one">];
}

def PlimTransposeCopies : Pass<"plim-transpose-copies", "::mlir::func::FuncOp"> {
  let summary = "Transpose blocks of copies in vector registers";
  let description = [{
    A copy, widening or not, that reads along one loop and writes along another goes through tiles of as many vectors as one has
    elements, 4, 8 or 16, whichever leaves least of the loops: rows are read, transposed in registers, and written. Elements are
    bytes and larger; what is left of loops that a tile does not divide stays a loop. What computes with an operand read so goes in
    blocks of 64 by 64, for each of which that operand is copied in front of it.

    ```mlir
    %p = linalg.generic {indexing_maps = [(d0, d1) -> (d1, d0), (d0, d1) -> (d0, d1)]}
        ins(%b : tensor<16x512xf32>) outs(%e : tensor<512x16xf32>)
    // becomes, in two loops
    %r0 = vector.transfer_read %b[%n, %k] : tensor<16x512xf32>, vector<8xf32>   // to %r7
    %s0 = vector.shuffle %r0, %r4 [0, 1, 2, 3, 8, 9, 10, 11]                    // 24 of them
    vector.transfer_write %t0, %e[%k, %n] : vector<8xf32>, tensor<512x16xf32>   // to %t7
    ```
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::vector::VectorDialect", "::mlir::tensor::TensorDialect", "::mlir::ub::UBDialect"];
  let statistics = [
    Statistic<"transposed", "transposed", "copies transposed in registers">,
    Statistic<"blocked", "blocked", "ops whose operands are copied in blocks">,
    Statistic<"missed", "missed", "copies that could not be tiled">];
}

def PlimWidenAccumulators : Pass<"plim-widen-accumulators", "::mlir::func::FuncOp"> {
  let summary = "Take sums and products of f16 and bf16 in f32";
  let description = [{
    A reduction whose accumulator has 16 bits loses an element that is 2^-11 (bf16: 2^-8) of what is there, so a
    sum of 4096 equal ones is off by some per mille, or stops growing. In dispatch functions it gets an
    accumulator in f32; so do the products that it is of. The result is rounded once.

    ```mlir
    %r = linalg.matmul ins(%a, %b : tensor<?x?xf16>, tensor<?x?xf16>) outs(%zero : tensor<?x?xf16>)
    // becomes
    %wide = linalg.matmul ins(%a, %b : tensor<?x?xf16>, tensor<?x?xf16>) outs(%zero32 : tensor<?x?xf32>)
    %r = linalg.generic ins(%wide) outs(%out) { arith.truncf } : tensor<?x?xf16>
    ```

    Not where something else looks at the accumulator, nor for other combiners than one `arith.addf` or
    `arith.mulf`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"widened", "widened", "accumulators of 16 bits">];
}

def PlimPrepareLoops : Pass<"plim-prepare-loops", "::mlir::func::FuncOp"> {
  let summary = "Shape the ops that become plain loops for LLVM's vectoriser";
  let description = [{
    Interchanges the loops of each `linalg.generic` so that the one along which most operands are
    contiguous runs innermost, but for reductions of a processor without vectors, whose sums stay in registers; replaces exp, exp2, expm1, tanh and erf on f16, bf16 and f32 by polynomials
    and powers with small whole exponents by products (`MathPolynomials.h`), and states the floating-point freedom the engine takes: products may be
    contracted with sums, and reductions may be reassociated. In kernels, whose buffers may be parts of each other, loops stay as they are
    written.

    Reduction loops keep their order among themselves unless the combiner is known to be associative
    and commutative (`ir/Analysis/Reductions.h`): a first maximum, or a decay `acc * 0.5 + x`, depends on it.

    With `strict` none of the freedom is taken: loops are interchanged where each result still sees its
    elements in the order of the source, and that is all.

    ```mlir
    // The columns of %b, which lie side by side, are the outermost loop.
    %r = linalg.generic {indexing_maps = [affine_map<(n, k) -> (k)>, affine_map<(n, k) -> (k, n)>, affine_map<(n, k) -> (n)>],
                         iterator_types = ["parallel", "reduction"]} ins(%a, %b) outs(%c) { arith.mulf, arith.addf }
    // becomes
    %r = linalg.generic {indexing_maps = [affine_map<(k, n) -> (k)>, affine_map<(k, n) -> (k, n)>, affine_map<(k, n) -> (n)>],
                         iterator_types = ["reduction", "parallel"]} ins(%a, %b) outs(%c) { arith.mulf fastmath<contract>, arith.addf fastmath<reassoc,contract> }
    ```
  }];
  let options = [Option<"strict", "strict", "bool", /*default=*/"false",
                        "Every operation rounds as the source says, in its order">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
  let statistics = [Statistic<"interchanged", "interchanged", "ops whose loops were interchanged">];
}

def PlimVectorizeChoices : Pass<"plim-vectorize-choices", "::mlir::func::FuncOp"> {
  let summary = "Find the place of the largest element of a row, and the like, with several vectors";
  let description = [{
    In a dispatch function: reductions along rows that keep one of the elements and what belongs to it, by one condition on the new
    element and the one so far that looks at nothing but their order: largest or smallest, the first or the last of equal ones, NaN being
    the best, the worst, or ignored. What is compared may be an extreme of all instead, as of `arith.maximumf`: a row with NaN is gone over
    again, one by one. Vectors hold what is compared and its place in the row; lanes start from what was chosen before the row,
    and are compared in the end, equal ones by their places. Everything else of the element is computed once, from its place. The result is
    that of the order of the source, bit for bit.

    ```mlir
    %r:2 = linalg.generic {iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x?xf32>) outs(%v, %p : tensor<?xf32>, tensor<?xi64>) {
      %i = linalg.index 1 ..
      %b = arith.cmpf ogt, %a, %best : f32
      %0 = arith.select %b, %a, %best : f32
      %1 = arith.select %b, %i, %place : i64
      linalg.yield %0, %1
    // becomes
    scf.for %i .. { %l:2 = scf.for %j = %c0 to %whole step %c64 iter_args(%best = %splat, %place = %none) -> (vector<64xf32>, vector<64xi64>) ..
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::vector::VectorDialect", "::mlir::affine::AffineDialect"];
  let statistics = [Statistic<"vectorized", "vectorized", "reductions that choose an element">];
}

def PlimVectorizeRows : Pass<"plim-vectorize-rows", "::mlir::func::FuncOp"> {
  let summary = "Reduce along rows with several vectors, whose results are combined in one order";
  let description = [{
    In a dispatch function, reductions whose innermost loop goes along what lies side by side become loops over vectors: four of
    them at a time, each with accumulators of its own, then one at a time, and what is left with a mask, or element by element where
    the host has no masks. The accumulators are combined by halves. Sums and products of more than 8192 elements, or of a number that is not
    known, are taken that many at a time, as workgroups that share a row take them. So the order of a sum depends on the length of a vector
    alone, and neither on LLVM's choices nor on whether the length of a row is known.

    Results that have an element for each iteration (`plim-fuse-in-tiles`) are stored on the way. Operations for which there is a
    call for each element, and divisions of integers, leave the op to plain loops, and so do rows of a few elements.

    With `strict` floats are not added in another order.

    ```mlir
    %r = linalg.generic ... ins(%x : tensor<8x512xf32>) outs(%s : tensor<8xf32>) { arith.addf } // along rows
    // becomes
    scf.for %row = ... {
      %four:4 = scf.for %i = %c0 to %c512 step %c64 iter_args(...) { // four accumulators of vector<16xf32>
        %v = vector.transfer_read %x[%row, %i], ... : tensor<8x512xf32>, vector<16xf32>
        %sum = arith.addf %accumulator, %v : vector<16xf32>
        ...
      }
      %half = arith.addf %four#0, %four#2 : vector<16xf32> // and so on, down to one element
      tensor.insert %element into %s[%row] : tensor<8xf32>
    }
    ```
  }];
  let options = [Option<"strict", "strict", "bool", /*default=*/"false",
                        "Every operation rounds as the source says, in its order">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::vector::VectorDialect"];
  let statistics = [
    Statistic<"vectorized", "vectorized", "reductions along rows">,
    Statistic<"missed", "missed", "reductions left to plain loops">];
}

def PlimVectorizeElementwise : Pass<"plim-vectorize-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Make elements from elements with vectors, and write large results past the caches";
  let description = [{
    In a dispatch function, on buffers, ops without reductions whose innermost loop goes along what lies side by side become loops over
    vectors: several at a time, then one at a time, the last with a mask, or element by element where the host has no masks. Before that,
    loops are taken together where all operands have them one after the other in memory. Fills are such ops, and copies of short
    rows; long ones, and those whose length is not known, are copied one by one. So are rows of groups of narrow numbers that lie side
    by side, which are read as they lie. Rows of two to eight elements, one after the other in the results, are made as many at a time as
    a vector has elements, where nothing else in the function has vectors: what operands have there is shuffled into the order of the
    results. Others of fewer elements than half a vector are left to LLVM.

    A result that is only written, also in the dispatch itself, and of which half would not fit into the last cache, is written with
    nontemporal stores, from the first element on that a line of the caches begins with, but for fills, which gain nothing by it, and
    where computing takes longer than memory: of many operations, or beside reductions. Elements that are read two to four apart are
    taken out of vectors of what lies side by side. What
    uses operations for which there is a call for each element, divisions of integers, elements that are looked up or lie further apart, and
    floats of 8 bits, is left to plain loops, and so is what is in the loop of a kernel, whose author may have it read what it has
    written.

    ```mlir
    linalg.generic ... ins(%x : memref<1000xf32>) outs(%y : memref<1000xf32>) { arith.addf %in, %one }
    // becomes, for vectors of 512 bits
    scf.for %i = %c0 to %c960 step %c64 { // four vectors
      %v = vector.load %x[%i] : memref<1000xf32>, vector<16xf32>
      %w = arith.addf %v, %ones : vector<16xf32>
      vector.store %w, %y[%i] : memref<1000xf32>, vector<16xf32>
      ...
    }
    scf.for %i = %c960 to %c1000 step %c16 { // one, the last behind a mask
      %mask = vector.create_mask %left : vector<16xi1>
      %v = vector.maskedload %x[%i], %mask, %zeros ...
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
  let statistics = [
    Statistic<"vectorized", "vectorized", "ops that became loops over vectors">,
    Statistic<"missed", "missed", "ops left to plain loops">,
    Statistic<"streamed", "streamed", "functions that write past the caches">];
}

def PlimDivideByInvariant : Pass<"plim-divide-by-invariant", "::mlir::func::FuncOp"> {
  let summary = "Divide by a loop's invariant with its reciprocal and a correction";
  let description = [{
    A division in f32 or f64 whose divisor is the same in all iterations of the innermost loop becomes
    a product with the reciprocal and two fused multiply-adds, several times faster than the
    division. The quotient is the correctly rounded one but for tiny x or quotients, where the rest
    underflows: with |x| below 2^-101 (f32) or 2^-967 (f64) it may be off by two units in the last
    place. Powers of two are left: LLVM multiplies by their exact inverse. For machines with fused
    multiply-add only.

    ```mlir
    %q = arith.divf %x, %sum : f32
    // becomes, less the care for tiny divisors, zeros and infinities,
    %r = arith.divf %one, %sum : f32
    %a = arith.mulf %x, %r : f32
    %n = arith.negf %a : f32
    %d = math.fma %n, %sum, %x : f32
    %q = math.fma %d, %r, %a : f32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let statistics = [Statistic<"expanded", "expanded", "divisions replaced">];
}

def PlimExpandTransfers : Pass<"plim-expand-transfers", "::mlir::func::FuncOp"> {
  let summary = "Turn broadcasting and strided vector reads into scalar loads";
  let description = [{
    A register tile reads one operand once per row: upstream lowers such a read through memory or a
    loop. Here each row is one load that is broadcast, which is what the hardware does best.

    Dynamic positions in outer dimensions of vectors go before (`VectorPositions.h`).

    ```mlir
    %v = vector.transfer_read %m[%i, %j], %pad {permutation_map = affine_map<(r, c) -> (r, 0)>} : memref<?x?xf32>, vector<2x16xf32>
    // becomes
    %x = memref.load %m[%i, %j] : memref<?x?xf32>
    %a = vector.broadcast %x : f32 to vector<16xf32>
    %y = memref.load %m[%next, %j] : memref<?x?xf32> // %i + 1
    %b = vector.broadcast %y : f32 to vector<16xf32>
    // and both as rows of one vector<2x16xf32>
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::vector::VectorDialect",
                           "::mlir::arith::ArithDialect", "::mlir::affine::AffineDialect"];
  let statistics = [Statistic<"expanded", "expanded", "reads expanded">];
}

def PlimDistributeWorkgroups : Pass<"plim-distribute-workgroups", "::mlir::ModuleOp"> {
  let summary = "Let a range of workgroups be run by one call";
  let description = [{
    Each dispatch function gets two more arguments, the range [begin, end) of workgroups to run, and
    a companion `NAME_workgroups` that computes how many there are from the same scalars and
    extents. A dispatch function without `scf.forall` has one workgroup.

    ```mlir
    func.func private @f(%x: memref<100xf32>) {
      scf.forall (%i) = (0) to (100) step (10) { ... }
    // becomes
    func.func private @f(%x: memref<100xf32>, %begin: index, %end: index) {
      scf.for %workgroup = %begin to %end step %c1 {
        %i = affine.apply affine_map<(w) -> (w * 10)>(%workgroup)
        ...
    func.func private @f_workgroups(%x: memref<100xf32>) -> index { // 10
    ```
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"distributed", "distributed", "dispatch functions with several workgroups">,
    Statistic<"missed", "missed", "dispatch functions that are one workgroup">];
}

#endif
