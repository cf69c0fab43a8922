// VisibleColumns: code that says which columns of a tile masks leave something of.
#pragma once

#include "ir/Analysis/MaskBounds.h"
#include "ir/Codegen/ColumnParts.h"

namespace plim::ir {

/// One of each kind.
struct MaskBounds {
  std::optional<MaskBound> first, last;
};

/// Computes at `builder` those of which the bounds leave some to some row. They are all if a row has none, and where numbers
/// are larger than extents are. The begin is a multiple of 64, so that what is summed in lanes is so in the same ones.
/// Nothing if a value is needed that is not there at `builder`.
std::optional<Columns> visibleColumns(mlir::OpBuilder &builder, mlir::linalg::GenericOp op,
                                      unsigned loop, const MaskBounds &bounds);

} // namespace plim::ir
