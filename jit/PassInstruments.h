// What watches the passes of a compilation, for a profile, for the host's progress and for a
// witness: instruments of a PassManager.
//
//   manager.addInstrumentation(std::make_unique<PassSpans>(profiler));
//
// They borrow what they tell, which must outlive the manager. Must not know what passes do; a pass
// that runs others on nested operations is told by its empty argument, and neither named nor timed.
// Threads: the passes of a pass manager run on one thread, and so do these.
#pragma once

#include "jit/ProgressReport.h"
#include "support/Profiler.h"

#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/SmallVector.h"

#include <functional>

namespace plim::jit {

/// A span for each pass, by its argument (`plim-...`), of kind Compile; one that fails has its span
/// as well.
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

/// Tells the witness which pass begins, on what: a note at the place of the operation.
class PassWitness : public mlir::PassInstrumentation {
public:
  explicit PassWitness(const std::function<void(const Diagnostic &)> &witness) : witness(witness) {}

  void runBeforePass(mlir::Pass *pass, mlir::Operation *op) override;

private:
  const std::function<void(const Diagnostic &)> &witness;
};

/// Adds those of the two that somebody wants.
void addInstruments(mlir::PassManager &manager, Profiler *profiler,
                    const std::function<void(const Diagnostic &)> &witness);

/// The progress of one pipeline, as parts of the whole compilation. Each pass over the module
/// counts the same; what runs passes on functions counts ten times as much, in which each function
/// counts the same.
class PassProgress : public mlir::PassInstrumentation {
public:
  /// `manager` has all its passes already. The pipeline is the work from `begin` to `end`, both 0
  /// to 1.
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
