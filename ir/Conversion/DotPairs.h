// What `plim.dot_pairs` becomes in the LLVM dialect.
#pragma once

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"

namespace plim::ir {

/// Adds the pattern for vectors of `width` bits, which does arithmetic for all others.
void populateDotPairsToLLVM(const mlir::LLVMTypeConverter &types, mlir::RewritePatternSet &patterns,
                            unsigned width);

} // namespace plim::ir
