// From tensors to buffers that have a place: release, accessors, placement, planning, and the verification of all of it.
//
// The order is in ir/Pipelines; what each pass does stands in Passes.td, before and after.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <string>

namespace mlir {
namespace affine {
class AffineDialect;
}
namespace arith {
class ArithDialect;
}
namespace bufferization {
class BufferizationDialect;
}
namespace memref {
class MemRefDialect;
}
namespace scf {
class SCFDialect;
}
namespace tensor {
class TensorDialect;
}
} // namespace mlir

namespace plim::ir {

/// Of a function in whose source loops or branches hand on buffers: who writes to one means that one. From
/// plim-separate-destinations to plim-hoist-carried-buffers.
inline constexpr llvm::StringLiteral carriesBuffersAttr = "plim.carries_buffers";

class PlimDialect;

#define GEN_PASS_DECL
#include "ir/Memory/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "ir/Memory/Passes.h.inc"

} // namespace plim::ir
