// What `plim.dot_groups` becomes in the LLVM dialect.
#pragma once

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/IR/BuiltinOps.h"

namespace plim::ir {

/// Adds the pattern for the instructions that the host of a module's target has, and for arithmetic where it has none.
void populateDotGroupsToLLVM(const mlir::LLVMTypeConverter &types,
                             mlir::RewritePatternSet &patterns, mlir::ModuleOp module);

} // namespace plim::ir
