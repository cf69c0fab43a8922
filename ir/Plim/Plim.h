// The plim dialect in C++: operations, attributes, the context type.
//
// What upstream lacks and nothing more; see PlimBase.td for the attributes and
// docs/rationale/Plim.md for the reasons. It must not know any probe, the JIT or the runtime.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/AllocationOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TypeUtilities.h"
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
/// On an assertion in a kernel: not its author's. It takes no raw pointer away.
inline constexpr llvm::StringLiteral impliedAttr = "plim.implied";
/// On an allocation of an upstream dialect: its constraints, as on plim.alloc.
inline constexpr llvm::StringLiteral scopeAttr = "plim.scope";
inline constexpr llvm::StringLiteral candidatePoolsAttr = "plim.candidate_pools";
inline constexpr llvm::StringLiteral accessorsAttr = "plim.accessors";
inline constexpr llvm::StringLiteral maxBytesAttr = "plim.max_bytes";
/// On an allocation, a func.func or the module: stack limits stronger than the target's, by the names
/// of the target's fields.
inline constexpr llvm::StringLiteral limitsAttr = "plim.limits";
/// On the module: the limits of the engine, weaker than those of the module.
inline constexpr llvm::StringLiteral engineLimitsAttr = "plim.engine_limits";
/// On a plim.dispatch: the name of the device that runs it.
inline constexpr llvm::StringLiteral deviceAttr = "plim.device";
/// On a plim.dispatch whose author names no device: the one that runs it if `plim.device` does not take it.
inline constexpr llvm::StringLiteral fallbackDeviceAttr = "plim.fallback_device";
/// On a plim.dispatch: which device did not take it, and why.
inline constexpr llvm::StringLiteral refusalAttr = "plim.refusal";
/// On a plim.dispatch: it does nothing but copy what something else must not write.
inline constexpr llvm::StringLiteral copyAttr = "plim.copy";
/// On an argument of a function: its access.
inline constexpr llvm::StringLiteral accessAttr = "plim.access";
/// On a tensor argument of a public function: the index of the result that takes its memory.
inline constexpr llvm::StringLiteral donateAttr = "plim.donate";
/// On a tensor or memref argument of a public function: the bounds of its dynamic extents, a dictionary for each
/// dimension with `min`, `max`, both or neither, inclusive. On an index that stands for such an extent:
/// that dictionary.
inline constexpr llvm::StringLiteral boundsAttr = "plim.bounds";
/// On a declaration of a host function: it does nothing but compute its results.
inline constexpr llvm::StringLiteral pureAttr = "plim.pure";
/// On an op that stands for another one, until extents are checked: the name that its author wrote.
inline constexpr llvm::StringLiteral sourceOpAttr = "plim.source_op";

/// On an `scf.for`: the most iterations it has, where its bounds do not show it.
inline constexpr llvm::StringLiteral mostIterationsAttr = "plim.most_iterations";

