// ExtentExporter: what exported code does about extents that only a call knows: arguments are
// checked, results are compared with the room that they have, and buffers get their places in the
// workspace.
//
// Between ExternalExporter and Exporter. docs/design/export.md says what comes out. On the thread of
// the module's context.
#pragma once

#include "jit/ExternalExporter.h"

namespace plim::jit {

/// Where the memory of each result is described, behind `resultsOffset` of the context: slots of
/// eight bytes.
enum ResultSlot : int64_t {
  ResultData,  // where it goes
  ResultRoom,  // bytes that are there
  ResultSizes, // where its extents go as soon as they are known
  ResultSlots
};

class ExtentExporter : public ExternalExporter {
public:
  using ExternalExporter::ExternalExporter;

protected:
  /// No buffer has more bytes, and no workspace.
  int64_t mostBytes();
  /// `times` times the factors, none of which is negative: i64. `isTooLarge`, an i1, may be null
  /// before: whether this or one before is more than mostBytes().
  mlir::Value product(mlir::OpBuilder &at, llvm::ArrayRef<mlir::Value> factors, int64_t times,
                      mlir::Value &isTooLarge);
  /// Ends the call with InvalidArgument if `extents`, those that the type leaves open, are beyond
  /// their bounds, or the tensor beyond all memory.
  void refuseExtents(const ValueType &type, llvm::ArrayRef<mlir::Value> extents);
  /// All extents of a tensor, in slots of the frame.
  mlir::Value sizesOf(const ValueType &type, llvm::ArrayRef<mlir::Value> open);
  /// Bytes of `capacity` elements, as far as there is memory.
  mlir::Value roomOf(const ValueType &type, mlir::Value capacity);
  /// Calls of plim_rt_allocate_result for results of open extents become what gives the memory of
  /// the caller, if it has room.
  void limitResults();
  /// Calls the plan of a function whose slab depends on extents: fills in `offsets`, one for each
  /// buffer. Gives the bytes of the slab with all scratch, or a negative number if they are more
  /// than mostBytes().
  mlir::Value planSlab(const FunctionSignature &signature, mlir::Value arguments,
                       mlir::Value offsets);
  /// NAME_FUNCTION_workspace_bytes, of a function whose slab depends on extents.
  void defineQuery(const FunctionSignature &signature);

  static constexpr int64_t viewWords = ir::abi::viewBytes / wordBytes;
  /// Fills in the view at `index`.
  void view(mlir::Value views, size_t index, mlir::Value data, mlir::Value sizes);

private:
  mlir::LLVM::LLVMFuncOp planOf(const FunctionSignature &signature);
  mlir::Value isNegative(mlir::OpBuilder &at, mlir::Value number);
};

} // namespace plim::jit
