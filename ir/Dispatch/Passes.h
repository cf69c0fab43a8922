// From linalg on tensors to dispatches, each with the device that runs it.
//
// What a dispatch shall be is decided on tensors, where nothing aliases. The order is in ir/Pipelines; what each pass does
// stands in Passes.td, before and after.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <functional>
#include <memory>
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
namespace complex {
class ComplexDialect;
}
namespace func {
class FuncDialect;
}
namespace linalg {
class LinalgDialect;
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
#include "ir/Dispatch/Passes.h.inc"

/// A dispatch function for the compiler of an accelerator.
struct DeviceSource {
  llvm::StringRef device;
  llvm::StringRef name; // of the public function in `text`
  llvm::StringRef text; // a module in upstream dialects
};

/// What that compiler says to it.
struct DeviceAnswer {
  enum Kind { Taken, Refused, Failed };
  Kind kind;
  std::string text; // the code, any bytes; or why there is none
};
using CompileForDevice = std::function<DeviceAnswer(const DeviceSource &)>;

/// Without a compiler the text is the code.
std::unique_ptr<mlir::Pass> createPlimOutlineDeviceCode(CompileForDevice compiler = {});

#define GEN_PASS_REGISTRATION
#include "ir/Dispatch/Passes.h.inc"

} // namespace plim::ir
