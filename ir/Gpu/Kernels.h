// Kernels: from a dispatch on buffers to kernels that say nothing of their language yet.
//
// Each op of linalg becomes one kernel: a workgroup, or an invocation, for an element of its
// result, in a loop that makes any number of workgroups right. A kernel is a gpu.func in a
// gpu.module. Its arguments are the buffers, one-dimensional memrefs of what memory holds, then
// words: sizes, which are `index`, and scalars, which are integers of 32 or 64 bits. Inside are
// arith, math and scf, loads and stores at linear positions, and workgroup memory as memref.alloc.
#pragma once

#include "ir/Gpu/Numbers.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"

#include <vector>

namespace plim::ir {

/// What kernels may count on: limits of the device, and the numerics of the module.
struct KernelOptions {
  /// Invocations of a workgroup: a power of two.
  unsigned workgroupSize = 256;
  /// Workgroups of a kernel at most: more work is done in loops.
  int64_t maxWorkgroups = 65535;
  /// Workgroups that run at once, at least. 0: not known.
  int64_t cores = 0;
  /// Does what a workgroup writes to buffers reach all of it at a barrier?
  bool sharesBuffers = false;
  /// Dimensions of all that an op reads and writes beside the product that it joins, at most: each
  /// may be a size that a launch hands over.
  size_t maxJoinedRank = SIZE_MAX;
  /// Elements that an invocation loads before it stores the first, where each is by itself.
  unsigned elementsAtOnce = 1;
  /// Are there matrix units, and copies to workgroup memory that run beside (cp.async), like those
  /// of sm_80?
  bool hasMatrixUnits = false;
  /// And those of sm_90a, which a warpgroup uses together?
  bool hasWarpgroupUnits = false;
  /// Sums in the order of the source.
  bool strict = false;
};

/// One kernel and what a launch hands it. `words`, `workgroups` and `iterations` are positions in
/// Kernels::numbers.
struct Kernel {
  mlir::gpu::GPUFuncOp function;
  /// Tensor arguments of the dispatch by their position, then temporaries.
  std::vector<unsigned> buffers;
  std::vector<Number> words;
  Number workgroups;
  Number iterations; // of loops, by an invocation
};

/// The kernels of a dispatch; their functions belong to the module that they were written into.
struct Kernels {
  std::vector<Kernel> all; // in the order in which they run
  std::vector<devices::GpuArgument> arguments;
  std::vector<devices::GpuTemporary> temporaries;
  Numbers numbers;
};

/// Writes kernels for `dispatch`, a function over memrefs whose last `outputs` arguments are
/// destinations of what it returns, into `module`. Fails with a diagnostic that says what no kernel
/// does.
mlir::FailureOr<Kernels> writeKernels(mlir::func::FuncOp dispatch, unsigned outputs,
                                      mlir::gpu::GPUModuleOp module, const KernelOptions &options);

/// What memory holds for elements of this type: i8 for i1, integers for floats that kernels take
/// for bits. Null for types that kernels do not have.
mlir::Type storedType(mlir::Type element);

} // namespace plim::ir
