// DispatchLowering: dispatches that stand in modules of their own, from there to LLVM IR, several at once.
//
//   DispatchLowering lowering(in, separateDispatches(module), mayShare, options); // on the thread of the context
//   for (const DispatchLowering::Dispatch &dispatch : lowering.all())
//     StatusOr<ObjectEmitter> emitter = lowering.lower(dispatch);                 // each once
//
// MLIR's contexts are made for one thread, since a thread that leaves one for want of memory leaves its locks taken. So each
// thread has a context of its own, and dispatches come to it as bytecode. What comes out is the same either way.
#pragma once

#include "ir/Conversion/SeparateDispatches.h"
#include "ir/Pipelines/Pipelines.h"
#include "jit/CompileContext.h"
#include "jit/ObjectEmitter.h"
#include "jit/Patience.h"

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace plim::jit {

/// All is borrowed, but for the pipeline.
struct DispatchLoweringOptions {
  ir::PipelineOptions pipeline;
  const targets::DeviceDescription &device;
  Numerics numerics;
  llvm::StringRef source, name; // for diagnostics
  const std::function<void(const Diagnostic &)> &witness;
  const Patience &patience;
  Profiler *profiler;
};

class DispatchLowering {
public:
  struct Dispatch {
    std::string name;
    size_t size = 0;                          // operations
    mlir::OwningOpRef<mlir::ModuleOp> module; // or, if threads share them,
    std::string bytecode;
  };

  /// The dispatches are in the context of `in`, which is borrowed. If `mayShare`, several threads may call lower() at once.
  /// Otherwise the one of the context does.
  DispatchLowering(CompileContext &in, std::vector<ir::SeparateDispatch> separate, bool mayShare,
                   DispatchLoweringOptions options);
  ~DispatchLowering();

  llvm::ArrayRef<Dispatch> all() const { return dispatches; }

  /// The code of one of them, translated. InvalidArgument as CompileDiagnostics says it; the status of the patience when
  /// that is over.
  StatusOr<ObjectEmitter> lower(const Dispatch &dispatch);

private:
  class Worker;

  Worker &take();
  void giveBack(Worker &worker);

  const DispatchLoweringOptions options;
  std::vector<Dispatch> dispatches;
  std::mutex mutex;
  std::vector<std::unique_ptr<Worker>> workers; // who runs out of memory is not idle any more
  std::vector<Worker *> idle;
};

} // namespace plim::jit
