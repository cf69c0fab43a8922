// What code generation reads of the host of a module's target.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace plim::ir {

/// Bytes of a line of the caches, and those after which addresses fall on the same set of the nearest cache again: 64 sets,
/// on every machine that the engine knows.
inline constexpr int64_t cacheLineBytes = 64, cacheSetPeriod = 4096;

/// Without a target, for tests of single passes, that of one core with vectors of 256 bits.
struct Host {
  int64_t vectorBits = 256; // 0: no vectors
  int64_t vectorRegisters = 16;
  int64_t cores = 1;
  int64_t secondLevelBytes = int64_t(1) << 19;
  int64_t lastLevelBytes = 0;       // of the largest cache, its cores' share; 0: not known
  bool multipliesAndAdds = true;    // in one instruction
  bool sumsIntegerProducts = false; // in one instruction
  bool hasMasks = false;            // of elements of a vector, for loads and stores of any type
  bool hasVectorFunctions =
      false; // that are not calls: exponentials, logarithms and powers, as jit/VectorFunctions.h has them
  bool isAArch64 = false;

  /// Elements of such a type in a vector; 1 where there are no vectors of it.
  int64_t lanes(mlir::Type type) const;
};

/// Reads the target of the module that `op` is in, each time.
Host hostOf(mlir::Operation *op);

} // namespace plim::ir
