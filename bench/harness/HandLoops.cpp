#include "bench/harness/HandLoops.h"

#include <algorithm>
#include <benchmark/benchmark.h>
#include <bit>
#include <cmath>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace plim::bench {

namespace {

using Float16 = float __attribute__((vector_size(64)));
/// For addresses that are aligned for a float only.
using Float16Unaligned = float __attribute__((vector_size(64), aligned(4)));

Float16 loadVector(const float *address) {
  return *reinterpret_cast<const Float16Unaligned *>(address);
}
void storeVector(float *address, Float16 value) {
  *reinterpret_cast<Float16Unaligned *>(address) = value;
}

/// Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.28.
float erfPolynomial(float x) {
  float t = std::fabs(x);
  float p = 0.0000430638F;
  p = p * t + 0.0002765672F;
  p = p * t + 0.0001520143F;
  p = p * t + 0.0092705272F;
  p = p * t + 0.0422820123F;
  p = p * t + 0.0705230784F;
  p = p * t + 1.0F;
  p *= p;
  p *= p;
  p *= p;
  p *= p;
  return std::copysign(1.0F - 1.0F / p, x);
}

/// 2^n * e^r with |r| <= ln(2) / 2 and the Taylor polynomial of degree 6; x <= 0.
float expPolynomial(float x) {
  x = std::max(x, -87.0F);
  float n = __builtin_roundevenf(x * 1.44269504F);
  float r = x - n * 0.693359375F + n * 2.12194440e-4F;
  float p = 1.0F / 720;
  p = p * r + 1.0F / 120;
  p = p * r + 1.0F / 24;
  p = p * r + 1.0F / 6;
  p = p * r + 0.5F;
  p = p * r + 1.0F;
  p = p * r + 1.0F;
  return p * std::bit_cast<float>((static_cast<int32_t>(n) + 127) << 23);
}

constexpr int64_t tileRows = 8;
constexpr int64_t tileColumns = 32;

/// acc[i][.] += a[i * rowStride + k] * b[k][.] for k in [0, depth).
[[gnu::always_inline]] inline void accumulate(Float16 (&acc)[tileRows][2], const float *a,
                                              int64_t rowStride, const float *b, int64_t bStride,
                                              int64_t depth) {
  for (int64_t k = 0; k < depth; ++k) {
    Float16 left = loadVector(b + k * bStride);
    Float16 right = loadVector(b + k * bStride + 16);
#pragma unroll
    for (int64_t i = 0; i < tileRows; ++i) {
      float element = a[i * rowStride + k];
      acc[i][0] += element * left;
      acc[i][1] += element * right;
    }
  }
}

} // namespace

void copy(float *y, const float *x, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i += 16)
    storeVector(y + i, loadVector(x + i));
}

void copyNonTemporal(float *y, const float *x, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i += 16)
    __builtin_nontemporal_store(loadVector(x + i), reinterpret_cast<Float16 *>(y + i));
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

double multiplyAdd(int64_t rounds) {
  // Vectors of the width that there is, and chains enough for the latency of two units, which stay in registers.
#if defined(__AVX512F__)
  constexpr int lanes = 16;
#elif defined(__AVX__)
  constexpr int lanes = 8;
#else
  constexpr int lanes = 4;
#endif
  using Vector = float __attribute__((vector_size(lanes * sizeof(float))));
  constexpr int chains = 12;
  Vector acc[chains] = {};
  Vector x = Vector{} + 0.5F, y = Vector{} + 1.0F;
  benchmark::DoNotOptimize(x);
  benchmark::DoNotOptimize(y);
  for (int64_t round = 0; round < rounds; ++round) {
#pragma unroll
    for (Vector &chain : acc)
      chain = chain * x + y;
  }
  for (Vector &chain : acc)
    benchmark::DoNotOptimize(chain);
  return static_cast<double>(rounds) * chains * lanes * 2;
}

void scaleShiftRelu(float *__restrict y, const float *__restrict x, const float *__restrict w,
                    const float *__restrict b, int64_t columns, int64_t rowBegin, int64_t rowEnd) {
  for (int64_t i = rowBegin; i < rowEnd; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      float sum = x[i * columns + j] * w[j] + b[j];
      y[i * columns + j] = sum > 0 ? sum : 0;
    }
}

void gelu(float *__restrict y, const float *__restrict x, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    y[i] = x[i] * 0.5F * (1.0F + erfPolynomial(x[i] * 0.707106781F));
}

void axpy(float *__restrict y, float a, const float *__restrict x, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    y[i] += a * x[i];
}

