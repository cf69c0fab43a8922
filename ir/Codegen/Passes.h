// Code generation for dispatch functions on a CPU: tiling, vectorisation, workgroups.
//
// Passes between the tensor level and plain loops; they see one dispatch function at a time. What they know of the
// machine is in the module's target, or comes as options that ir/Pipelines sets from it.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir {
namespace amx {
class AMXDialect;
}
namespace affine {
class AffineDialect;
}
namespace arith {
class ArithDialect;
}
namespace bufferization {
class BufferizationDialect;
}
namespace linalg {
class LinalgDialect;
}
namespace math {
class MathDialect;
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
namespace ub {
class UBDialect;
}
namespace vector {
class VectorDialect;
}
} // namespace mlir

namespace plim::ir {

#define GEN_PASS_DECL
#include "ir/Codegen/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "ir/Codegen/Passes.h.inc"

} // namespace plim::ir
