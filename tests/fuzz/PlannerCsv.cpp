// Problems of the planner: no text may do more than fail, and the solution of what is read reads as a
// problem with that very plan.

#include "planner/Csv.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

using namespace plim::planner;

namespace {

Problem twoPools() {
  Problem problem;
  problem.pools.resize(2);
  problem.pools[0].name = "fast";
  problem.pools[1].name = "slow";
  return problem;
}

} // namespace

// The entry point has the name and signature that libFuzzer looks for.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  Problem problem = twoPools(), pinned = twoPools();
  if (readCsv(text, problem) || !check(problem).empty())
    return 0;
  Options options;
  options.nodes = 100;
  Plan plan = solve(problem, options);
  if (!plan.isFound())
    return 0;
  if (!verify(problem, plan).empty() || readCsv(writeCsv(text, problem, plan), pinned))
    std::abort();
  // What gaps leave in use is pinned by its base.
  for (size_t i = 0; i < problem.buffers.size() && !problem.buffers[i].base; ++i)
    if (pinned.buffers[i].name != problem.buffers[i].name ||
        pinned.buffers[i].offset != plan.offsets[i] ||
        pinned.buffers[i].pools != std::vector<uint32_t>{plan.pools[i]})
      std::abort();
  return 0;
}
