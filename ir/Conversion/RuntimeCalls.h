// Building blocks of the lowering over engine/abi: declarations of the runtime's symbols, memrefs
// from raw pointers and back, words of the ABI.
//
// Mirrors the offsets of engine/abi/plim_abi.h, whose static_asserts pin them.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace plim::ir {

namespace abi {
inline constexpr int32_t contextStatusOffset = 8;
inline constexpr int32_t contextFlagsOffset = 12;
inline constexpr uint32_t callApart = 1;
inline constexpr int32_t contextWorkspaceOffset = 16;
inline constexpr int32_t viewBytes = 24;
inline constexpr int32_t viewSizesOffset = 8;
inline constexpr int32_t viewStridesOffset = 16;
inline constexpr int64_t openExtent = -1;
inline constexpr int32_t contextPoolsOffset = 40;
inline constexpr int32_t contextOffsetsOffset = 48;
inline constexpr int32_t contextVariablesOffset = 56;
inline constexpr int32_t contextCallStatusOffset = 64;
inline constexpr int32_t contextBytes = 72;
inline constexpr char accessRead = 1, accessWrite = 2;
inline constexpr int64_t bufferAlignment = 64;
} // namespace abi

/// The runtime's symbols, declared in a module on first use.
class RuntimeCalls {
public:
  /// `functions` are those of the module, by the names that dispatches have for them.
  RuntimeCalls(mlir::ModuleOp module, const mlir::SymbolTable &functions);

  mlir::LLVM::LLVMFuncOp dispatch, schedule, allocate, allocateResult, release, scratch, recurse,
      call, launch, fail, requireFailed;

  /// The address of a NUL-terminated constant string.
  mlir::Value string(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef text);
  /// The address of the constant plim_dispatch of a dispatch function.
  mlir::Value dispatchDescriptor(mlir::OpBuilder &builder, mlir::Location loc,
                                 llvm::StringRef function);
  /// The address of a constant plim_schedule.
  mlir::Value scheduleTable(mlir::OpBuilder &builder, mlir::Location loc,
                            llvm::ArrayRef<uint64_t> predecessors);

  /// The address of the plim_external that the linker provides for a function of the host application.
  mlir::Value external(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef function);

private:
  mlir::LLVM::LLVMFuncOp declare(llvm::StringRef name, mlir::Type result,
                                 llvm::ArrayRef<mlir::Type> arguments);
  mlir::LLVM::GlobalOp constantString(llvm::StringRef text);
  mlir::LLVM::LLVMFuncOp byteCount(mlir::func::FuncOp dispatch);
  mlir::ModuleOp module;
  const mlir::SymbolTable &functions;
  mlir::OpBuilder builder;
  llvm::DenseMap<mlir::StringAttr, mlir::LLVM::GlobalOp> strings;
  llvm::StringMap<mlir::LLVM::GlobalOp> descriptors, externals;
  unsigned nextString = 0, nextSchedule = 0;
};

/// Of `index` in generated code: 32 where the target has addresses of 32 bits, else 64.
unsigned indexBits(mlir::Operation *op);

mlir::Value constant64(mlir::OpBuilder &builder, mlir::Location loc, int64_t value);

/// A memref whose element 0 lies at `base`, of an identity or strided layout; `dynamicSizes` are i64,
/// one for each dynamic dimension in order, and `dynamicStrides` for each dynamic stride.
mlir::Value makeMemref(mlir::OpBuilder &builder, mlir::Location loc, mlir::MemRefType type,
                       mlir::Value base, mlir::ValueRange dynamicSizes,
                       mlir::ValueRange dynamicStrides = {});
/// The address of element 0.
mlir::Value pointerOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value memref);

/// A scalar as a 64-bit word of the ABI, and back.
mlir::Value toWord(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value scalar);
mlir::Value fromWord(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type,
                     mlir::Value word);

/// Loads and stores at a byte offset.
mlir::Value loadAt(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type, mlir::Value base,
                   int32_t offset);
void storeAt(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, mlir::Value base,
             int32_t offset);
/// The status of a context.
mlir::Value loadStatus(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value context);
/// The status of its call, which another thread may set at any time.
mlir::Value loadCallStatus(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value context);
/// Does it say that no two buffers among the arguments of the call have a byte in common?
mlir::Value areApart(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value context);

/// Scalars behind a view's data pointer; index is i64 there.
mlir::Value loadScalar(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type,
                       mlir::Value address);
void storeScalar(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                 mlir::Value address);

/// What the view at `index` of a call's arguments describes: a memref, or a scalar.
mlir::Value unpackView(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type,
                       mlir::Value views, unsigned index);
/// Fills in the view at `index` of a call's results: data and extents of a memref, or a scalar where its
/// data pointer says.
void packView(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value result, mlir::Value views,
              unsigned index);

/// Room in the frame of a function for the arrays that a call of the runtime reads and writes. All calls of
/// the function share it, one after the other, so that frames do not grow with the number of calls.
class CallFrame {
public:
  /// All of it is free again: the call before is over, and its results have been read.
  void reset() { used = 0; }
  /// The address of `words` words, for a call that `builder` makes in `function`. Null for none.
  mlir::Value take(mlir::OpBuilder &builder, mlir::func::FuncOp function, int64_t words);
  /// An array of `values`, of 64 bits each.
  mlir::Value array(mlir::OpBuilder &builder, mlir::func::FuncOp function, mlir::ValueRange values);

private:
  mlir::LLVM::AllocaOp memory;
  int64_t used = 0, size = 0;
};

/// Those of the functions of a module.
class CallFrames {
public:
  /// That of the function around `at`, free for a call that is made there.
  CallFrame &start(mlir::Operation *at) {
    CallFrame &frame = frames[at->getParentOfType<mlir::func::FuncOp>()];
    frame.reset();
    return frame;
  }

private:
  llvm::DenseMap<mlir::Operation *, CallFrame> frames; // by function
};

} // namespace plim::ir
