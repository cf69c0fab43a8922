// The load pipeline: which passes run in which order, and the options that shape it.
//
// Two pipelines share every stage but the optimising ones: `load` is what the engine runs; `oracle`
// is the plain lowering that every optimisation is compared with (one dispatch per op, no tiling,
// no vectorisation, buffers from the heap).
#pragma once

#include "ir/Dispatch/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"

#include <cstdint>
#include <string>
#include <vector>

namespace plim::ir {

struct PipelineOptions {
  /// Allocation policy: auto, stack, workspace, heap or fixed:N.
  std::string policy = "auto";
  /// The plain lowering instead of the optimising one.
  bool oracle = false;
  /// Every operation rounds as the source says, in its order. The oracle always does.
  bool strict = false;
  /// Constants of at most so many bytes are part of the code of each function that uses them, where
  /// LLVM can fold them: a cache line of the device, since to load less costs the same. Neither the
  /// oracle nor guarded data has any.
  int64_t inlineConstantBytes = 64;
  /// Whether all data ends at pages that may not be touched, aligned as its elements are.
  bool guarded = false;
  /// Bytes of the stack budget that placement leaves to frames: what the frames of an earlier
  /// lowering took beyond its estimate.
  int64_t stackReserveBytes = 0;
  /// If not empty, the one public function that is lowered, with these as the dynamic extents of
  /// its arguments.
  std::string specializedFunction = {};
  std::vector<int64_t> specializedExtents = {};
  /// Accelerators that there is a compiler for, and the one of them that gets the dispatches that
  /// name none; empty: the host. The oracle has none.
  std::vector<std::string> devices = {};
  std::string preferredDevice = {};
  CompileForDevice compileForDevice = {};
  /// Code for a program without the engine: nothing is prepared behind the link, dispatches run one
  /// after the other, and nobody asks a call to stop.
  bool standalone = false;
  /// Memories of the target that accelerators bring to a call.
  std::vector<std::string> deviceMemories = {};
  /// Whether what holds behind each stage is verified (VerifyStage.h): in a debug build, and in the
  /// tests of plimsoll-opt.
#ifdef NDEBUG
  bool verifyStages = false;
#else
  bool verifyStages = true;
#endif
};

/// Every dialect that may come in, the plim dialect, and the interfaces the pipeline needs.
void registerDialects(mlir::DialectRegistry &registry);

/// Every pass of the project and the pipelines `plim-tensor-pipeline`, `plim-buffer-pipeline` and
/// `plim-load-pipeline`, for plimsoll-opt. Not for the library: it touches global registries.
void registerPassesAndPipelines();

/// One of the folders of ir/ that modules go through: its passes, with passes of others that have
/// to run between them.
struct Stage {
  llvm::StringLiteral name; // the folder's
  void (*build)(mlir::OpPassManager &manager, const PipelineOptions &options);
};

/// In their order.
llvm::ArrayRef<Stage> stages();

/// The stage, and what verifies it if that is wanted.
void addStage(mlir::OpPassManager &manager, const Stage &stage, const PipelineOptions &options);

/// The last stage in two halves: what goes over the whole module, and what can then go over each of its dispatches apart
/// (Conversion/SeparateDispatches.h).
void addConversionOfWhole(mlir::OpPassManager &manager, const PipelineOptions &options);
void addConversionOfParts(mlir::OpPassManager &manager, const PipelineOptions &options);

/// Import, Dispatch, Access and Codegen: from what came in to the code of dispatches, on tensors.
void buildTensorPipeline(mlir::OpPassManager &manager, const PipelineOptions &options);

/// Memory and Schedule: from dispatches on tensors to buffers with places.
void buildBufferPipeline(mlir::OpPassManager &manager, const PipelineOptions &options);

/// Conversion, to the LLVM dialect: dispatch functions behind the ABI's entries, host code over the
/// runtime symbols.
void buildLoweringPipeline(mlir::OpPassManager &manager, const PipelineOptions &options);

/// All stages.
void buildLoadPipeline(mlir::OpPassManager &manager, const PipelineOptions &options);

} // namespace plim::ir
