// Checks: whether what the host application hands over fits what a module takes, and what it is called in messages. For engine/session
// alone.
#pragma once

#include "engine/runtime/Buffer.h"
#include "engine/session/Engine.h"
#include "jit/Artifact.h"

#include <cstdint>
#include <exception>
#include <span>
#include <string>

namespace plim::session {

/// "3x4xf32", with the strides if it is not dense; of a scalar its type.
std::string typeName(const runtime::Value &value);

bool shapeFits(const jit::ValueType &type, std::span<const int64_t> shape);
bool stridesFit(const jit::ValueType &type, const runtime::Buffer &buffer);
/// ", expected 3x4xf32": what a buffer that does not fit should have been.
std::string expected(const jit::ValueType &type, const runtime::Buffer *buffer);

bool isAligned(const void *memory, int64_t alignment);
/// The buffer, or a copy of a dense one whose elements lie unaligned in a file; the pages of that go. ResourceExhausted.
StatusOr<runtime::Buffer> aligned(const runtime::Buffer &buffer);
bool overlap(const HostMemory &a, const HostMemory &b);
/// Up to the next multiple of PLIM_BUFFER_ALIGNMENT.
size_t roundUp(int64_t bytes);

/// ResourceExhausted on a thread with too little stack to make an engine, or to link code; the compiler has threads of
/// its own. What lies outside of the thread's own stack is not known, and not judged.
Status checkStack();

/// Are these pools of the module, in memory that may hold one?
Status checkPools(const Pools &pools, const jit::Artifact &artifact);

/// What a callback of the host gives, which promises not to throw, but may: Unknown then.
template <typename T, typename CallT> StatusOr<T> withoutThrowing(CallT call) {
  try {
    return call();
  } catch (const std::exception &exception) {
    return Status(StatusCode::Unknown, std::string("it threw an exception: ") + exception.what());
  } catch (...) {
    return Status(StatusCode::Unknown, "it threw an exception");
  }
}

} // namespace plim::session