/// On a product of linalg, and from import on in its body, where it multiplies, so that no rewriting of the product loses it; a unit.
/// If the weights were quantised, the numbers of the rows may be rounded to bytes, with a scale for each block of them. Strict
/// numerics do not.
inline constexpr llvm::StringLiteral roundRowsAttr = "plim.round_rows";
/// On a linalg op: half of a reduction that was split, so that workgroups share it, or a sum beside a product. What it is
/// computed along with may not keep it, or itself, from being split.
inline constexpr llvm::StringLiteral splitAttr = "plim.split";
/// On a linalg op: a reduction of floats that takes its elements in order, results of chunks of another one.
inline constexpr llvm::StringLiteral inOrderAttr = "plim.in_order";
/// On a dispatch function: the loops of its root that may be split between workgroups.
inline constexpr llvm::StringLiteral parallelLoopsAttr = "plim.parallel_loops";
/// On a dispatch function: estimated scalar operations of one workgroup.
inline constexpr llvm::StringLiteral costAttr = "plim.cost";
/// On a dispatch function: arithmetic operations of a run, where they are known.
inline constexpr llvm::StringLiteral operationsAttr = "plim.operations";
/// On a dispatch function, and on a reduction in one, until it is carried out: how its code is made (PlimStrategy.td).
inline constexpr llvm::StringLiteral workgroupsAttr = "plim.workgroups";
inline constexpr llvm::StringLiteral panelsAttr = "plim.panels", registersAttr = "plim.registers";
/// On a dispatch function: what was decided for it, in order.
inline constexpr llvm::StringLiteral strategyAttr = "plim.strategy";
/// On a func.func: computes the workgroup count of the dispatch function it names.
inline constexpr llvm::StringLiteral gridAttr = "plim.grid"; // i64, where it is always the same
inline constexpr llvm::StringLiteral workgroupCountAttr = "plim.workgroup_count";
/// On a buffer argument of a kernel: which of its dimensions follow as extents.
inline constexpr llvm::StringLiteral extentsAttr = "plim.extents";
/// On a dispatch function: its buffers may be parts of each other, as those of the kernel whose loop it was may.
inline constexpr llvm::StringLiteral mayAliasAttr = "plim.may_alias";
/// On a buffer argument of a dispatch function: the type that it was before it became a bare pointer.
inline constexpr llvm::StringLiteral shapeAttr = "plim.shape";
/// On a buffer argument of a kernel: the dimensions whose strides follow behind the extents.
inline constexpr llvm::StringLiteral stridesAttr = "plim.strides";
/// On a buffer argument with a static shape: its size in bytes.
inline constexpr llvm::StringLiteral bytesAttr = "plim.bytes";
/// On a function that the runtime calls: what a call needs of the slab and of each pool.
inline constexpr llvm::StringLiteral workspaceBytesAttr = "plim.workspace_bytes";
/// On a dispatch: where in the slab its scratch begins, if not in memory of its thread.
inline constexpr llvm::StringLiteral scratchOffsetAttr = "plim.scratch_offset";
inline constexpr llvm::StringLiteral workspaceAlignmentAttr = "plim.workspace_alignment";
inline constexpr llvm::StringLiteral poolBytesAttr = "plim.pool_bytes";
/// On a function: the buffers of its slab, in the order of their slots, whose sizes only a call knows.
/// A dictionary: `function` yields the extents that they depend on, from the arguments; `buffers`
/// is a list of dictionaries with `lifetime`, `bytes`, and the positions of the `extents` that
/// `bytes` is multiplied by.
inline constexpr llvm::StringLiteral callPlanAttr = "plim.call_plan";
/// On a function: it yields the extents of another one's call plan.
inline constexpr llvm::StringLiteral extentsFunctionAttr = "plim.extents_function";
/// On the module: the pools that its functions use; generated code knows them by their position.
inline constexpr llvm::StringLiteral poolsAttr = "plim.pools";
/// On a function: the estimated stack of its whole call tree, bytes.
inline constexpr llvm::StringLiteral stackBytesAttr = "plim.stack_bytes";
/// On a function: all its stack allocations together, whether or not they share memory.
inline constexpr llvm::StringLiteral stackSumAttr = "plim.stack_sum";
/// On a function: the stack budget that its call tree had to keep.
inline constexpr llvm::StringLiteral stackBudgetAttr = "plim.stack_budget";

/// Of a module: computes what depends on constants alone, once, after it has been linked (plim-prepare-constants).
inline constexpr llvm::StringLiteral prepareFunction = "plim.prepare";
/// On that function, and on the globals that it writes.
inline constexpr llvm::StringLiteral preparedAttr = "plim.prepared";
/// On such a global that no code writes: how it is made of another one before that function runs. A dictionary: `source` is the
/// other, `extents`, `of` and `steps` are those of Arrangement's dimensions (ir/Analysis/Arrangement.h).
inline constexpr llvm::StringLiteral arrangementAttr = "plim.arrangement";

/// Where an allocation may live, and after placement where it lives.
struct Scope {
  enum Kind { Global, Stack, Workspace, Pool, Local, Workgroup };
  Kind kind = Global;
  llvm::StringRef pool = {}; // of kind Pool

  /// From "global", "global.stack", "global.workspace", "global.POOL", "local", "workgroup".
  static std::optional<Scope> parse(llvm::StringRef text);
};

/// Accessor of an allocation that host functions outside of the module touch.
inline constexpr llvm::StringLiteral externalAccessor = "external";

/// Does the op end the call if a condition does not hold?
bool isAssertion(mlir::Operation *op);

/// The name of the op that the author wrote.
llvm::StringRef sourceName(mlir::Operation *op);

/// Bytes of an element in memory as LLVM lays it out: i1 takes one, i24 four, index eight, a complex
/// number twice its part, a vector the next power of two.
int64_t elementBytes(mlir::Type element);

/// Is it an integer or a float that fills its bytes in memory? Then several side by side are one wider.
bool fillsItsBytes(mlir::Type element);

/// Does it only hold numbers: a float of 8 bits, f8E4M3FN or f8E5M2? Arithmetic on one is that of f32, rounded.
bool isStorageFloat(mlir::Type type);

/// Is this the value of a constant that code can have in itself: dense, of at most `limit` bytes, with
/// elements that are the same in LLVM's memory and in ours?
bool isInlineConstant(mlir::Attribute value, int64_t limit);

/// Bounds of an extent, inclusive.
struct ExtentBounds {
  int64_t min = 0;
  std::optional<int64_t> max = std::nullopt;
};
/// What the dictionary, which may be null, says.
ExtentBounds extentBounds(mlir::DictionaryAttr bounds);

/// Lets upstream's analysis of bounds see `plim.bounds`.
void registerValueBoundsOpInterface(mlir::DialectRegistry &registry);

/// Lets one-shot bufferization see plim.dispatch.
void registerBufferizableOpInterface(mlir::DialectRegistry &registry);

} // namespace plim::ir
