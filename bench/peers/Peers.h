// Peers: the same matrix product in OpenBLAS and in oneDNN, the same convolution in oneDNN.
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

/// The sum of the products of a filter with each window of an image, all dense and row-major.
///
/// Dimensions have letters, outermost first: n batch, g groups, c channels and f filters of a group, d, h, w space, which is the
/// window's in the filter. There is no padding: an image has what its windows touch.
struct Convolution {
  std::string image{}, filter{}, result{}; // such as "nhwc", "hwcf", "nhwf"
  int64_t batch = 1, groups = 1, channels = 1, filters = 1;
  struct Axis {
    int64_t extent = 1, window = 1, stride = 1, dilation = 1; // extent: of the result
    int64_t image() const { return (extent - 1) * stride + (window - 1) * dilation + 1; }
  };
  Axis d{}, h{}, w{};
  runtime::ElementType element = runtime::ElementType::F32, sum = runtime::ElementType::F32;

  const Axis &axis(char letter) const { return letter == 'd' ? d : letter == 'h' ? h : w; }
  static bool isSpace(char letter) { return letter == 'd' || letter == 'h' || letter == 'w'; }
  /// Of a letter that is not of space.
  int64_t extent(char letter) const {
    return letter == 'n' ? batch : letter == 'g' ? groups : letter == 'c' ? channels : filters;
  }
  std::vector<int64_t> imageShape() const {
    return shape(image, [](const Axis &axis) { return axis.image(); });
  }
  std::vector<int64_t> filterShape() const {
    return shape(filter, [](const Axis &axis) { return axis.window; });
  }
  std::vector<int64_t> resultShape() const {
    return shape(result, [](const Axis &axis) { return axis.extent; });
  }

private:
  template <typename Of> std::vector<int64_t> shape(const std::string &letters, Of of) const {
    std::vector<int64_t> extents;
    for (char letter : letters)
      extents.push_back(isSpace(letter) ? of(axis(letter)) : extent(letter));
    return extents;
  }
};

struct Peer {
  std::string name;
  std::function<void()> run; // writes c
};

/// The process again, with the environment in which peers take the kernels that fit this processor and let it go soon when
/// they wait. To be called first in main().
void prepareForPeers(char **argv);

/// Those that can do it, on `threads` threads. The memory must live as long as they.
std::vector<Peer> peersOf(const Product &product, int threads, const void *a, const void *b,
                          void *c);

/// oneDNN up to three times: with everything as it lies; with a filter that it has packed before, as it likes; and with image and
/// result reordered in each run as well. Left out where it has but plain loops for it.
std::vector<Peer> peersOf(const Convolution &convolution, int threads, const void *image,
                          const void *filter, void *result);

} // namespace plim::bench
