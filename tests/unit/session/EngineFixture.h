// Engines, modules and buffers in one line each, for tests that expect them to be there.
#pragma once

#include "engine/session/Engine.h"
#include "tests/unit/jit/Sources.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <numeric>
#include <string>
#include <vector>

namespace plim::testing {

using runtime::Buffer;
using runtime::ElementType;
using runtime::Scalar;
using runtime::Value;

inline std::shared_ptr<Engine> makeEngine(EngineOptions options = {}) {
  if (options.threads == 0)
    options.threads = 2;
  StatusOr<std::shared_ptr<Engine>> engine = Engine::create(std::move(options));
  EXPECT_TRUE(engine.ok()) << engine.status().toString();
  return engine.ok() ? *engine : nullptr;
}

/// This machine with a device "npu" that has memory of its own, "npu.sram".
inline targets::TargetDescription boardTarget() {
  targets::TargetDescription target = makeEngine()->target();
  targets::DeviceDescription &npu = target.devices.emplace_back();
  npu.name = "npu";
  npu.kind = targets::DeviceKind::Npu;
  targets::MemoryDescription &sram = target.memories.emplace_back();
  sram.name = "npu.sram";
  sram.kind = targets::MemoryKind::Device;
  sram.accessibleBy = {"npu"};
  return target;
}

inline std::shared_ptr<Module> load(Engine &engine, std::string_view source,
                                    const LoadOptions &options = {}) {
  StatusOr<std::shared_ptr<Module>> module = engine.load(source, "in.mlir", options);
  EXPECT_TRUE(module.ok()) << module.status().toString();
  return module.ok() ? *module : nullptr;
}

inline Function lookup(const std::shared_ptr<Module> &module, std::string_view name) {
  StatusOr<Function> function = module->lookup(name);
  EXPECT_TRUE(function.ok()) << function.status().toString();
  return *function;
}

template <typename T> constexpr ElementType elementTypeOf();
template <> constexpr ElementType elementTypeOf<float>() { return ElementType::F32; }
template <> constexpr ElementType elementTypeOf<double>() { return ElementType::F64; }
template <> constexpr ElementType elementTypeOf<int8_t>() { return ElementType::I8; }
template <> constexpr ElementType elementTypeOf<int32_t>() { return ElementType::I32; }

template <typename T>
Buffer makeBuffer(std::initializer_list<int64_t> shape, const std::vector<T> &values) {
  static const auto pool = std::make_shared<runtime::MemoryPool>();
  StatusOr<Buffer> buffer =
      Buffer::fromCopy(pool, elementTypeOf<T>(), std::span(shape.begin(), shape.size()),
                       std::as_bytes(std::span(values)));
  EXPECT_TRUE(buffer.ok()) << buffer.status().toString();
  return *buffer;
}

/// 0, 1, 2 ... modulo 7, minus 3: sums of products of these are exact in any order.
inline Buffer smallIntegers(std::initializer_list<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(static_cast<int>(i * 5 % 7) - 3);
  return makeBuffer(shape, values);
}

template <typename T> std::vector<T> elements(const Value &value) {
  const Buffer &buffer = std::get<Buffer>(value);
  EXPECT_EQ(buffer.type(), elementTypeOf<T>());
  const T *data = static_cast<const T *>(buffer.data());
  return std::vector<T>(data, data + buffer.elementCount());
}

inline std::vector<int64_t> shapeOf(const Value &value) {
  std::span<const int64_t> shape = std::get<Buffer>(value).shape();
  return {shape.begin(), shape.end()};
}

inline Scalar scalarF32(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return {ElementType::F32, bits};
}

/// The results of a call that must work.
inline std::vector<Value> callOk(const Function &function, const std::vector<Value> &arguments) {
  StatusOr<std::vector<Value>> results = function.call(arguments);
  EXPECT_TRUE(results.ok()) << results.status().toString();
  return results.ok() ? *results : std::vector<Value>();
}

/// The status of a call that must not.
inline Status callStatus(const Function &function, const std::vector<Value> &arguments) {
  return function.call(arguments).status();
}

/// For an artifact cache.
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string pattern = ::testing::TempDir() + "plim.engine.XXXXXX";
    EXPECT_NE(mkdtemp(pattern.data()), nullptr);
    name = pattern;
  }
  ~TemporaryFolder() {
    std::error_code error;
    std::filesystem::remove_all(name, error);
  }
  const std::string &path() const { return name; }
  /// Those with this extension; with none, all.
  std::vector<std::filesystem::path> files(std::string_view extension = "") const {
    std::vector<std::filesystem::path> found;
    for (const auto &entry : std::filesystem::directory_iterator(name))
      if (extension.empty() || entry.path().extension() == extension)
        found.push_back(entry.path());
    return found;
  }

private:
  std::string name;
};

} // namespace plim::testing
