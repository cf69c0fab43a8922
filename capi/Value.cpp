#include "plimsoll/value.h"

#include "capi/Values.h"

#include <iterator>
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
static_assert(static_cast<int>(ElementType::F8E4M3FN) + 1 == PLIM_F8E4M3FN);
static_assert(static_cast<int>(ElementType::F8E5M2) + 1 == PLIM_F8E5M2);

static_assert(static_cast<int>(ElementType::ComplexF32) + 1 == PLIM_COMPLEX_F32);
static_assert(static_cast<int>(ElementType::ComplexF64) + 1 == PLIM_COMPLEX_F64);
static_assert(static_cast<int>(ElementType::I2) + 1 == PLIM_I2);
static_assert(static_cast<int>(ElementType::I4) + 1 == PLIM_I4);

namespace {

// The bits of a scalar of each type; none of what cannot be one.
constexpr uint64_t masks[] = {0x1,    0xff,       0xffff,     0xffffffff, UINT64_MAX, 0xffff,
                              0xffff, 0xffffffff, UINT64_MAX, UINT64_MAX, 0xff,       0xff,
                              0,      0,          0x3,        0xf};
static_assert(std::size(masks) == PLIM_I4);

bool isElementType(plim_element_type type) { return type >= 1 && type <= std::size(masks); }
bool isScalarType(plim_element_type type) { return isElementType(type) && masks[type - 1] != 0; }

Status checkScalarType(plim_element_type type) {
  PLIM_RETURN_IF_ERROR(elementType(type).status());
  if (isScalarType(type))
    return okStatus();
  return invalidArgumentError("a scalar cannot be complex; a buffer of rank 0 can");
}

} // namespace

StatusOr<ElementType> elementType(plim_element_type type) {
  if (!isElementType(type))
    return invalidArgumentError(std::to_string(type) + " is no element type");
  return static_cast<ElementType>(type - 1);
}

plim_element_type elementType(ElementType type) { return static_cast<plim_element_type>(type) + 1; }

bool readArguments(const plim_value *given, size_t count, Arguments &arguments) {
  for (size_t i = 0; i < count; ++i) {
    const plim_value &value = given[i];
    if (value.kind == PLIM_BUFFER && isLive(value.as.buffer))
      arguments.add(std::in_place_type<Buffer>, Buffer::fromPointer(value.as.buffer));
    else if (value.kind == PLIM_SCALAR && isScalarType(value.element))
      arguments.add(std::in_place_type<Scalar>, Scalar{static_cast<ElementType>(value.element - 1),
                                                       value.as.bits & masks[value.element - 1]});
    else
      return false;
  }
  return true;
}

Status checkValues(const plim_value *given, const std::vector<jit::ValueType> &types) {
  for (size_t i = 0; i < types.size(); ++i) {
    Status status = given[i].kind == PLIM_BUFFER ? checkHandle(given[i].as.buffer)
                    : given[i].kind == PLIM_SCALAR
                        ? checkScalarType(given[i].element)
                        : invalidArgumentError("neither a scalar nor a buffer");
    const std::string &name = types[i].name;
    PLIM_RETURN_IF_ERROR(status.withContext("argument #" + std::to_string(i) +
                                            (name.empty() ? "" : " (%" + name + ")")));
  }
  return okStatus();
}

plim_value toHost(Value &value) {
  if (auto *scalar = std::get_if<Scalar>(&value))
    return plim_value_bits(elementType(scalar->type),
                           scalar->bits & masks[static_cast<size_t>(scalar->type)]);
  return plim_value_buffer(toHandle(std::move(std::get<Buffer>(value))));
}

} // namespace plim::capi

using namespace plim;
using namespace plim::capi;

extern "C" {

const char *plim_element_type_name(plim_element_type type) {
  if (!isElementType(type))
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
  if (!isElementType(type))
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
