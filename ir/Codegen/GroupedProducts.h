// Products of narrow numbers, taken several iterations of the reduction at a time (plim.dot_groups).
#pragma once

#include "ir/Codegen/OperandCopies.h"

namespace plim::ir {

/// What groups of the product hold where the host of its module's target multiplies and adds them: the operands' type, or i16
/// for pairs of narrower integers; null where it does not, or where the terms of the sum are none of two narrow numbers.
mlir::Type groupedType(mlir::linalg::LinalgOp op, const Product &product);

/// Takes the reduction as many iterations at a time as elements of such a type have room in 32 bits, by a loop more; what is
/// left over is an op of its own, behind. Returns the op with the groups.
mlir::linalg::LinalgOp groupUp(mlir::linalg::LinalgOp op, const Product &product,
                               mlir::Type element);

/// Have the rows of a product of such groups to be stored with their top bits flipped? Processors multiply bytes without a
/// sign by bytes with one.
bool flipsRows(mlir::linalg::LinalgOp op, const Product &product, mlir::Type element);

/// The op again, on copies of its operands that hold groups, without the loop over their elements.
void withGroups(mlir::IRRewriter &rewriter, mlir::linalg::LinalgOp op, const Product &product,
                mlir::Type element, const Copy &rows, const Copy &panel,
                llvm::ArrayRef<int64_t> shape);

} // namespace plim::ir