void fivePoints(float *__restrict y, const float *__restrict x, int64_t columns, int64_t rowBegin,
                int64_t rowEnd) {
  for (int64_t row = rowBegin; row < rowEnd; ++row)
    for (int64_t column = 1; column < columns - 1; ++column) {
      const float *at = x + row * columns + column;
      y[row * columns + column] = 0.2F * (at[0] + at[-columns] + at[columns] + at[-1] + at[1]);
    }
}

void softmax(float *__restrict y, const float *__restrict x, int64_t columns, int64_t rowBegin,
             int64_t rowEnd) {
  for (int64_t i = rowBegin; i < rowEnd; ++i) {
    const float *in = x + i * columns;
    float *out = y + i * columns;
    // Sixteen running values: the order of a serial loop would forbid vectors.
    Float16 tops = loadVector(in);
    for (int64_t j = 16; j < columns; j += 16) {
      Float16 next = loadVector(in + j);
      tops = next > tops ? next : tops;
    }
    float top = tops[0];
    for (int lane = 1; lane < 16; ++lane)
      top = std::max(top, tops[lane]);
    for (int64_t j = 0; j < columns; ++j)
      out[j] = expPolynomial(in[j] - top);
    Float16 sums = {};
    for (int64_t j = 0; j < columns; j += 16)
      sums += loadVector(out + j);
    float sum = 0;
    for (int lane = 0; lane < 16; ++lane)
      sum += sums[lane];
    float scale = 1 / sum;
    for (int64_t j = 0; j < columns; ++j)
      out[j] *= scale;
  }
}

void packColumns(float *__restrict packed, const float *__restrict b, int64_t n, int64_t k,
                 int64_t panelBegin, int64_t panelEnd) {
  for (int64_t panel = panelBegin; panel < panelEnd; ++panel)
    for (int64_t i = 0; i < k; ++i)
      for (int64_t j = 0; j < tileColumns; ++j)
        packed[(panel * k + i) * tileColumns + j] = b[i * n + panel * tileColumns + j];
}

void matmul(float *__restrict c, const float *__restrict a, const float *__restrict packed,
            int64_t n, int64_t k, int64_t rowBegin, int64_t rowEnd) {
  constexpr int64_t depthBlock = 256;
  for (int64_t depth = 0; depth < k; depth += depthBlock)
    for (int64_t j = 0; j < n; j += tileColumns)
      for (int64_t i = rowBegin; i < rowEnd; i += tileRows) {
        Float16 acc[tileRows][2] = {};
        if (depth > 0)
#pragma unroll
          for (int64_t row = 0; row < tileRows; ++row) {
            acc[row][0] = loadVector(c + (i + row) * n + j);
            acc[row][1] = loadVector(c + (i + row) * n + j + 16);
          }
        accumulate(acc, a + i * k + depth, k, packed + j * k + depth * tileColumns, tileColumns,
                   std::min(depthBlock, k - depth));
#pragma unroll
        for (int64_t row = 0; row < tileRows; ++row) {
          storeVector(c + (i + row) * n + j, acc[row][0]);
          storeVector(c + (i + row) * n + j + 16, acc[row][1]);
        }
      }
}

void convolve3x3(float *__restrict y, const float *__restrict x, const float *__restrict weight,
                 int64_t outWidth, int64_t inChannels, int64_t outChannels, int64_t rowBegin,
                 int64_t rowEnd) {
  const int64_t inWidth = outWidth + 2;
  for (int64_t h = rowBegin; h < rowEnd; ++h)
    for (int64_t j = 0; j < outChannels; j += tileColumns)
      for (int64_t w = 0; w < outWidth; w += tileRows) {
        Float16 acc[tileRows][2] = {};
        for (int64_t kh = 0; kh < 3; ++kh)
          for (int64_t kw = 0; kw < 3; ++kw)
            accumulate(acc, x + ((h + kh) * inWidth + w + kw) * inChannels, inChannels,
                       weight + (kh * 3 + kw) * inChannels * outChannels + j, outChannels,
                       inChannels);
#pragma unroll
        for (int64_t i = 0; i < tileRows; ++i) {
          float *out = y + (h * outWidth + w + i) * outChannels + j;
          storeVector(out, acc[i][0]);
          storeVector(out + 16, acc[i][1]);
        }
      }
}

int64_t plimBenchSum(int64_t a, int64_t b) { return a + b; }

void plimBenchAxpy(float a, const float *x, float *y) {
  for (int i = 0; i < 16; ++i)
    y[i] += a * x[i];
}

} // namespace plim::bench
