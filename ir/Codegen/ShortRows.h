// Rows of a few elements, several of which are made together.
#pragma once

#include "ir/Codegen/RowVectors.h"

namespace plim::ir {

/// An elementwise op on buffers whose rows have two to eight elements and lie one after the other
/// in the results: pixels of three colours, images of twice the size, a transpose of three long
/// lines.
///
/// As many rows as a vector has elements are made together, by as many vectors as a row has
/// elements, in the order of the results. Operands are put in that order by shuffles when they are
/// read: one element of each row is repeated; up to four lines that lie across the rows are
/// interleaved; elements that all rows share are a pattern in front of the loop.
class ShortRows {
public:
  /// Nothing if operands lie otherwise, or the body has an operation that would be a call for each
  /// element.
  static std::optional<ShortRows> of(mlir::linalg::LinalgOp op, const Host &host);

  /// Replaces the op.
  void vectorize(mlir::RewriterBase &rewriter);

private:
  /// How the elements of an operand lie: all rows have the same, each row has one, side by side
  /// across the rows, or as in the results.
  enum class Layout { Shared, OneEach, Across, AsResults };

  ShortRows(const RowVectors &rows, int64_t size) : rows(rows), op(rows.op), size(size) {}

  std::optional<Layout> layoutOf(mlir::OpOperand &operand);
  void loadShared(mlir::OpBuilder &builder, mlir::ValueRange outer);
  void iteration(mlir::OpBuilder &builder, mlir::ValueRange indices, mlir::Value mask);
  void element(mlir::OpBuilder &builder, mlir::ValueRange indices);
  mlir::Value load(mlir::OpBuilder &builder, mlir::Value source, mlir::ValueRange place,
                   mlir::Value mask);
  mlir::Value inOrder(mlir::OpBuilder &builder, llvm::ArrayRef<mlir::Value> columns,
                      int64_t vector);
  llvm::SmallVector<mlir::Value> placeInRow(mlir::OpBuilder &builder, mlir::OpOperand &operand,
                                            mlir::ValueRange indices, int64_t column);

  RowVectors rows; // that go across: along the loop before the innermost one
  mlir::linalg::LinalgOp op;
  int64_t size; // elements of a row
  llvm::SmallVector<Layout> layouts;
  llvm::SmallVector<mlir::Value> flat; // operands that lie as the results do, with rows in one
  llvm::SmallVector<llvm::SmallVector<mlir::Value>>
      shared; // vectors of each operand that all rows share
};

} // namespace plim::ir
