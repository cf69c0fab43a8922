// FunctionEmitter: exponentials, logarithms and powers as instructions of AVX-512. Knows vectors of 512 bits, no calls and no loops.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"

namespace plim::jit {

enum class VectorFunction { Exp, Exp2, Log, Log2, Log10, Pow };

/// The results of a function of several vectors of 512 bits, of f32 or f64, which are computed side by side: what a processor has
/// waiting then are instructions of several vectors that are ready, not of one that wait for each other. `arguments` has those of
/// each operand. Special values and signs of zeros are the C library's; docs/design/numerics.md has the errors. The builder's
/// place is behind what was made, in front of the same instruction, if in another block.
llvm::SmallVector<llvm::Value *, 2>
emitFunction(llvm::IRBuilder<> &builder, VectorFunction function,
             llvm::ArrayRef<llvm::SmallVector<llvm::Value *, 2>> arguments);

} // namespace plim::jit
