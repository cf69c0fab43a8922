// TiledOps: what passes that tile have to do between two steps.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace plim::ir {

/// Folds slices of slices, sizes that are known, and loops of one iteration. It may replace ops, those of linalg among
/// them, which keep their attributes.
llvm::LogicalResult simplifyTiles(mlir::func::FuncOp function);

/// Moves what gives all that the loops around `tiled` write its first value, such as a linalg.fill, to where that does: in front of
/// the op of each tile.
/// `loops` as upstream's tiling gives them, outermost first.
void fuseInitializer(mlir::RewriterBase &rewriter, mlir::linalg::LinalgOp tiled,
                     llvm::MutableArrayRef<mlir::LoopLikeOpInterface> loops);

/// The op that computes all that a dispatch function writes, inserted into something perhaps; null if there is no such op of linalg.
mlir::linalg::LinalgOp writtenBy(mlir::func::FuncOp function);

/// The parallel loop that a dispatch function was made for (plim-outline-parallel-loops); null if it was made for something else.
mlir::scf::ParallelOp outerLoop(mlir::func::FuncOp function);

/// The first op with the attribute, which it loses; null if there is none. To go through ops that simplifyTiles may
/// replace.
mlir::linalg::LinalgOp takeMarked(mlir::func::FuncOp function, llvm::StringRef attribute);

/// What a tensor is a part of, or the one whose memory it has; null if it has memory of its own, or that of an argument.
mlir::Value enclosing(mlir::Value tensor);

/// The most iterations of a loop that operand `number` has as a dimension; nothing where there is no bound.
std::optional<int64_t> mostIterations(mlir::linalg::LinalgOp op, unsigned number, unsigned loop);

/// The loop of the result's innermost dimension, if it is one.
std::optional<unsigned> columnOf(mlir::linalg::LinalgOp op);

/// Is it a reduction over rows whose columns lie side by side in an input, and which uses each element once?
bool reducesColumns(mlir::linalg::LinalgOp op);

/// The loop along which neighbours of an input lie, if the result's neighbours are others of its elements: it is read across. Only
/// elements that vectors have.
std::optional<unsigned> loopReadAcross(mlir::linalg::LinalgOp op, unsigned number);

/// Is what the loops access of the operand, which has all of them or none side by side, without gaps? All dimensions but the
/// outermost have to be there as a whole, and the distances between them known: upstream copies what it cannot prove to be
/// dense.
bool isDense(mlir::linalg::LinalgOp op, mlir::OpOperand &operand, llvm::ArrayRef<int64_t> loops);

/// Writes a part, of `sizes` at `offsets`, of what `insert` makes of a tensor that is filled with `filling`: into `memory`, which
/// has these sizes. Steps are 1 and ranks equal. Returns the part.
mlir::Value partWithBorder(mlir::OpBuilder &builder, mlir::tensor::InsertSliceOp insert,
                           mlir::Value filling, mlir::Value memory,
                           llvm::ArrayRef<mlir::OpFoldResult> offsets,
                           llvm::ArrayRef<mlir::OpFoldResult> sizes);

} // namespace plim::ir
