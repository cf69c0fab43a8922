// ArgumentViews: host functions that take the views of their arguments and results (plim_view of
// engine/abi) as the caller made them, rather than each argument by value. Values would live from
// one end of the function to the other, in a frame with a place for each, for which LLVM takes time
// by the square of their number. A part of plim-lower-runtime.
#pragma once

#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>
#include <utility>

namespace plim::ir {

class ArgumentViews {
public:
  /// Which result of the call an allocation is, its type there, and the views of all results.
  struct Result {
    int64_t index;
    mlir::MemRefType type;
    mlir::Value views;
  };

  /// The arguments of a function with a context come from their views, and its results go there,
  /// but for those that are allocations: who lowers an allocation fills in its view.
  void take(mlir::func::FuncOp function);

  /// An argument, a part of one, or an extent of these, out of its view once more, where `builder`
  /// stands; anything else as it is. So no argument has to be kept for the calls that need it.
  mlir::Value again(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value) const;

  /// The result that an allocation is, if it is one.
  std::optional<Result> resultOf(AllocOp alloc) const;
  /// The allocation goes away.
  void forget(AllocOp alloc) { results.erase(alloc); }

private:
  llvm::DenseMap<mlir::Operation *, Result> results; // by allocation
  /// What came out of views: which views, and the position there.
  llvm::DenseMap<mlir::Value, std::pair<mlir::Value, unsigned>> unpacked;
};

} // namespace plim::ir
