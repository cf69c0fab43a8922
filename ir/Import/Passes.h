// From what came in to checked linalg on tensors: passes over the functions of a source.
//
// Every pass reads only the IR: the machine is in it as `dlti.target_system_spec`. The order is in
// ir/Pipelines; what each does stands in Passes.td, before and after.
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
namespace cf {
class ControlFlowDialect;
}
namespace complex {
class ComplexDialect;
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
namespace vector {
class VectorDialect;
}
} // namespace mlir

namespace plim::ir {

class PlimDialect;

#define GEN_PASS_DECL
#include "ir/Import/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "ir/Import/Passes.h.inc"

} // namespace plim::ir
