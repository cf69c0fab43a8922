#include "engine/session/Arguments.h"

#include "engine/session/State.h"

#include <cstdint>
#include <variant>

namespace plim::session {

using jit::FunctionSignature;
using jit::ValueType;
using runtime::Buffer;
using runtime::Scalar;
using runtime::Value;

namespace {

Status checkBounds(const FunctionSignature &signature, size_t argument, const Buffer &buffer) {
  const std::vector<jit::ExtentBounds> &bounds = signature.arguments[argument].bounds;
  for (size_t d = 0; d < bounds.size(); ++d)
    if (int64_t extent = buffer.shape()[d]; extent < bounds[d].min || extent > bounds[d].max)
      return errorAtPlace(StatusCode::InvalidArgument,
                          signature.location + "extent " + std::to_string(d) + " of " +
                              argumentText(signature, argument) + " of '" + signature.name +
                              "' is " + std::to_string(extent) + ", but its bounds are " +
                              toString(bounds[d]));
  return okStatus();
}

} // namespace

std::string argumentText(const FunctionSignature &signature, size_t index) {
  const std::string &name = signature.arguments[index].name;
  return "argument #" + std::to_string(index) + (name.empty() ? "" : " (%" + name + ")");
}

Status checkArguments(const FunctionSignature &signature,
                      std::span<const runtime::ElementType> elementTypes,
                      std::span<const Value> arguments) {
  const std::vector<ValueType> &types = signature.arguments;
  if (arguments.size() != types.size())
    return invalidArgumentError("'" + signature.name + "' takes " + std::to_string(types.size()) +
                                " arguments, got " + std::to_string(arguments.size()));
  for (size_t i = 0; i < types.size(); ++i) {
    bool fits = false;
    if (const auto *scalar = std::get_if<Scalar>(&arguments[i])) {
      fits = !types[i].isShaped && scalar->type == elementTypes[i];
    } else {
      const Buffer &buffer = std::get<Buffer>(arguments[i]);
      fits = buffer && types[i].isShaped && buffer.type() == elementTypes[i] &&
             shapeFits(types[i], buffer.shape()) && stridesFit(types[i], buffer);
      if (fits && types[i].access != jit::Access::ReadOnly && buffer.readOnly())
        return invalidArgumentError(argumentText(signature, i) + " of '" + signature.name +
                                    "' is read-only, but the function writes it");
    }
    if (!fits) {
      const auto *buffer = std::get_if<Buffer>(&arguments[i]);
      std::string have = buffer && !*buffer ? "an empty handle" : typeName(arguments[i]);
      return invalidArgumentError(argumentText(signature, i) + " of '" + signature.name + "' is " +
                                  have + expected(types[i], buffer) +
                                  (types[i].isShaped == (buffer != nullptr) ? ""
                                   : types[i].isShaped                      ? " as a buffer"
                                                                            : " as a scalar"));
    }
    if (!types[i].bounds.empty())
      PLIM_RETURN_IF_ERROR(checkBounds(signature, i, std::get<Buffer>(arguments[i])));
  }
  return okStatus();
}

} // namespace plim::session
