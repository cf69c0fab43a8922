#include "plimsoll/dlpack.h"

#include "capi/Border.h"
#include "capi/Handle.h"
#include "capi/Values.h"

#include <limits>

using namespace plim;
using namespace plim::capi;
using runtime::Buffer;
using runtime::ElementType;

// The published layout, on machines with pointers of 64 bits.
static_assert(sizeof(plim_dlpack_tensor) == 48 && sizeof(plim_dlpack_managed_tensor) == 80);
static_assert(offsetof(plim_dlpack_tensor, ndim) == 16);
static_assert(offsetof(plim_dlpack_tensor, type_code) == 20);
static_assert(offsetof(plim_dlpack_tensor, shape) == 24);
static_assert(offsetof(plim_dlpack_tensor, byte_offset) == 40);
static_assert(offsetof(plim_dlpack_managed_tensor, deleter) == 16);
static_assert(offsetof(plim_dlpack_managed_tensor, flags) == 24);
static_assert(offsetof(plim_dlpack_managed_tensor, tensor) == 32);

namespace {

constexpr uint32_t majorVersion = 1;
constexpr int32_t cpu = 1, cudaHost = 3;
enum TypeCode : uint8_t {
  Signed = 0,
  Unsigned = 1,
  Float = 2,
  BFloat = 4,
  Complex = 5,
  Bool = 6,
  Float8E4M3FN = 10,
  Float8E5M2 = 12
};

StatusOr<ElementType> readType(const plim_dlpack_tensor &tensor) {
  std::optional<ElementType> type;
  switch (tensor.type_code) {
  case Signed:
  case Unsigned:
    type = tensor.type_bits == 2    ? std::optional(ElementType::I2)
           : tensor.type_bits == 4  ? std::optional(ElementType::I4)
           : tensor.type_bits == 8  ? std::optional(ElementType::I8)
           : tensor.type_bits == 16 ? std::optional(ElementType::I16)
           : tensor.type_bits == 32 ? std::optional(ElementType::I32)
           : tensor.type_bits == 64 ? std::optional(ElementType::I64)
                                    : std::nullopt;
    break;
  case Float:
    type = tensor.type_bits == 16   ? std::optional(ElementType::F16)
           : tensor.type_bits == 32 ? std::optional(ElementType::F32)
           : tensor.type_bits == 64 ? std::optional(ElementType::F64)
                                    : std::nullopt;
    break;
  case BFloat:
    if (tensor.type_bits == 16)
      type = ElementType::BF16;
    break;
  case Complex:
    type = tensor.type_bits == 64    ? std::optional(ElementType::ComplexF32)
           : tensor.type_bits == 128 ? std::optional(ElementType::ComplexF64)
                                     : std::nullopt;
    break;
  case Bool:
    if (tensor.type_bits == 8)
      type = ElementType::I1;
    break;
  case Float8E4M3FN:
  case Float8E5M2:
    if (tensor.type_bits == 8)
      type = tensor.type_code == Float8E5M2 ? ElementType::F8E5M2 : ElementType::F8E4M3FN;
    break;
  default:
    break;
  }
  if (!type || tensor.type_lanes != 1)
    return unimplementedError("DLPack elements of type code " + std::to_string(tensor.type_code) +
                              ", " + std::to_string(tensor.type_bits) + " bits and " +
                              std::to_string(tensor.type_lanes) + " lanes");
  return *type;
}

void writeType(ElementType type, plim_dlpack_tensor &tensor) {
  tensor.type_code = type == ElementType::I1         ? Bool
                     : type == ElementType::BF16     ? BFloat
                     : type == ElementType::F8E4M3FN ? Float8E4M3FN
                     : type == ElementType::F8E5M2   ? Float8E5M2
                     : runtime::isComplex(type)      ? Complex
                     : runtime::isFloat(type)        ? Float
                                                     : Signed;
  bool isSubByte = type == ElementType::I2 || type == ElementType::I4;
  tensor.type_bits = static_cast<uint8_t>(isSubByte ? runtime::elementBits(type)
                                                    : 8 * runtime::elementBytes(type));
  tensor.type_lanes = 1;
}

/// A tensor of ours and what it keeps.
struct Exported {
  plim_dlpack_managed_tensor managed;
  Buffer buffer;
};

} // namespace

