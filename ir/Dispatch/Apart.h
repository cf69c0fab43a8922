// Why two operations are not one dispatch, and what a dispatch is that only moves elements.
//
// Who says no (plim-form-dispatches) says one of these; `explain` prints it. Nothing depends on them.
#pragma once

#include "mlir/IR/Operation.h"

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

} // namespace plim::ir
