// Products of narrow numbers, taken several iterations of the reduction at a time (plim.dot_groups).
#pragma once

#include "ir/Codegen/OperandCopies.h"

namespace plim::ir {

/// How the host of its module's target multiplies and adds groups of the product's terms; nothing where it does not, or where the
/// terms of the sum are none of two narrow numbers. Flipped are the rows: processors multiply bytes without a sign by bytes with
/// one.
std::optional<Grouping> groupingOf(mlir::linalg::LinalgOp op, const Product &product);

/// The op again, on copies of its operands that hold groups.
void withGroups(mlir::IRRewriter &rewriter, mlir::linalg::LinalgOp op, const Product &product,
                const Grouping &grouping, const Copy &rows, const Copy &panel,
                llvm::ArrayRef<int64_t> shape);

} // namespace plim::ir
