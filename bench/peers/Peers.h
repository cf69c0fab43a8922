// Peers: the same matrix product in OpenBLAS and in oneDNN.
//
// One thread at a time.
#pragma once

#include "engine/runtime/ElementType.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace plim::bench {

/// c[b] = op(a[b]) * op(c[b]) for each of `batch` dense row-major matrices: c is m x n, op(a) m x k, op(b) k x n.
struct Product {
  int64_t batch = 1, m = 0, n = 0, k = 0;
  bool transposeA = false, transposeB = false; // how they lie in memory: k x m, n x k
  runtime::ElementType input = runtime::ElementType::F32, result = runtime::ElementType::F32;
};

struct Peer {
  std::string name;
  std::function<void()> run; // writes c
};

/// The process again, with the environment in which peers take the kernels that fit this processor and let it go while
/// they wait. To be called first in main().
void prepareForPeers(char **argv);

/// Those that can do it, on `threads` threads. The memory must live as long as they.
std::vector<Peer> peersOf(const Product &product, int threads, const void *a, const void *b,
                          void *c);

} // namespace plim::bench
