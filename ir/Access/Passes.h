// What is read and written, and the signatures that say so.
//
// The order is in ir/Pipelines; what each pass does stands in Passes.td, before and after.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir {
namespace affine {
class AffineDialect;
}
namespace bufferization {
class BufferizationDialect;
}
namespace memref {
class MemRefDialect;
}
} // namespace mlir

namespace plim::ir {

class PlimDialect;

#define GEN_PASS_DECL
#include "ir/Access/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "ir/Access/Passes.h.inc"

} // namespace plim::ir
