// Views: which elements of which buffer a memref of a dispatch is, in numbers of its launch.
//
// Begin with add() for the buffers, then follow() op by op, in order. Views belong to one dispatch
// function, and refer to its values; not for several threads.
#pragma once

#include "ir/Gpu/Numbers.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace plim::ir {

struct View {
  unsigned buffer = 0; // of the launch
  mlir::Type element;
  Number offset = 0; // of its first element from that of the buffer, in elements
  llvm::SmallVector<Number> sizes, strides; // elements

  bool operator==(const View &) const = default;
};

class Views {
public:
  explicit Views(Numbers &numbers) : numbers(numbers) {}

  /// The view of a memref, valid until the next one is added; null if it is not known.
  const View *find(mlir::Value memref) const;
  /// A memref that is a whole, dense buffer of these extents.
  View &add(mlir::Value memref, unsigned buffer, llvm::ArrayRef<Number> sizes);
  /// Notes the view that `op` makes of one that is known. False if it makes none; a failure, with a
  /// diagnostic at the op, if a launch cannot compute it.
  mlir::FailureOr<bool> follow(mlir::Operation *op);
  /// Is it known to be dense, in row-major order?
  bool isDense(const View &view);

  /// The number that an index or an integer of the dispatch is; null if a launch cannot compute it.
  std::optional<Number> numberOf(mlir::Value value);
  std::optional<Number> numberOf(mlir::OpFoldResult value);

private:
  std::optional<Number> numberOf(mlir::AffineExpr expression, llvm::ArrayRef<Number> operands,
                                 unsigned dimensions);
  llvm::SmallVector<Number> denseStrides(llvm::ArrayRef<Number> sizes);
  bool followSubview(mlir::memref::SubViewOp op, View view);
  void followCollapse(mlir::memref::CollapseShapeOp op, View view);
  bool followExpand(mlir::memref::ExpandShapeOp op, View view);

  Numbers &numbers;
  llvm::DenseMap<mlir::Value, View> views;
};

} // namespace plim::ir
