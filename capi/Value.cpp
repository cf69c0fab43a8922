#include "plimsoll/value.h"

#include "capi/Values.h"

#include <string>

namespace plim::capi {

using runtime::Buffer;
using runtime::ElementType;
using runtime::Scalar;
using runtime::Value;

static_assert(sizeof(plim_value) == 16 && offsetof(plim_value, as) == 8);
static_assert(static_cast<int>(ElementType::I1) + 1 == PLIM_I1);
static_assert(static_cast<int>(ElementType::I8) + 1 == PLIM_I8);
static_assert(static_cast<int>(ElementType::I16) + 1 == PLIM_I16);
static_assert(static_cast<int>(ElementType::I32) + 1 == PLIM_I32);
static_assert(static_cast<int>(ElementType::I64) + 1 == PLIM_I64);
static_assert(static_cast<int>(ElementType::F16) + 1 == PLIM_F16);
static_assert(static_cast<int>(ElementType::BF16) + 1 == PLIM_BF16);
static_assert(static_cast<int>(ElementType::F32) + 1 == PLIM_F32);
static_assert(static_cast<int>(ElementType::F64) + 1 == PLIM_F64);
static_assert(static_cast<int>(ElementType::Index) + 1 == PLIM_INDEX);

StatusOr<ElementType> elementType(plim_element_type type) {
  if (type < PLIM_I1 || type > PLIM_INDEX)
    return invalidArgumentError(std::to_string(type) + " is no element type");
  return static_cast<ElementType>(type - 1);
}

plim_element_type elementType(ElementType type) { return static_cast<plim_element_type>(type) + 1; }

Arguments::~Arguments() {
  for (size_t i = 0; i < held; ++i)
    if (auto *buffer = std::get_if<Buffer>(&values[i]))
      static_cast<void>(std::move(*buffer).toPointer());
}

Status Arguments::read(const plim_value *given, size_t count) {
  auto refuse = [](size_t index, const std::string &why) {
    return invalidArgumentError("argument #" + std::to_string(index) + ": " + why);
  };
  for (; held < count; ++held) {
    const plim_value &value = given[held];
    if (value.kind == PLIM_BUFFER) {
      if (Status status = checkHandle(value.as.buffer); !status.ok()) [[unlikely]]
        return refuse(held, std::string(status.message()));
      values[held] = Buffer::fromPointer(value.as.buffer);
    } else if (value.kind == PLIM_SCALAR) {
      StatusOr<ElementType> type = elementType(value.element);
      if (!type.ok()) [[unlikely]]
        return refuse(held, std::string(type.status().message()));
      int64_t bits = runtime::elementBits(*type);
      values[held] =
          Scalar{*type, bits == 64 ? value.as.bits : value.as.bits & ((uint64_t(1) << bits) - 1)};
    } else {
      return refuse(held, "neither a scalar nor a buffer");
    }
  }
  return okStatus();
}

plim_value toHost(Value value) {
  if (auto *scalar = std::get_if<Scalar>(&value))
    return plim_value_bits(elementType(scalar->type), scalar->bits);
  return plim_value_buffer(toHandle(std::move(std::get<Buffer>(value))));
}

} // namespace plim::capi

using namespace plim;
using namespace plim::capi;

extern "C" {

const char *plim_element_type_name(plim_element_type type) {
  if (type < PLIM_I1 || type > PLIM_INDEX)
    return nullptr;
  return runtime::elementTypeName(static_cast<runtime::ElementType>(type - 1)).data();
}

plim_element_type plim_element_type_from_name(const char *name) {
  std::optional<runtime::ElementType> type;
  if (name)
    type = runtime::elementTypeFromName(name);
  return type ? elementType(*type) : 0;
}

size_t plim_element_type_bytes(plim_element_type type) {
  if (type < PLIM_I1 || type > PLIM_INDEX)
    return 0;
  return static_cast<size_t>(runtime::elementBytes(static_cast<runtime::ElementType>(type - 1)));
}

void plim_value_release(plim_value *value) {
  if (!value)
    return;
  plim_value old = *value;
  *value = {};
  if (old.kind == PLIM_BUFFER && isLive(old.as.buffer))
    runtime::Buffer::fromPointer(old.as.buffer);
}

} // extern "C"
