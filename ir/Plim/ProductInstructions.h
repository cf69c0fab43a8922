// The instructions of a host that multiply and add several numbers at once.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace plim::ir {

/// Are the instructions of the host of a module's target those of AArch64?
bool isAArch64(mlir::ModuleOp module);

/// Bits of the widest vectors whose groups of numbers of a type the host of a module's target multiplies and adds with one
/// instruction (`plim.dot_groups`); 0 where there is none, or no target.
unsigned widthOfDotGroups(mlir::ModuleOp module, mlir::Type element);

/// A tile register: rows, and bytes of each, which are 32-bit elements of a sum or groups of narrower elements.
constexpr int64_t rowsOfTile = 16, bytesOfTileRow = 64;

/// Does the host of a module's target multiply tiles of elements of a type (`plim.tile_product`)?
bool hasTileProducts(mlir::ModuleOp module, mlir::Type element);

} // namespace plim::ir
