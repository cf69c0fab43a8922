// Do the arguments of a call fit the signature of its function? Asked of all that a host application hands over,
// before anything of it is used. And as generated code sees them.
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

/// Number, types, extents and strides of the arguments, and whether what the function writes may be written. `types` are
/// the element types of the signature's arguments. InvalidArgument names the argument that does not fit, and how.
Status checkArguments(const jit::FunctionSignature &signature,
                      std::span<const runtime::ElementType> types,
                      std::span<const runtime::Value> arguments);

/// Views of the arguments, one for each; those of scalars point into `arguments`.
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
