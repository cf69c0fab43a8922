#include "engine/session/Checks.h"

#include "engine/io/File.h"
#include "engine/runtime/StackBounds.h"
#include "support/Nearest.h"

#include <algorithm>
#include <cstdint>

namespace plim::session {

using jit::ValueType;
using runtime::Buffer;
using runtime::Scalar;
using runtime::Value;

Status checkStack() {
  constexpr size_t needed = 20 << 10;
  const size_t left = runtime::StackBounds::leftToTheEnd();
  if (left == 0 || left >= needed)
    return okStatus();
  return resourceExhaustedError("this thread has " + std::to_string(left) +
                                " bytes of stack left; engines and modules need " +
                                std::to_string(needed));
}

std::string typeName(const Value &value) {
  if (const auto *scalar = std::get_if<Scalar>(&value))
    return std::string(elementTypeName(scalar->type));
  const Buffer &buffer = std::get<Buffer>(value);
  std::string text;
  for (int64_t extent : buffer.shape())
    text += std::to_string(extent) + "x";
  text += elementTypeName(buffer.type());
  if (buffer.isDense())
    return text;
  for (size_t i = 0; i < buffer.strides().size(); ++i)
    text += (i == 0 ? " with strides [" : ", ") + std::to_string(buffer.strides()[i]);
  return text + "]";
}

bool shapeFits(const ValueType &type, std::span<const int64_t> shape) {
  return std::equal(shape.begin(), shape.end(), type.shape.begin(), type.shape.end(),
                    [](int64_t have, int64_t want) { return want < 0 || have == want; });
}

bool stridesFit(const ValueType &type, const Buffer &buffer) {
  if (type.strides.empty())
    return buffer.isDense();
  for (size_t i = 0; i < type.strides.size(); ++i)
    // The code never steps along an extent of one.
    if (buffer.shape()[i] > 1 && type.strides[i] != jit::dynamicStride &&
        type.strides[i] != buffer.strides()[i])
      return false;
  return true;
}

std::string expected(const ValueType &type, const Buffer *buffer) {
  bool isStrided = buffer && *buffer && !buffer->isDense();
  return ", expected " + toString(type) + (isStrided && type.strides.empty() ? ", dense" : "");
}

size_t roundUp(int64_t bytes) {
  constexpr size_t alignment = PLIM_BUFFER_ALIGNMENT;
  return (static_cast<size_t>(bytes) + alignment - 1) / alignment * alignment;
}

bool isAligned(const void *memory, int64_t alignment) {
  return reinterpret_cast<uintptr_t>(memory) % static_cast<uintptr_t>(alignment) == 0;
}

StatusOr<runtime::Buffer> aligned(const runtime::Buffer &buffer) {
  if (!buffer.isDense() || isAligned(buffer.data(), elementAlignment(buffer.type())))
    return buffer;
  const std::span elements(static_cast<const std::byte *>(buffer.data()), buffer.bytes());
  StatusOr<runtime::Buffer> copy = runtime::Buffer::fromCopy(
      std::make_shared<runtime::MemoryPool>(), buffer.type(), buffer.shape(), elements);
  io::dropPages(buffer);
  return copy;
}

bool overlap(const HostMemory &a, const HostMemory &b) {
  auto beginOf = [](const HostMemory &memory) { return reinterpret_cast<uintptr_t>(memory.data); };
  return a.bytes != 0 && b.bytes != 0 && beginOf(a) < beginOf(b) + b.bytes &&
         beginOf(b) < beginOf(a) + a.bytes;
}

Status checkPools(const Pools &pools, const jit::Artifact &artifact) {
  for (const auto &[name, memory] : pools) {
    if (std::find(artifact.pools.begin(), artifact.pools.end(), name) == artifact.pools.end())
      return invalidArgumentError("the module has no pool '" + name + "'" +
                                  suggestion(name, artifact.pools));
    if (!memory.data)
      return invalidArgumentError("the memory of pool '" + name + "' is null");
    if (!isAligned(memory.data, PLIM_BUFFER_ALIGNMENT))
      return invalidArgumentError("the memory of pool '" + name + "' is not aligned to " +
                                  std::to_string(PLIM_BUFFER_ALIGNMENT) + " bytes");
  }
  return okStatus();
}

} // namespace plim::session
