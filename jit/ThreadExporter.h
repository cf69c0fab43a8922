// ThreadExporter: how exported code runs the workgroups of its dispatches: one after the other, or on
// threads that the program brings.
//
// Between ExtentExporter and Exporter. docs/design/export.md says what comes out. On the thread of the
// module's context.
#pragma once

#include "jit/ExtentExporter.h"

namespace plim::jit {

class ThreadExporter : public ExtentExporter {
public:
  using ExtentExporter::ExtentExporter;

protected:
  static constexpr llvm::StringLiteral parallelPrefix = "plim.parallel.";

  /// Calls of plim_rt_dispatch become calls of the dispatch for all its workgroups, or, on targets
  /// of several cores, of a function of parallelPrefix that asks the program's threads, if there are
  /// any. Before the runtime is defined.
  void callDispatches();
  /// The most that a thread needs for the scratch of a dispatch.
  int64_t threadScratchBytes = 0;

private:
  /// Is there but one workgroup, whatever the extents?
  bool isAlone(llvm::StringRef dispatch);
  mlir::LLVM::LLVMFuncOp parallelOf(llvm::StringRef dispatch);
  mlir::LLVM::LLVMFuncOp workOf(llvm::StringRef dispatch);
  mlir::LLVM::LLVMFuncOp begin(const std::string &symbol, mlir::Type result,
                               llvm::ArrayRef<mlir::Type> types);
  /// The field of NAME_threads: context, run, scratch.
  mlir::Value threadsField(mlir::Value threads, int32_t field);
};

} // namespace plim::jit
