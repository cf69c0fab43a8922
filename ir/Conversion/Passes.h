// Lowering to the LLVM dialect over engine/abi.
//
// After these passes a module holds only `llvm` ops. Names of the symbols it defines:
//
//   plim.entry.F     plim_function_entry of the public function F
//   plim.raw.F       raw pointer of the kernel F (see docs/design/calling-convention.md)
//   plim.dispatch.D  plim_dispatch_entry of the dispatch function D
//   plim.count.D     plim_workgroup_count of D
//   plim.data.G      memory of the global G, which the linker provides
//   plim.external.X  plim_external of the host application's function X, likewise
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir {
namespace LLVM {
class LLVMDialect;
}
namespace affine {
class AffineDialect;
}
namespace arith {
class ArithDialect;
}
namespace cf {
class ControlFlowDialect;
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
namespace ub {
class UBDialect;
}
namespace vector {
class VectorDialect;
}
} // namespace mlir

namespace plim::ir {

inline constexpr llvm::StringLiteral entryPrefix = "plim.entry.";
inline constexpr llvm::StringLiteral rawPrefix = "plim.raw.";
/// A kernel for calls whose buffers have no byte in common; not seen outside of its object.
inline constexpr llvm::StringLiteral apartPrefix = "plim.apart.";
inline constexpr llvm::StringLiteral dispatchPrefix = "plim.dispatch.";
inline constexpr llvm::StringLiteral countPrefix = "plim.count.";
inline constexpr llvm::StringLiteral bytesPrefix = "plim.bytes.";
inline constexpr llvm::StringLiteral dataPrefix = "plim.data.";
inline constexpr llvm::StringLiteral externalPrefix = "plim.external.";
/// On the module: an array of dictionaries {name, kind = constant | variable | parameter | prepared, type,
/// value}, one for each global whose memory the linker provides, with the `arrangement` of what is prepared without code, and
/// `source_only` where only such read it.
inline constexpr llvm::StringLiteral dataAttr = "plim.data";
/// On the address of a planned buffer, or on the base for those at offset zero: its `memory` ("" is the
/// slab or scratch, else a pool) and its `bytes` [begin, end) there.
inline constexpr llvm::StringLiteral placeAttr = "plim.place";
/// On a kernel: its raw pointer takes the context first.
inline constexpr llvm::StringLiteral needsContextAttr = "plim.needs_context";
/// On such a kernel: its raw pointer does not, and lends it a context of no call.
inline constexpr llvm::StringLiteral lendsContextAttr = "plim.lends_context";
/// On a host function that no other calls: behind the context it takes the views of its arguments and results.
inline constexpr llvm::StringLiteral takesViewsAttr = "plim.takes_views";

/// Do its elements lie side by side, in one dimension?
inline bool isRow(mlir::MemRefType type) {
  return type.getRank() == 1 && type.areTrailingDimsContiguous(1);
}

#define GEN_PASS_DECL
#include "ir/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "ir/Conversion/Passes.h.inc"

} // namespace plim::ir
