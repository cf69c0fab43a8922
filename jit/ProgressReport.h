// ProgressReport: tells the host how far a compilation is, as CompileProgress.
//
//   ProgressReport progress(options.progress);      // says 0 at once
//   progress.advance(0.2);                          // while the module is lowered
//   progress.begin(sizes);                          // the jobs are known
//   progress.end(size, ok);                         // by whatever thread did one
#pragma once

#include "jit/Compiler.h"

#include "llvm/ADT/ArrayRef.h"

#include <mutex>

namespace plim::jit {

/// Where the work of a compilation stands when a part of it begins, 0 to 1: measured with models on one thread.
namespace begins {
inline constexpr double stages[] = {0.01, 0.03, 0.05, 0.06, 0.13, 0.19, 0.20}; // of ir::stages()
/// Where dispatches are lowered, unless jobs do that, and where that has ended, also of what is lowered as a whole.
inline constexpr double restOfConversion = 0.24, translation = 0.40;
} // namespace begins

/// One call of the host at a time. The callback is borrowed.
class ProgressReport {
public:
  explicit ProgressReport(const ProgressCallback &callback) : callback(callback) {
    if (callback)
      callback(progress);
  }

  explicit operator bool() const { return bool(callback); }

  /// Before the jobs are known. A second lowering begins where the first one ended.
  void advance(double fraction);
  /// Before the first of jobs of these sizes.
  void begin(llvm::ArrayRef<size_t> sizes);
  /// After each of them, by any thread.
  void end(size_t size, bool ok);

private:
  void tell(double fraction);

  const ProgressCallback &callback;
  std::mutex mutex;
  CompileProgress progress;
  size_t doneSize = 0, totalSize = 0;
  double jobsBegin = 0;
  bool hasFailed = false;
};

} // namespace plim::jit
