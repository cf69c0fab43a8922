// What watches the passes of a compilation, for a profile, for the host's progress and for a witness: instruments of a
// PassManager, which take what they tell by reference. The passes of a compilation run on one thread.
#pragma once

#include "jit/ProgressReport.h"
#include "support/Profiler.h"

#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/SmallVector.h"

#include <functional>

namespace plim::jit {

/// A span for each pass.
class PassSpans : public mlir::PassInstrumentation {
public:
  explicit PassSpans(Profiler &profiler) : profiler(profiler) {}

  void runBeforePass(mlir::Pass *pass, mlir::Operation *op) override;
  void runAfterPass(mlir::Pass *pass, mlir::Operation *op) override;
  void runAfterPassFailed(mlir::Pass *pass, mlir::Operation *op) override;

private:
  void finish(mlir::Pass *pass);

  Profiler &profiler;
  llvm::SmallVector<int64_t> begins;
};

/// Tells the witness which pass begins, on what.
class PassWitness : public mlir::PassInstrumentation {
public:
  explicit PassWitness(const std::function<void(const Diagnostic &)> &witness) : witness(witness) {}

  void runBeforePass(mlir::Pass *pass, mlir::Operation *op) override;

private:
  const std::function<void(const Diagnostic &)> &witness;
};

/// The progress of a pipeline, which is the work from `begin` to `end`, 0 to 1: each pass of the module counts alike, and
/// what runs passes on functions as many times as much, in the course of which each function counts alike.
class PassProgress : public mlir::PassInstrumentation {
public:
  /// The manager has all its passes.
  PassProgress(ProgressReport &report, mlir::OpPassManager &manager, double begin, double end);

  void runBeforePass(mlir::Pass *pass, mlir::Operation *op) override;
  void runAfterPass(mlir::Pass *pass, mlir::Operation *op) override;
  void runAfterPassFailed(mlir::Pass *pass, mlir::Operation *op) override;

private:
  void finish(mlir::Pass *pass);
  void tell(double more);

  ProgressReport &report;
  const double begin, end;
  unsigned total = 0, done = 0, depth = 0; // passes by their weight; passes that run
  size_t functions = 0, functionsDone = 0; // of the pass that runs
  const mlir::Operation *function = nullptr;
};

} // namespace plim::jit
