#include "devices/GpuCode.h"

#include "tests/unit/devices/SampleCode.h"
#include "tests/unit/engine/Random.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

namespace plim::devices {
namespace {

GpuCode fullCode() {
  GpuCode code = tenfoldCode(GpuCodeKind::Spirv);
  code.features = {"shaderInt64", ""};
  code.kernels[0].workgroupSize = {8, 4, 2};
  for (int kind = 0; kind <= GpuNumber::Maximum; ++kind)
    if (kind != GpuNumber::Extent && kind != GpuNumber::Scalar)
      code.numbers.push_back({static_cast<GpuNumber::Kind>(kind), 1, 0});
  code.arguments.push_back({false, 8, 0, true, false});
  code.numbers.push_back({GpuNumber::Scalar, 2, 0});
  code.numbers.push_back({GpuNumber::Constant, INT64_MIN, 0});
  // The last argument came between.
  for (GpuKernel &kernel : code.kernels)
    for (uint32_t &buffer : kernel.buffers)
      buffer += buffer == 2;
  return code;
}

TEST(GpuCodeTest, ComesBack) {
  for (const GpuCode &code : {GpuCode(), fullCode(), axpyCode(GpuCodeKind::Ptx)}) {
    StatusOr<GpuCode> decoded = decodeGpuCode(encode(code));
    ASSERT_TRUE(decoded.ok()) << decoded.status().toString();
    EXPECT_EQ(*decoded, code);
    EXPECT_EQ(encode(*decoded), encode(code));
  }
}

void expectSane(std::string_view bytes) {
  StatusOr<GpuCode> decoded = decodeGpuCode(bytes);
  if (decoded.ok()) {
    EXPECT_TRUE(verify(*decoded).ok());
    EXPECT_EQ(encode(*decoded), bytes);
  } else {
    EXPECT_EQ(decoded.status().code(), StatusCode::DataLoss);
  }
}

TEST(GpuCodeTest, SurvivesDamage) {
  GpuCode code = fullCode();
  code.modules = {std::string(20, 'x'), std::string(4, 'y')}; // their bytes are as good as any
  const std::string bytes = encode(code);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(decodeGpuCode(std::string_view(bytes).substr(0, size)).status().code(),
              StatusCode::DataLoss);
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[size] = static_cast<char>(damaged[size] ^ (1 << bit));
      expectSane(damaged);
    }
  }
  EXPECT_EQ(decodeGpuCode(bytes + '\0').status().code(), StatusCode::DataLoss);

  PLIM_TRACE_SEED();
  std::mt19937_64 random(plim::testing::testSeed());
  for (int round = 0; round < 20000; ++round) {
    std::string damaged = bytes;
    for (uint64_t i = 0, count = 1 + random() % 4; i < count; ++i)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    expectSane(damaged);
  }
}

TEST(GpuCodeTest, RefusesWhatPointsAtNothing) {
  const GpuCode good = fullCode();
  ASSERT_TRUE(verify(good).ok());
  auto last = static_cast<int64_t>(good.numbers.size());
  const std::vector<std::function<void(GpuCode &)>> faults = {
      [](GpuCode &code) { code.kind = static_cast<GpuCodeKind>(2); },
      [](GpuCode &code) { code.maxElements = -1; },
      [](GpuCode &code) { code.arguments[0].bytes = 3; },
      [](GpuCode &code) { code.arguments[0].bytes = 0; },
      [](GpuCode &code) { code.arguments[2].rank = 1; },
      [](GpuCode &code) { code.arguments[2].isWritten = true; },
      [](GpuCode &code) { code.numbers[0].a = 2; }, // the extent of a scalar
      [](GpuCode &code) { code.numbers[0].a = -1; },
      [](GpuCode &code) { code.numbers[0].b = 1; },
      [](GpuCode &code) { code.numbers[0].b = -1; },
      [](GpuCode &code) { code.numbers[0] = {GpuNumber::Scalar, 0, 0}; },
      [](GpuCode &code) { code.numbers[0] = {GpuNumber::Scalar, 3, 0}; },
      [](GpuCode &code) { code.numbers[2].a = 2; }, // itself
      [](GpuCode &code) { code.numbers[2].b = -1; },
      [](GpuCode &code) { code.numbers[0].kind = static_cast<GpuNumber::Kind>(12); },
      [=](GpuCode &code) { code.temporaries[0].bytes = static_cast<uint32_t>(last); },
      [](GpuCode &code) { code.temporaries[0].elementBytes = 16; },
      [](GpuCode &code) { code.kernels[0].entry = ""; },
      [](GpuCode &code) { code.kernels[0].entry.push_back('\0'); },
      [](GpuCode &code) { code.kernels[0].module = 2; },
      [](GpuCode &code) { code.kernels[0].workgroupSize[2] = 0; },
      [](GpuCode &code) { code.kernels[0].buffers[0] = 2; }, // a scalar
      [](GpuCode &code) { code.kernels[0].buffers[0] = 4; },
      [=](GpuCode &code) { code.kernels[0].words[0].number = static_cast<uint32_t>(last); },
      [](GpuCode &code) { code.kernels[0].words[0].bits = 16; },
      [=](GpuCode &code) { code.kernels[0].workgroups = static_cast<uint32_t>(last); },
      [=](GpuCode &code) { code.kernels[0].iterations = static_cast<uint32_t>(last); },
      [](GpuCode &code) { code.kernels[0].workgroupMemory = 1u << 31; },
      [](GpuCode &code) { code.kernels[0].workgroupMemory = 16; }, // of SPIR-V
      [](GpuCode &code) { code.modules[0].pop_back(); },
      [](GpuCode &code) { code.modules[0].clear(); },
  };
  for (size_t i = 0; i < faults.size(); ++i) {
    GpuCode bad = good;
    faults[i](bad);
    EXPECT_EQ(verify(bad).code(), StatusCode::DataLoss) << i;
    EXPECT_EQ(decodeGpuCode(encode(bad)).status().code(), StatusCode::DataLoss) << i;
  }
}

} // namespace
} // namespace plim::devices
