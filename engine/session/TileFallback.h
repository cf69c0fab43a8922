// TileFallback: compiles without tile registers (AMX) where the kernel refuses them to this process.
//
// It says so when it is asked, and is asked only for code that uses them, since a permission has its price
// (targets::requestTiles()). So the first such code is compiled twice; after that everything is compiled without.
// Must not know what is compiled, nor how.
//
// Threads: any.
#pragma once

#include "jit/Compiler.h"

#include <atomic>
#include <chrono>
#include <functional>

namespace plim::session {

class TileFallback {
public:
  /// `request` asks the kernel.
  explicit TileFallback(std::function<bool()> request) : request(std::move(request)) {}

  /// What `compileFor(mayUseTiles, options)` gives, a StatusOr of something with an `artifact`. A second compilation has the
  /// same deadline, and its progress is told from where the first one came to.
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
