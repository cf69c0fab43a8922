// The modules that policies are compared on: what makes temporaries in practice, and a sweep over
// their size. Any thread.
#pragma once

#include "bench/policies/Race.h"

#include <vector>

namespace plim::bench {

/// Small temporaries in a loop, an attention block, a chain of convolutions, a kernel with one scratch
/// buffer of 64 B to 1 MiB for each element, and the network of examples/digits, which stands in
/// `digitsFolder`.
StatusOr<std::vector<Workload>> makeWorkloads(const std::string &digitsFolder);

} // namespace plim::bench
