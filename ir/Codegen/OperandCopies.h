// Copies of operands of products, in the order and in the form in which they are read.
#pragma once

#include "ir/Analysis/Products.h"
#include "ir/Plim/Plim.h"

namespace plim::ir {

/// An operand elsewhere, and how an op reads it there.
struct Copy {
  mlir::Value value;
  mlir::AffineMap map;
};

/// The operation that widens an operand before anything else is done with it.
mlir::Operation *extensionOf(mlir::linalg::LinalgOp op, unsigned number);

/// Is each term of the sum the product of two operands that are widened, and nothing else done?
bool isSumOfWidenedProducts(mlir::linalg::LinalgOp op);

/// The shape of memory for a tensor with so many columns; empty if it is not known, or too large.
llvm::SmallVector<int64_t> widenedShape(mlir::Value tensor, int64_t columns);

/// Is an operand read at sums of loops, so that iterations share its elements?
bool readsWindows(mlir::linalg::LinalgOp op, unsigned number);

/// Upper bounds of a tensor's extents; empty if one has none.
llvm::SmallVector<int64_t> mostExtents(mlir::Value tensor);

/// Can all that the rows of a workgroup read be copied in another form for one block of the reduction?
bool isRowCopyBounded(mlir::linalg::LinalgOp op, const Product &product);

/// The most rows of a workgroup that are copied in another form.
inline constexpr int64_t mostRowsCopied = 1024;

/// Iterations of a loop of a reduction that are taken at a time: those that fill 32 bits together, with zeros behind the last.
struct Grouping {
  mlir::Type element;     // of a group
  unsigned loop;          // of the op
  bool isFlipped = false; // is the top bit of each element another?

  int64_t size() const { return 32 / element.getIntOrFloatBitWidth(); }
  Grouping unflipped() const { return {element, loop}; }
};

/// A group, of the elements of an operand that there are.
mlir::Value groupOf(mlir::OpBuilder &builder, mlir::Location loc, const Grouping &grouping,
                    mlir::Operation *extension, mlir::ValueRange elements);

/// Writes the groups of an operand, counted along `dimension` of the copy, into `memory`, a tensor, which is returned. `read`: the
/// operand's element that a single element of the copy is; `extents` are counted in single elements.
mlir::Value copyGroups(mlir::IRRewriter &rewriter, mlir::linalg::LinalgOp op, unsigned number,
                       const Grouping &grouping, unsigned dimension, mlir::AffineMap read,
                       mlir::Value memory, llvm::ArrayRef<mlir::OpFoldResult> extents);

/// A copy of an operand, in the form given (`grouping` for groups), made where `rewriter` stands, in memory of its own whose
/// innermost dimensions are those of `innermost`, of at most `memory` iterations; all others have one element. Rows of the copy
/// have `width` elements, zeros behind those of the operand, unless it is 0, and lie `padding` elements further apart.
Copy copyOf(mlir::IRRewriter &rewriter, mlir::linalg::LinalgOp op, unsigned number,
            llvm::ArrayRef<unsigned> innermost, llvm::ArrayRef<int64_t> memory, int64_t width,
            int64_t padding = 0, OperandForm form = OperandForm::Copied,
            const Grouping *grouping = nullptr);

/// The same with the dimensions of the operand, which has at most the extents `memory`: so windows that overlap are copied once.
Copy copyAsItLies(mlir::IRRewriter &rewriter, mlir::linalg::LinalgOp op, unsigned number,
                  llvm::ArrayRef<int64_t> memory, OperandForm form, const Grouping *grouping);

/// The op again, generic, with a copy for an operand.
mlir::linalg::LinalgOp withCopy(mlir::IRRewriter &rewriter, mlir::linalg::LinalgOp op,
                                unsigned number, const Copy &copy, llvm::ArrayRef<int64_t> shape);

/// A generic op in the place of `op`. If its inputs have more columns than the result, so has a copy of the result, in memory
/// of `shape`, of which the columns that there are replace those of `op`.
mlir::linalg::LinalgOp replaceWithColumns(
    mlir::IRRewriter &rewriter, mlir::linalg::LinalgOp op, mlir::ValueRange inputs,
    llvm::ArrayRef<mlir::AffineMap> maps, llvm::ArrayRef<mlir::utils::IteratorType> kinds,
    llvm::ArrayRef<int64_t> shape,
    llvm::function_ref<void(mlir::OpBuilder &, mlir::Region &, mlir::Location)> makeBody);

} // namespace plim::ir
