// TileFallback: compiles without tile registers (AMX) where the kernel refuses them to this
// process.
//
// The kernel answers only when it is asked, and is asked only for code that uses tile registers,
// since a permission has its price (targets::requestTiles()). If it refuses, the code is compiled a
// second time, and everything after it at once without tile registers. One for each engine; must
// not know what is compiled, nor how.
//
// Threads: any. Several that find the refusal at the same time compile twice each.
#pragma once

#include "jit/Compiler.h"

#include <atomic>
#include <chrono>
#include <functional>

namespace plim::session {

class TileFallback {
public:
  /// `request` asks the kernel whether this process may use them. Called from the threads that
  /// compile, several at once.
  explicit TileFallback(std::function<bool()> request) : request(std::move(request)) {}

  /// Calls `compileFor(mayUseTiles, options)`, which gives a StatusOr of something with an
  /// `artifact`, and returns what that gave: on this thread, once, or twice if the kernel refuses.
  /// A second compilation has the same deadline as the first, and its progress is told from where
  /// the first one came to.
  template <typename CompileT>
  auto compile(const jit::CompileOptions &options, const CompileT &compileFor)
      -> decltype(compileFor(true, options)) {
    if (isRefused)
      return compileFor(false, options);
    jit::CompileOptions both = options;
    if (!both.begin)
      both.begin = std::chrono::steady_clock::now();
    double reached = 0;
    if (options.progress)
      both.progress = [&](const jit::CompileProgress &progress) {
        reached = progress.fraction;
        options.progress(progress);
      };
    auto result = compileFor(true, both);
    if (!result.ok() || !jit::usesTiles((*result).artifact) || request())
      return result;
    isRefused = true;
    if (options.progress)
      both.progress = [&](const jit::CompileProgress &progress) {
        if (progress.fraction > reached)
          options.progress(progress);
      };
    return compileFor(false, both);
  }

private:
  const std::function<bool()> request;
  std::atomic<bool> isRefused = false;
};

} // namespace plim::session
