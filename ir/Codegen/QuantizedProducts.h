// QuantizedProducts: products that read weights as the narrow integers that those are made of. For
// plim-keep-quantized.
#pragma once

#include "ir/Analysis/Products.h"
#include "ir/Codegen/Host.h"
#include "ir/Codegen/QuantizedWeights.h"

#include <memory>

namespace plim::ir {

/// A product of rows and quantised weights as one that reads what these are made of. Its loops are
/// those of the rows, panels, the columns of a panel, and `sums` of the reduction: along blocks of
/// weights that have a scale in common, and within a block.
class QuantizedProduct {
public:
  /// Nothing where the product stays as it is. Valid until an op goes that it looked at.
  static std::unique_ptr<QuantizedProduct> of(mlir::linalg::LinalgOp op, const Product &product,
                                              const Host &host, bool strict);

  /// Puts it in the place of the product, behind a reshape to the shape that that had.
  mlir::linalg::GenericOp rewrite();

  virtual ~QuantizedProduct() = default;

protected:
  QuantizedProduct(mlir::linalg::LinalgOp op, const Product &product, QuantizedWeights weights,
                   int64_t width);

  /// Adds what is read to `inputs`, and where to `maps`.
  virtual void readRows(mlir::OpBuilder &builder) = 0;
  virtual void readWeights(mlir::OpBuilder &builder) = 0;
  /// The body, of an element of each input and of the sum.
  virtual void computeIn(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::ValueRange arguments) = 0;

  /// The rows with the reduction in parts, outermost first, and the loop of each dimension: a
  /// product's, or nothing for a part.
  struct Parts {
    mlir::Value value;
    llvm::SmallVector<std::optional<unsigned>> loops;
    unsigned first; // dimension of the first part
  };
  Parts rowsInParts(mlir::OpBuilder &builder, llvm::ArrayRef<int64_t> parts);

  /// What is indexed by some loops of the op that makes weights, with its panels outermost and
  /// their columns innermost, and its indices, if each loop of `depth` is one of the reduction
  /// here.
  std::pair<mlir::Value, llvm::SmallVector<mlir::AffineExpr>>
  arrange(mlir::OpBuilder &builder, mlir::Value value, llvm::ArrayRef<unsigned> loops);
  /// The same of a number of the body of the op that makes weights, as a byte for each: what it reads if
  /// that is it, and what is computed once otherwise.
  std::pair<mlir::Value, llvm::SmallVector<mlir::AffineExpr>>
  arrangeNumbers(mlir::OpBuilder &builder, mlir::Value number);
  /// Reads each input of the op that makes weights, but for the integers, that some ops and values
  /// of its body need.
  void readOthers(mlir::OpBuilder &builder, const llvm::SetVector<mlir::Operation *> &ops,
                  mlir::ValueRange values = {});

  void read(mlir::Value value, llvm::ArrayRef<mlir::AffineExpr> indices);
  mlir::AffineExpr loop(unsigned position);
  mlir::AffineExpr rowLoop(unsigned ofOp) { return loop(rowPlaces.lookup(ofOp)); }
  mlir::AffineExpr panelLoop() { return loop(panels); }
  mlir::AffineExpr columnLoop() { return loop(panels + 1); }
  mlir::AffineExpr sumLoop(unsigned position) { return loop(panels + 2 + position); }
  int64_t extentOf(unsigned ofSource) { return source.getStaticLoopRanges()[ofSource]; }

  mlir::linalg::LinalgOp op;
  Product product;
  QuantizedWeights weights;
  mlir::linalg::LinalgOp source;           // makes the weights
  unsigned column;                         // its loop along the columns
  llvm::SmallVector<unsigned> depth;       // its loops along what is summed
  int64_t width;                           // columns of a panel
  unsigned panels;                         // the loop of panels, behind those of the rows
  unsigned sums;                           // loops of the reduction
  llvm::SmallVector<mlir::Value> elements; // of the body of `source`, read behind the integers

private:
  mlir::Value bytesOf(mlir::OpBuilder &builder, mlir::Value number);
  mlir::AffineMap mapOf(llvm::ArrayRef<mlir::AffineExpr> indices);
  std::pair<mlir::RankedTensorType, llvm::SmallVector<mlir::ReassociationIndices>> writeResult();
  mlir::Value initOf(mlir::OpBuilder &builder, mlir::RankedTensorType type,
                     llvm::ArrayRef<mlir::ReassociationIndices> groups);

  llvm::SmallDenseMap<unsigned, unsigned> rowPlaces;
  llvm::SmallVector<mlir::Value> inputs;
  llvm::SmallVector<mlir::AffineMap> maps;
};

/// One that makes floats of the integers, as the source says; null where the integers would not fit
/// a byte.
std::unique_ptr<QuantizedProduct> productOfFloats(mlir::linalg::LinalgOp op, const Product &product,
                                                  QuantizedWeights weights, int64_t width);

/// One that rounds the rows to bytes, with a scale for each block, and multiplies those with the
/// integers, several at a time; null where the host has no instruction for it, or the weights are
/// not scaled by blocks.
std::unique_ptr<QuantizedProduct> productOfBytes(mlir::linalg::LinalgOp op, const Product &product,
                                                 QuantizedWeights weights, int64_t width);

} // namespace plim::ir
