// Race: one function under several allocation policies, in turns, in one process.
//
// What a policy costs is more than time: the race also tells how deep the calling thread's stack was
// used, what the engine held for slabs, scratch and buffers, and how often it asked for memory.
//
// One race at a time: page faults are counted for the whole process.
#pragma once

#include "tools/ModuleCall.h"

#include <cstdint>
#include <string>
#include <vector>

namespace plim::bench {

struct Workload {
  std::string name;
  std::string source; // MLIR
  tools::CallText call;
};

struct RaceOptions {
  /// The first one is what the others are compared with.
  std::vector<std::string> policies = {"auto", "stack", "workspace", "heap", "fixed:1024"};
  int threads = 1;
  /// Of measuring, all policies together.
  double seconds = 3;
};

/// What calls under one policy took, in steady state.
struct Lap {
  std::string policy;
  double medianSeconds = 0;
  double p99Seconds = 0;
  int64_t calls = 0;
  /// Time by that of the first policy: median over the rounds, and the interquartile range of it.
  double versusFirst = 1;
  double versusSpread = 0;
  /// What a call touched of the calling thread's stack, the runtime's frames included.
  int64_t stackBytes = 0;
  /// Peaks of the engine: slabs and scratch; results and all other buffers.
  uint64_t workspaceBytes = 0;
  uint64_t heapBytes = 0;
  double pageFaults = 0;  // a call, of any thread of the process
  double allocations = 0; // a call: requests for buffers, slabs and scratch
  /// From the oracle, of the value nearest to what rounding may make of it; and that (Rounding.h).
  double difference = 0;
  double differenceBound = 0;
};

/// Loads the function once for each policy, compares what it returns and what it leaves in its
/// arguments with the oracle, and then makes rounds in which every policy has a burst of calls; who
/// begins changes from round to round. Memrefs that the function writes are not restored in between.
/// Arguments that the call does not give are drawn at random; a scalar or a dynamic extent must be
/// given. Errors: those of the load and of the calls, or Internal for a result that differs by more than rounding
/// explains.
StatusOr<std::vector<Lap>> race(const Workload &workload, const RaceOptions &options);

} // namespace plim::bench
