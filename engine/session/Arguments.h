// Do the arguments of a call fit the signature of its function? Asked of all that a host
// application hands over, before anything of it is used. Arguments that fit become views, as
// generated code takes them.
//
// Pure functions; nothing is allocated unless something does not fit. Any thread.
#pragma once

#include "engine/abi/plim_abi.h"
#include "engine/runtime/ElementType.h"
#include "engine/runtime/Value.h"
#include "jit/Artifact.h"
#include "support/Status.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>

namespace plim::session {

/// "argument #1 (%x)", without the name where the source gives it none.
std::string argumentText(const jit::FunctionSignature &signature, size_t index);

/// Checks number, types, extents with their bounds, and strides of the arguments, and whether those
/// that the function writes are writable. `types` are the element types of the signature's
/// arguments, in order. InvalidArgument names the argument that does not fit, and how. Does not
/// look whether buffers overlap: see Overlap.h.
Status checkArguments(const jit::FunctionSignature &signature,
                      std::span<const runtime::ElementType> types,
                      std::span<const runtime::Value> arguments);

/// Fills in `views`, one for each argument. They borrow: a scalar's points into `arguments`, a
/// buffer's at its memory, extents and strides. The arguments must have passed checkArguments().
inline void makeViews(std::span<const runtime::Value> arguments, std::span<plim_view> views) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (const auto *scalar = std::get_if<runtime::Scalar>(&arguments[i])) {
      views[i] = {const_cast<uint64_t *>(&scalar->bits), nullptr, nullptr};
    } else {
      const runtime::Buffer &buffer = std::get<runtime::Buffer>(arguments[i]);
      views[i] = {const_cast<void *>(buffer.data()), const_cast<int64_t *>(buffer.shape().data()),
                  buffer.strides().data()};
    }
  }
}

} // namespace plim::session
