// Loops that generated code is compared with: what a programmer would write for the same work, and
// the ceilings of the machine.
//
// Compiled with -O3 for the machine that compiles, at full vector width. Arrays are dense, row-major
// and do not overlap. Ranges are half open, so that a caller can share them among threads. Pure
// functions; any thread.
#pragma once

#include <cstdint>

namespace plim::bench {

/// Ceilings. Elements are a multiple of 16, arrays aligned to 64 bytes.
void copy(float *y, const float *x, int64_t begin, int64_t end);
void copyNonTemporal(float *y, const float *x, int64_t begin, int64_t end);
/// Multiplies and adds in registers alone; returns the operations made.
double multiplyAdd(int64_t rounds);

/// y = max(x * w + b, 0) with w and b one row.
void scaleShiftRelu(float *y, const float *x, const float *w, const float *b, int64_t columns,
                    int64_t rowBegin, int64_t rowEnd);
/// y = x / 2 * (1 + erf(x / sqrt(2))), absolute error below 1e-6.
void gelu(float *y, const float *x, int64_t begin, int64_t end);
/// y = a * x + y.
void axpy(float *y, float a, const float *x, int64_t begin, int64_t end);
/// A fifth of the sum of each element and its four neighbours, of the inner rows and columns of a matrix.
void fivePoints(float *y, const float *x, int64_t columns, int64_t rowBegin, int64_t rowEnd);
/// Of each row; columns are a multiple of 16.
void softmax(float *y, const float *x, int64_t columns, int64_t rowBegin, int64_t rowEnd);

/// c = a * b for rows [rowBegin, rowEnd), multiples of 8; n is a multiple of 32. `packed` is b as
/// packColumns() leaves it.
void matmul(float *c, const float *a, const float *packed, int64_t n, int64_t k, int64_t rowBegin,
            int64_t rowEnd);
/// Column panels [panelBegin, panelEnd) of 32 of b, each contiguous.
void packColumns(float *packed, const float *b, int64_t n, int64_t k, int64_t panelBegin,
                 int64_t panelEnd);

/// 3x3 convolution, NHWC, of one image padded already; output width a multiple of 8, output channels
/// of 32. Rows of the output.
void convolve3x3(float *y, const float *x, const float *weight, int64_t outWidth,
                 int64_t inChannels, int64_t outChannels, int64_t rowBegin, int64_t rowEnd);

/// For calls: what generated kernels with these signatures do.
extern "C" {
int64_t plimBenchSum(int64_t a, int64_t b);
void plimBenchAxpy(float a, const float *x, float *y);
}

} // namespace plim::bench
