#include "jit/DispatchLowering.h"

#include "jit/ModuleSplitter.h"
#include "jit/PassInstruments.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/MemoryBufferRef.h"

#include <cassert>

using namespace mlir;

namespace plim::jit {

/// One context.
class DispatchLowering::Worker {
public:
  /// In a context that somebody else has.
  Worker(const DispatchLoweringOptions &options, CompileContext &in) : options(options), in(in) {}

  /// In one of its own.
  Worker(const DispatchLoweringOptions &options, std::unique_ptr<CompileContext> context)
      : Worker(options, *context) {
    own = std::move(context);
  }

  StatusOr<ObjectEmitter> lower(StringRef bytecode) {
    Block top;
    const ParserConfig config(&in.context, /*verifyAfterParse=*/false);
    if (failed(readBytecodeFile(llvm::MemoryBufferRef(bytecode, options.name), &top, config)))
      return in.diagnostics.status("lowering");
    return lower(cast<ModuleOp>(top.front()));
  }

  StatusOr<ObjectEmitter> lower(ModuleOp module) {
    // Anew for each module: upstream's convert-math-to-funcs keeps the functions that it has made in the last one.
    PassManager manager(&in.context);
    manager.enableVerifier(false);
    addInstruments(manager, options.profiler, options.witness);
    ir::addConversionOfParts(manager, options.pipeline);
    const bool ok = succeeded(manager.run(module));
    if (options.patience.isOver())
      return options.patience.status();
    if (!ok || failed(verify(module)))
      return in.diagnostics.status("lowering");
    const std::vector<ModulePiece> pieces = splitModule(module);
    assert(pieces.size() == 1 && "a dispatch and what it needs are one piece");
    ObjectEmitter emitter(*pieces[0].module, options.device,
                          options.pipeline.oracle ? CodeKind::Plain : pieces[0].kind,
                          options.numerics);
    if (!emitter.translated())
      return in.diagnostics.status("translation to LLVM IR");
    return emitter;
  }

private:
  const DispatchLoweringOptions &options;
  std::unique_ptr<CompileContext> own;
  CompileContext &in;
};

DispatchLowering::DispatchLowering(CompileContext &in, std::vector<ir::SeparateDispatch> separate,
                                   bool mayShare, DispatchLoweringOptions options)
    : options(std::move(options)) {
  for (ir::SeparateDispatch &each : separate) {
    Dispatch &dispatch = dispatches.emplace_back();
    dispatch.name = std::move(each.name);
    dispatch.size = each.size;
    dispatch.module = std::move(each.module);
    if (!mayShare)
      continue;
    llvm::raw_string_ostream stream(dispatch.bytecode);
    (void)writeBytecodeToFile(*dispatch.module, stream); // fails for versions that are not there
    dispatch.module = {};
  }
  // Nobody runs out of memory while others wait for the mutex.
  workers.reserve(dispatches.size() + 1);
  idle.reserve(dispatches.size() + 1);
  if (!mayShare)
    idle.push_back(workers.emplace_back(std::make_unique<Worker>(this->options, in)).get());
}

DispatchLowering::~DispatchLowering() = default;

StatusOr<ObjectEmitter> DispatchLowering::lower(const Dispatch &dispatch) {
  Worker &worker = take();
  StatusOr<ObjectEmitter> emitter =
      dispatch.module ? worker.lower(*dispatch.module) : worker.lower(dispatch.bytecode);
  giveBack(worker);
  return emitter;
}

DispatchLowering::Worker &DispatchLowering::take() {
  {
    std::lock_guard lock(mutex);
    if (!idle.empty()) {
      Worker &worker = *idle.back();
      idle.pop_back();
      return worker;
    }
  }
  auto worker = std::make_unique<Worker>(
      options, std::make_unique<CompileContext>(options.source, options.name, options.witness,
                                                options.patience));
  std::lock_guard lock(mutex);
  return *workers.emplace_back(std::move(worker));
}

void DispatchLowering::giveBack(Worker &worker) {
  std::lock_guard lock(mutex);
  idle.push_back(&worker);
}

} // namespace plim::jit
