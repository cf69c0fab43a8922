// Sources in MLIR of the functions that the programs here time.
//
// Each makes one module with one public function @main. Any thread.
#pragma once

#include <cstdint>
#include <string>

namespace plim::bench {

/// A kernel: y[i] = a * x[i] + y[i].
std::string saxpyKernel();
/// tensor<16xf32> + tensor<16xf32>.
std::string addTensors();
/// max(x * w + b, 0), w and b one row.
std::string scaleShiftReluModule(int64_t rows, int64_t columns);
/// x / 2 * (1 + erf(x / sqrt(2))).
std::string geluModule(int64_t rows, int64_t columns);
/// Softmax of each row: largest, exponentials, sum, quotient.
std::string softmaxModule(int64_t rows, int64_t columns);
/// (m, k) * (k, n).
std::string matmulModule(int64_t m, int64_t n, int64_t k);
/// max(a * w + b, 0), b one row.
std::string denseModule(int64_t m, int64_t n, int64_t k);
/// 3x3 convolution, NHWC, of a padded image of side + 2; as many channels out as in.
std::string convolutionModule(int64_t side, int64_t channels);

} // namespace plim::bench
