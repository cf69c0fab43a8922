// The body of an operation on several elements of a row at a time.
#pragma once

#include "ir/Codegen/Host.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

namespace plim::ir {

/// An operation whose innermost loop goes along rows: along what lies side by side in its operands.
class RowVectors {
public:
  /// For the loops of an op alone, whose body is built otherwise: as of() it has lanes.
  explicit RowVectors(mlir::linalg::LinalgOp op) : op(op), loop(op.getNumLoops() - 1) {}
  /// The fewest elements of a row, where their number is known.
  static constexpr int64_t leastElements = 4;
  /// Nothing if rows are known to be shorter than `least`, if operands lie otherwise or have elements of which there are no vectors, or if
  /// the body has an operation that would be a call for each element.
  static std::optional<RowVectors> of(mlir::linalg::LinalgOp op, const Host &host,
                                      int64_t least = leastElements);
  /// The same wherever the operands lie.
  static std::optional<RowVectors> ofElements(mlir::linalg::LinalgOp op, const Host &host);
  /// Nothing, too, unless it is a reduction of rows, on tensors.
  static std::optional<RowVectors> ofReduction(mlir::linalg::LinalgOp op, const Host &host);

  using RowBuilder = llvm::function_ref<mlir::scf::ValueVector(
      mlir::OpBuilder &, mlir::ValueRange outer, mlir::ValueRange results)>;
  /// Replaces the op by loops over all of its loops but the innermost. `row` gets their indices and the results so far, none on
  /// buffers, and returns the next ones.
  void replaceByRows(mlir::RewriterBase &rewriter, RowBuilder row);

  using PartBuilder = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      mlir::OpBuilder &, mlir::ValueRange indices, int64_t size, mlir::Value mask,
      mlir::ValueRange carried)>;
  /// Builds loops along a row from `start` on, a multiple of `width`: several vectors at a time, one at a time, and what is left, masked or one by one, `size`
  /// being 0 then. `part` returns what it carries; between the loops, `halve` makes of vectors of `from` elements those of `to`, one being a scalar.
  void buildAlong(mlir::OpBuilder &builder, mlir::ValueRange outer, mlir::Value start,
                  llvm::SmallVector<mlir::Value> &carried, PartBuilder part,
                  llvm::function_ref<void(mlir::OpBuilder &, llvm::SmallVector<mlir::Value> &,
                                          int64_t from, int64_t to)>
                      halve);

  /// One of these loops: `size` elements at a time, behind a mask or not, or one for 0. None where it is known to have no iteration.
  /// `most` elements lie between `from` and `to`, or any number for 0.
  void buildLoop(mlir::OpBuilder &builder, mlir::ValueRange outer, mlir::Value from, mlir::Value to,
                 int64_t most, int64_t size, bool isMasked, llvm::SmallVector<mlir::Value> &carried,
                 PartBuilder part);
  /// Where the last of as many parts of `unit` elements as fit between `from` and the end of the row ends.
  mlir::Value endOfParts(mlir::OpBuilder &builder, mlir::Value from, int64_t unit);

  /// Builds the operations of the body on `size` elements from `indices` on, or on one for 0, but for those that `isLeft` names.
  /// `carried` has what the body sees as old elements: for a result that has an element of each iteration the tensor or buffer.
  mlir::IRMapping buildBody(mlir::OpBuilder &builder, mlir::ValueRange indices, int64_t size,
                            mlir::Value mask, mlir::ValueRange carried,
                            llvm::function_ref<bool(mlir::Operation *)> isLeft);

  /// Builds its operations alone, of `values`, to which it adds their results. `indexOf` builds what is there of an index.
  void buildOperations(mlir::OpBuilder &builder, mlir::IRMapping &values, int64_t size,
                       llvm::function_ref<mlir::Value(mlir::linalg::IndexOp)> indexOf,
                       llvm::function_ref<bool(mlir::Operation *)> isLeft);

  /// Loads elements of which a row has but one. On buffers nobody would move loads in front of the loops along it.
  void loadInFront(mlir::OpBuilder &builder, mlir::ValueRange outer);

  /// `value` for each of `size` elements, unless it is a vector already, or `size` is 0.
  mlir::Value widen(mlir::OpBuilder &builder, mlir::Value value, int64_t size);

  /// Where an element of the operand is. Of an operand that the row has but one element of, any index along it will do.
  llvm::SmallVector<mlir::Value> position(mlir::OpBuilder &builder, mlir::OpOperand &operand,
                                          mlir::ValueRange indices);
  llvm::SmallVector<mlir::Value> positionInRow(mlir::OpBuilder &builder, mlir::OpOperand &operand,
                                               mlir::ValueRange outer);

  mlir::Value number(mlir::OpBuilder &builder, int64_t value);

  mlir::linalg::LinalgOp op;
  unsigned loop;                // along the row
  int64_t lanes = 0, width = 0; // elements of a vector, and of those at a time
  bool hasMasks = false;
  mlir::Value end;  // of a row, or of the part that is taken; there while rows are built
  int64_t most = 0; // elements that are taken at a time, or any number for 0

private:
  mlir::Value load(mlir::OpBuilder &builder, mlir::Value source, mlir::ValueRange place);

  mlir::IRMapping loaded; // in front of the loops along a row
};

/// The most elements that those of a vector may lie apart: it is made of as many vectors of what lies side by side.
inline constexpr int64_t mostStep = 4;

/// Does a loop go along what lies side by side, or up to mostStep elements apart?
bool readsInSteps(mlir::AffineMap map, unsigned loop);

/// How far apart the elements of a row lie in what a vector is read from: 1, or the step of a slice. Nothing where a slice does not say it.
std::optional<int64_t> stepOfRows(mlir::vector::TransferReadOp read);

/// `size` elements of `source` from `place` on, `step` apart in the last dimension, made of vectors of `lanes`. None that lies behind
/// the last of them is read. The mask, of one vector, may be null.
mlir::Value readInSteps(mlir::OpBuilder &builder, mlir::Location at, mlir::Value source,
                        mlir::ValueRange place, int64_t step, int64_t size, int64_t lanes,
                        mlir::Value mask = {});

/// The identity of the innermost dimension, for transfers of vectors.
mlir::AffineMapAttr innermostOf(mlir::OpBuilder &builder, size_t rank);

} // namespace plim::ir
