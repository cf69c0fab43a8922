// Code of dispatches over the kernels of Kernels.h, for both kinds, and the views of its arguments.
#pragma once

#include "devices/GpuCode.h"
#include "engine/abi/plim_abi.h"
#include "tests/unit/devices/Kernels.h"

#include <span>
#include <vector>

namespace plim::devices {

inline std::string bytesOf(std::span<const uint32_t> words) {
  return {reinterpret_cast<const char *>(words.data()), words.size_bytes()};
}

inline GpuCode sampleCode(GpuCodeKind kind) {
  GpuCode code;
  code.kind = kind;
  code.maxElements = INT32_MAX;
  code.modules = kind == GpuCodeKind::Ptx
                     ? std::vector<std::string>{bothPtx}
                     : std::vector<std::string>{bytesOf(axpyWords), bytesOf(scaleWords)};
  return code;
}

inline GpuKernel axpyKernel(std::vector<uint32_t> buffers, uint32_t n, uint32_t a,
                            uint32_t workgroups) {
  return {"axpy", 0, {64, 1, 1}, std::move(buffers), {{n, 32}, {a, 32}}, workgroups};
}

inline GpuKernel scaleKernel(const GpuCode &code, std::vector<uint32_t> buffers, uint32_t n,
                             uint32_t a, uint32_t workgroups) {
  uint32_t module = code.kind == GpuCodeKind::Ptx ? 0 : 1;
  return {"scale", module, {64, 1, 1}, std::move(buffers), {{n, 64}, {a, 32}}, workgroups};
}

/// (x, a, y): y = a * x + y
inline GpuCode axpyCode(GpuCodeKind kind) {
  GpuCode code = sampleCode(kind);
  code.arguments = {
      {true, 4, 1, true, false}, {false, 4, 0, true, false}, {true, 4, 1, true, true}};
  code.numbers = {{GpuNumber::Extent, 0, 0},
                  {GpuNumber::Scalar, 1, 0},
                  {GpuNumber::Constant, 64, 0},
                  {GpuNumber::CeilDivide, 0, 2}};
  code.kernels = {axpyKernel({0, 2}, 0, 1, 3)};
  code.kernels[0].iterations = 2; // 64 rounds: too many, but no matter
  return code;
}

/// (x, y): y = 10 * x, by way of a temporary. y is written only.
inline GpuCode tenfoldCode(GpuCodeKind kind) {
  GpuCode code = sampleCode(kind);
  constexpr int64_t two = 0x40000000, three = 0x40400000; // bits of f32
  code.arguments = {{true, 4, 1, true, false}, {true, 4, 1, false, true}};
  code.numbers = {{GpuNumber::Extent, 0, 0},      {GpuNumber::Constant, 64, 0},
                  {GpuNumber::CeilDivide, 0, 1},  {GpuNumber::Constant, 4, 0},
                  {GpuNumber::Multiply, 0, 3},    {GpuNumber::Constant, two, 0},
                  {GpuNumber::Constant, three, 0}};
  code.temporaries = {{4, 4}};
  code.kernels = {scaleKernel(code, {0, 2}, 0, 5, 2), scaleKernel(code, {2, 1}, 0, 6, 2),
                  axpyKernel({2, 1}, 0, 5, 2)};
  for (GpuKernel &kernel : code.kernels)
    kernel.iterations = 1;
  return code;
}

/// A vector as an argument. Neither copied nor moved, as its view points into it.
struct Vector {
  explicit Vector(size_t size, float first = 0)
      : elements(size), extent(static_cast<int64_t>(size)) {
    for (size_t i = 0; i < size; ++i)
      elements[i] = first + static_cast<float>(i);
  }
  Vector(const Vector &) = delete;
  Vector &operator=(const Vector &) = delete;
  plim_view view() { return {elements.data(), &extent, nullptr}; }

  std::vector<float> elements;
  int64_t extent;
};

} // namespace plim::devices