extern "C" {

plim_status *plim_buffer_from_dlpack(DLManagedTensorVersioned *tensor, plim_buffer **out_buffer) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkPointer(tensor, "tensor"));
    PLIM_RETURN_IF_ERROR(checkPointer(out_buffer, "out_buffer"));
    auto *managed = reinterpret_cast<plim_dlpack_managed_tensor *>(tensor);
    if (managed->version_major != majorVersion)
      return failedPreconditionError("a DLPack tensor of version " +
                                     std::to_string(managed->version_major) +
                                     ", but this library knows version 1");
    const plim_dlpack_tensor &given = managed->tensor;
    if (given.device_type != cpu && given.device_type != cudaHost)
      return unimplementedError("a DLPack tensor on device type " +
                                std::to_string(given.device_type) +
                                ", but only memory of the host can be used");
    PLIM_ASSIGN_OR_RETURN(ElementType type, readType(given));
    if (given.type_bits < 8 && !(managed->flags & PLIM_DLPACK_SUBBYTE_PADDED))
      return unimplementedError("a DLPack tensor with several elements in a byte");
    if (given.ndim < 0)
      return invalidArgumentError("a DLPack tensor of negative rank");
    auto rank = static_cast<size_t>(given.ndim);
    PLIM_RETURN_IF_ERROR(checkArray(given.shape, rank, "the shape of a DLPack tensor"));
    auto base = reinterpret_cast<uintptr_t>(given.data);
    if (given.byte_offset > std::numeric_limits<uintptr_t>::max() - base)
      return invalidArgumentError("the byte offset of a DLPack tensor overflows");
    // Of one without elements the pointer may be null, and an offset to it means nothing.
    void *data = given.data ? static_cast<std::byte *>(given.data) + given.byte_offset : nullptr;
    std::span<const int64_t> shape(given.shape, rank);
    bool isReadOnly = managed->flags & PLIM_DLPACK_READ_ONLY;
    auto release = [](void *user, void *) {
      auto *owned = static_cast<plim_dlpack_managed_tensor *>(user);
      if (owned->deleter)
        owned->deleter(owned);
    };
    StatusOr<Buffer> buffer = given.strides
                                  ? Buffer::wrapStrided(data, type, shape, {given.strides, rank},
                                                        isReadOnly, release, managed)
                                  : Buffer::wrap(data, type, shape, isReadOnly, release, managed);
    if (!buffer.ok())
      return buffer.status().withContext("a DLPack tensor");
    *out_buffer = toHandle(std::move(*buffer));
    return okStatus();
  });
}

plim_status *plim_buffer_to_dlpack(plim_buffer *buffer, const plim_dlpack_request *request,
                                   DLManagedTensorVersioned **out_tensor) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkHandle(buffer));
    PLIM_RETURN_IF_ERROR(checkPointer(out_tensor, "out_tensor"));
    plim_dlpack_request given;
    PLIM_RETURN_IF_ERROR(readStruct(request, "request", given));
    PLIM_RETURN_IF_ERROR(checkFlags(given.flags, 0, "request"));
    if (given.major == 0 && given.minor != 0)
      return unimplementedError("DLPack before version 1.0");
    if (given.device_type != 0 && (given.device_type != cpu || given.device_id != 0))
      return unimplementedError("a DLPack tensor for device type " +
                                std::to_string(given.device_type) + ": the buffer is the host's");
    if (given.stream != 0)
      return invalidArgumentError("a stream for a DLPack tensor, but the host has none");
    BorrowedBuffer owner(buffer);
    auto exported = std::make_unique<Exported>();
    exported->buffer = *owner;
    auto constant = [](std::span<const int64_t> numbers) {
      return const_cast<int64_t *>(numbers.data()); // consumers do not write them
    };
    plim_dlpack_managed_tensor &managed = exported->managed;
    managed = {.version_major = majorVersion,
               .version_minor = 0,
               .manager_context = exported.get(),
               .deleter =
                   [](plim_dlpack_managed_tensor *self) {
                     delete static_cast<Exported *>(self->manager_context);
                   },
               .flags = owner->readOnly() ? PLIM_DLPACK_READ_ONLY : 0,
               .tensor = {.data = const_cast<void *>(owner->data()),
                          .device_type = cpu,
                          .device_id = 0,
                          .ndim = static_cast<int32_t>(owner->shape().size()),
                          .type_code = 0,
                          .type_bits = 0,
                          .type_lanes = 1,
                          .shape = constant(owner->shape()),
                          .strides = constant(owner->strides()),
                          .byte_offset = 0}};
    writeType(owner->type(), managed.tensor);
    if (managed.tensor.type_bits < 8)
      managed.flags |= PLIM_DLPACK_SUBBYTE_PADDED;
    *out_tensor = reinterpret_cast<DLManagedTensorVersioned *>(&exported.release()->managed);
    return okStatus();
  });
}

} // extern "C"
