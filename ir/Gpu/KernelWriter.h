// KernelWriter: writes the body of one kernel, and collects what it needs.
//
//   KernelWriter kernel(module, loc, numbers, 256);
//   kernel.forEachInvocation(total, [&](mlir::Value position) { ... kernel.store(...); });
//   kernels.push_back(kernel.finish(workgroups, iterations));
//
// Buffers and words become arguments of the kernel as they are used. Ops go where builder() stands.
// One instance writes one kernel; not for several threads.
#pragma once

#include "ir/Gpu/Kernels.h"
#include "ir/Gpu/Views.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallSet.h"

namespace plim::ir {

class KernelWriter {
public:
  /// Begins a kernel at the end of `module`.
  KernelWriter(mlir::gpu::GPUModuleOp module, mlir::Location loc, Numbers &numbers,
               unsigned workgroupSize);

  mlir::ImplicitLocOpBuilder &builder() { return b; }
  unsigned workgroupSize() const { return size; }

  mlir::Value index(int64_t value);
  /// The number as an index.
  mlir::Value word(Number number);
  /// A scalar argument of the dispatch.
  mlir::Value scalar(unsigned argument, mlir::Type type);
  mlir::Value threadId();
  mlir::Value workgroupId();
  mlir::Value workgroups();

  mlir::Value load(const View &view, mlir::ValueRange indices);
  void store(mlir::Value value, const View &view, mlir::ValueRange indices);
  /// What `value` gives where the condition holds, zero elsewhere.
  mlir::Value valueIf(mlir::Value condition, mlir::Type type,
                      llvm::function_ref<mlir::Value()> value);
  /// Workgroup memory for `count` elements.
  mlir::Value workgroupMemory(mlir::Type element, int64_t count);
  mlir::Value loadShared(mlir::Value memory, mlir::Type element, mlir::Value index);
  void storeShared(mlir::Value value, mlir::Value memory, mlir::Value index);
  void barrier();
  /// The address of an element, as a pointer of LLVM, for what only PTX has.
  mlir::Value address(const View &view, mlir::ValueRange indices, unsigned space);
  /// `count` elements behind a pointer, wherever that is.
  mlir::Value behind(mlir::Value pointer, mlir::Type element, mlir::Value count);
  mlir::Value sharedAddress(mlir::Value memory, mlir::Value index, unsigned space);

  /// Runs `body` for each position below `total`, spread over all invocations of all workgroups.
  void forEachInvocation(Number total, llvm::function_ref<void(mlir::Value)> body);
  /// The same for `count` positions at a time, and for one where there are no more: what a body
  /// loads before it stores is on its way together.
  void forEachInvocation(Number total, unsigned count,
                         llvm::function_ref<void(llvm::ArrayRef<mlir::Value>)> body);
  /// The same with positions that the invocations of this workgroup share.
  void forEachInWorkgroup(Number total, unsigned count,
                          llvm::function_ref<void(llvm::ArrayRef<mlir::Value>)> body);
  /// The same, a workgroup for each position.
  void forEachWorkgroup(Number total, llvm::function_ref<void(mlir::Value)> body);
  /// The indices of a position among `sizes`, the last one fastest.
  llvm::SmallVector<mlir::Value> delinearize(mlir::Value position, llvm::ArrayRef<Number> sizes);

  const llvm::SmallSet<unsigned, 8> &loaded() const { return loads; }
  const llvm::SmallSet<unsigned, 8> &stored() const { return stores; }
  /// Begins to count them anew.
  void forgetAccesses() {
    loads.clear();
    stores.clear();
  }
  /// Ends the kernel, which is launched with so many workgroups; `iterations` is how often an
  /// invocation goes round its loops at most.
  Kernel finish(Number workgroups, Number iterations);

private:
  mlir::Value buffer(unsigned position, mlir::Type element);
  mlir::Value position(const View &view, mlir::ValueRange indices);
  mlir::Value argument(mlir::Type type);
  mlir::Value fromStored(mlir::Value value, mlir::Type element);
  mlir::Value toStored(mlir::Value value);
  void forStrided(mlir::Value first, mlir::Value step, Number total,
                  llvm::function_ref<void(mlir::Value)> body);
  void forStrided(mlir::Value first, mlir::Value step, Number total, unsigned count,
                  llvm::function_ref<void(llvm::ArrayRef<mlir::Value>)> body);

  Numbers &numbers;
  mlir::gpu::GPUFuncOp function;
  mlir::ImplicitLocOpBuilder b;
  unsigned size;
  llvm::MapVector<unsigned, mlir::Value> bufferArguments;
  llvm::MapVector<std::pair<Number, mlir::Type>, mlir::Value> wordArguments;
  llvm::SmallSet<unsigned, 8> loads, stores;
};

} // namespace plim::ir
