// Products in tile registers: what plim.tile_product works on.
#pragma once

#include "ir/Codegen/OperandCopies.h"

namespace plim::ir {

/// Can `plim.tile_product` take it, on the host of its module's target?
bool isOfTiles(mlir::linalg::LinalgOp op, const Product &product);

/// Elements of 32 bits: the loop of the reduction is as deep as groups of so many.
int64_t groupSizeOf(mlir::linalg::LinalgOp op, const Product &product);

/// The rows that tiles cannot be loaded from where they lie: those behind the last 16, if all have whole tiles of the depth side
/// by side, else all. Made where `rewriter` stands: a tensor of (rows of all loops but the innermost, rows, depth) whose last two
/// dimensions are whole tiles, with zeros behind the depth; null if there are none. There are at most `mostRows`, by loop, and
/// `mostDepth` of them.
mlir::Value rowsForTiles(mlir::IRRewriter &rewriter, mlir::linalg::LinalgOp op,
                         const Product &product, llvm::ArrayRef<int64_t> mostRows,
                         int64_t mostDepth);

/// The panel, made where `rewriter` stands: a tensor of (groups, columns), whole tiles, with zeros behind the depth.
mlir::Value panelForTiles(mlir::IRRewriter &rewriter, mlir::linalg::LinalgOp op,
                          const Product &product, int64_t mostDepth);

/// Replaces the op by products in tiles of one loop of rows, in loops over the others. `rows` are those of rowsForTiles.
void makeTileProducts(mlir::IRRewriter &rewriter, mlir::linalg::LinalgOp op, const Product &product,
                      mlir::Value rows, mlir::Value panel);

} // namespace plim::ir
