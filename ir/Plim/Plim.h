// The plim dialect in C++: operations, attributes, the context type.
//
// What upstream lacks and nothing more; see PlimBase.td for the attributes and
// docs/rationale/Plim.md for the reasons. It must not know any probe, the JIT or the runtime.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ir/Plim/PlimEnums.h.inc"

#include "ir/Plim/PlimDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/Plim/PlimAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "ir/Plim/PlimTypes.h.inc"

#define GET_OP_CLASSES
#include "ir/Plim/PlimOps.h.inc"

namespace plim::ir {

/// On a func.func: the body of dispatches.
inline constexpr llvm::StringLiteral dispatchFunctionAttr = "plim.dispatch_function";
/// On a func.func: a function over scalars and memrefs with a raw entry pointer.
inline constexpr llvm::StringLiteral kernelAttr = "plim.kernel";
/// On an allocation: where it may live; after placement, where it lives.
inline constexpr llvm::StringLiteral scopeAttr = "plim.scope";
/// On an allocation: why it lives there.
inline constexpr llvm::StringLiteral reasonAttr = "plim.reason";
/// On a plim.dispatch: the name of the device that runs it.
inline constexpr llvm::StringLiteral deviceAttr = "plim.device";
/// On an argument of a dispatch function or kernel: its access.
inline constexpr llvm::StringLiteral accessAttr = "plim.access";

/// On a dispatch function: the loops of its root that may be split between workgroups.
inline constexpr llvm::StringLiteral parallelLoopsAttr = "plim.parallel_loops";
/// On a dispatch function: estimated scalar operations of one workgroup.
inline constexpr llvm::StringLiteral costAttr = "plim.cost";
/// On a func.func: computes the workgroup count of the dispatch function it names.
inline constexpr llvm::StringLiteral workgroupCountAttr = "plim.workgroup_count";
/// On an allocation: from the worker's scratch, which the runtime resets.
inline constexpr llvm::StringLiteral scratchAttr = "plim.scratch";
/// On a buffer argument of a kernel: which of its dimensions follow as extents.
inline constexpr llvm::StringLiteral extentsAttr = "plim.extents";
/// On a buffer argument of a kernel: the dimensions whose strides follow behind the extents.
inline constexpr llvm::StringLiteral stridesAttr = "plim.strides";
/// On a buffer argument with a static shape: its size in bytes.
inline constexpr llvm::StringLiteral bytesAttr = "plim.bytes";
/// On a host function: the size of its slab.
inline constexpr llvm::StringLiteral workspaceBytesAttr = "plim.workspace_bytes";

inline constexpr llvm::StringLiteral scopeStack = "global.stack";
inline constexpr llvm::StringLiteral scopeWorkspace = "global.workspace";

/// Bytes of an element in memory as LLVM lays it out: i1 takes one, i24 four, index eight, a complex
/// number twice its part, a vector the next power of two.
int64_t elementBytes(mlir::Type element);

/// Lets one-shot bufferization see plim.dispatch.
void registerBufferizableOpInterface(mlir::DialectRegistry &registry);

} // namespace plim::ir
