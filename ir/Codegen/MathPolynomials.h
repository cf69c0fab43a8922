// Functions on f32 as straight-line arithmetic that LLVM's vectoriser takes: no calls, no branches.
//
// Special values are the C library's: zeros keep their sign, NaN stays NaN, infinities and denormals
// give what they should. docs/design/numerics.md has the errors.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace plim::ir {

/// On functions without a polynomial that become instructions nevertheless, also of vectors: jit/VectorFunctions.h.
inline constexpr llvm::StringLiteral vectorFunctionAttr = "plim.vector_function";

/// Rewrites math.expm1, math.tanh and math.erf on f32 and vectors of f32. Instead of
/// upstream's approximations: those of expm1, tanh and erf are off by 4 to 5 units in the last place.
/// Also math.powf of f32 and f64 with the exponent -1, 1, 2, 3 or 4.
void populateMathPolynomialPatterns(mlir::RewritePatternSet &patterns);

/// Rewrites math.exp and math.exp2 on f32 and vectors of f32.
void populateExponentialPatterns(mlir::RewritePatternSet &patterns);

/// Rewrites math.log, math.log2 and math.log10 on f32 and vectors of f32.
void populateLogarithmPatterns(mlir::RewritePatternSet &patterns);

/// Rewrites math.log1p on f32 and vectors of f32.
void populateLog1pPattern(mlir::RewritePatternSet &patterns);

/// Rewrites math.powf on f32 and vectors of f32, for machines that multiply and add in one instruction.
void populatePowerPatterns(mlir::RewritePatternSet &patterns);

} // namespace plim::ir
