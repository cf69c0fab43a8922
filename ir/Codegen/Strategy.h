// Strategy: what the plim-choose-* passes decide, and where it stands until it is carried out.
#pragma once

#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace plim::ir {

/// On a reduction of a dispatch function, until it is carried out.
inline constexpr llvm::StringLiteral panelsAttr = "plim.panels", registersAttr = "plim.registers";
/// On a dispatch function, the same.
inline constexpr llvm::StringLiteral workgroupsAttr = "plim.workgroups";

/// Columns below which a reduction is left to plain loops, to which half-empty vectors lose.
inline constexpr int64_t leastColumns = 4;

/// Adds a decision to those that the dispatch function lists (strategyAttr).
void recordStrategy(mlir::func::FuncOp function, mlir::Attribute decision);

} // namespace plim::ir
