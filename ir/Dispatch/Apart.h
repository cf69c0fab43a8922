// Why two operations are not one dispatch, and what a dispatch is that only moves elements.
//
// Who says no (plim-form-dispatches) says one of these; `explain` prints it. Nothing depends on them.
#pragma once

#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace plim::ir {

/// Why what makes a tensor is not in the dispatch that reads it.
enum class Apart {
  FusionOff,
  TooManyOps,
  Pinned,
  OtherDevice,
  OtherBlock,
  ReadElsewhere,
  Destination,
  Gathered,
  ReadOften,
  ReadInWindows,
  WrittenInSteps,
  NoCommonLoop,
  SplitReduction,
  Reshaped,
  Sliced,
  OnlyMoves,
  ReaderOnlyMoves,
  NoBorder,
  BorderMadeAgain,
  InsertedNotElementwise,
  InsertedInSteps,
  InsertedIntoFilled,
  InsertedBesideRead,
};

/// In words that stand behind "apart from #3: ".
llvm::StringRef reasonOf(Apart apart);

/// What an op does that only moves elements.
enum class Movement { Slice, DenseSlice, Insertion, Padding, Transpose, Broadcast, Copy };

/// Null for an op that computes.
std::optional<Movement> movementOf(mlir::Operation *op);

/// "a slice", and what would avoid it.
llvm::StringRef nameOf(Movement movement);
llvm::StringRef insteadOf(Movement movement);

/// The place of a dispatch: those of all that is in its body, that of the root first.
mlir::Location placesOf(mlir::Location root, mlir::func::FuncOp body);

/// The dispatches of a module that were formed so far, which keep what explains them (Formed.h).
class FormedDispatches {
public:
  /// Those of another function are read by no dispatch of the next one.
  void beginFunction() { formed.clear(); }
  /// Keeps on a dispatch what it only moves, and why it is none with those that made what it reads. `written` is what its result
  /// replaces: the root, or what inserts that; `apart` has, of ops that were looked at for it, why they are not among its `ops`.
  void add(DispatchOp dispatch, mlir::Operation *root, mlir::Operation *written,
           llvm::ArrayRef<mlir::Operation *> ops,
           const llvm::DenseMap<mlir::Operation *, Apart> &apart);

private:
  struct Maker {
    const mlir::Operation *written; // gone; a key alone
    bool onlyMoves;
  };
  llvm::DenseMap<mlir::Operation *, Maker> formed;
  int64_t nextNumber = 0; // of one that others read
};

} // namespace plim::ir
