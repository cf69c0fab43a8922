// The main of the benchmark programs.
#pragma once

#include <benchmark/benchmark.h>

namespace plim::bench {

/// Registers the benchmarks and runs those that the command line names. The program's exit status.
inline int runBenchmarks(int argc, char **argv, void (*registerAll)()) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv))
    return 2;
  registerAll();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

} // namespace plim::bench
