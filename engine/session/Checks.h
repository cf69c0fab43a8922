// Checks: whether what the host application hands over fits what a module takes, and what it is
// called in messages. For engine/session alone. Any thread.
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

/// Has the shape the rank of the type, and its extents where they are static?
bool shapeFits(const jit::ValueType &type, std::span<const int64_t> shape);
/// Has the buffer the strides of the type where they are static? Of a type without strides it must
/// be dense. The rank must fit; strides along an extent of one do not count.
bool stridesFit(const jit::ValueType &type, const runtime::Buffer &buffer);
/// ", expected 3x4xf32": what a value that does not fit should have been. `buffer` is that value,
/// null for a scalar.
std::string expected(const jit::ValueType &type, const runtime::Buffer *buffer);

bool isAligned(const void *memory, int64_t alignment);
/// The buffer itself, unless it is dense and its elements are not aligned: then a copy in memory of
/// its own. If the buffer is of a mapped file, its pages are dropped afterwards. ResourceExhausted
/// without memory.
StatusOr<runtime::Buffer> aligned(const runtime::Buffer &buffer);
/// Have the memories a byte in common?
bool overlap(const HostMemory &a, const HostMemory &b);
/// Up to the next multiple of PLIM_BUFFER_ALIGNMENT.
size_t roundUp(int64_t bytes);

/// ResourceExhausted on a thread with too little stack to make an engine, or to link code; the
/// compiler has threads of its own. What lies outside of the thread's own stack is not known, and
/// not judged.
Status checkStack();

/// Are these pools of the module, in memory that may hold one? InvalidArgument for an unknown name,
/// with the nearest one, for null and for memory that is not aligned to PLIM_BUFFER_ALIGNMENT.
/// Sizes are not looked at.
Status checkPools(const Pools &pools, const jit::Artifact &artifact);

/// What `call()` gives, a StatusOr<T>. Callbacks of the host promise not to throw; if one does,
/// that becomes Unknown, with what the exception says.
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
