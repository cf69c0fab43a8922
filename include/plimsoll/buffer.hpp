// Buffers: tensors in memory of the host (buffer.h, dlpack.h), and the element types of C++ types.
#pragma once

#include "plimsoll/buffer.h"
#include "plimsoll/dlpack.h"
#include "plimsoll/handle.hpp"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

namespace plimsoll {

template <typename T>
concept ComplexElement = std::is_same_v<std::remove_cv_t<T>, std::complex<float>> ||
                         std::is_same_v<std::remove_cv_t<T>, std::complex<double>>;

/// The element type of a C++ type, std::complex of floats included. Integers have no sign of their
/// own; those of less than 8 bits, and floats of less than 32, have no type here.
template <typename T> constexpr plim_element_type elementTypeOf() {
  using U = std::remove_cv_t<T>;
  static_assert(ComplexElement<U> || (std::is_arithmetic_v<U> && sizeof(U) <= 8),
                "no element type");
  if constexpr (ComplexElement<U>)
    return sizeof(U) == 8 ? PLIM_COMPLEX_F32 : PLIM_COMPLEX_F64;
  else if constexpr (std::is_same_v<U, bool>)
    return PLIM_I1;
  else if constexpr (std::is_floating_point_v<U>)
    return sizeof(U) == 4 ? PLIM_F32 : PLIM_F64;
  else
    return sizeof(U) == 1   ? PLIM_I8
           : sizeof(U) == 2 ? PLIM_I16
           : sizeof(U) == 4 ? PLIM_I32
                            : PLIM_I64;
}

/// An integer that is an `index` of the module.
struct Index {
  int64_t value = 0;
};

class Engine;

/// A plim_buffer: a tensor in memory. A copy of the handle is the same memory. Whether others write
/// it meanwhile is the host's matter: nothing is locked.
class Buffer : public detail::Handle<plim_buffer, plim_buffer_retain, plim_buffer_release> {
public:
  using Handle::Handle;

  /// Memory of the host's, without a copy, which must stay as long as any handle of the buffer and
  /// any call that uses it: nothing tells when that is over. Elements that are const make a buffer
  /// that is read-only. Without a shape it has rank 1. Extents and strides count elements,
  /// outermost first; both are copied.
  template <typename T, size_t ExtentV>
  static Result<Buffer> wrap(std::span<T, ExtentV> elements, std::span<const int64_t> shape = {},
                             std::span<const int64_t> strides = {}) {
    auto size = static_cast<int64_t>(elements.size());
    auto memory = detail::sized<plim_buffer_memory>();
    memory.flags = std::is_const_v<T> ? PLIM_BUFFER_READ_ONLY : 0;
    memory.element = elementTypeOf<T>();
    memory.rank = shape.data() ? static_cast<uint32_t>(shape.size()) : 1;
    memory.shape = shape.data() ? shape.data() : &size;
    memory.strides = strides.empty() ? nullptr : strides.data();
    memory.data = const_cast<std::remove_const_t<T> *>(elements.data());
    memory.bytes = elements.size_bytes();
    return wrap(memory);
  }
  /// The same with all that C has, a callback when the memory is free among it.
  static Result<Buffer> wrap(const plim_buffer_memory &memory) {
    return detail::make<Buffer, plim_buffer>(
        [&](plim_buffer **out) { return plim_buffer_wrap(&memory, out); });
  }
  /// Dense, in memory of the engine, which the buffer keeps.
  static Result<Buffer> allocate(const Engine &engine, plim_element_type element,
                                 std::span<const int64_t> shape);
  /// The same with a copy of these elements, as many as the shape has.
  template <typename T, size_t ExtentV>
  static Result<Buffer> copy(const Engine &engine, std::span<T, ExtentV> elements,
                             std::span<const int64_t> shape);
  /// Takes the tensor over if it succeeds, without a copy of its elements.
  static Result<Buffer> fromDlpack(DLManagedTensorVersioned *tensor) {
    return detail::make<Buffer, plim_buffer>(
        [&](plim_buffer **out) { return plim_buffer_from_dlpack(tensor, out); });
  }
  /// The buffer for another library, without a copy. The caller owns the tensor, which keeps the
  /// buffer, and calls its deleter.
  Result<DLManagedTensorVersioned *> toDlpack(const plim_dlpack_request *request = nullptr) const {
    DLManagedTensorVersioned *tensor = nullptr;
    if (Status status(plim_buffer_to_dlpack(get(), request, &tensor)); !status.ok())
      return status;
    return tensor;
  }

  plim_element_type elementType() const { return plim_buffer_element_type(get()); }
  std::span<const int64_t> shape() const { return {plim_buffer_shape(get()), rank()}; }
  std::span<const int64_t> strides() const { return {plim_buffer_strides(get()), rank()}; }
  size_t rank() const { return plim_buffer_rank(get()); }
  size_t elementCount() const { return plim_buffer_element_count(get()); }
  size_t bytes() const { return plim_buffer_bytes(get()); }
  bool isDense() const { return plim_buffer_is_dense(get()); }
  bool isReadOnly() const { return plim_buffer_is_read_only(get()); }
  const void *data() const { return plim_buffer_data(get()); }
  void *mutableData() const { return plim_buffer_mutable_data(get()); }

  /// All elements of a dense buffer, in row-major order, which live as long as the buffer.
  /// PLIM_INVALID_ARGUMENT for another element type, for strides, for an empty handle, and to write
  /// what is read-only. An `index` buffer has elements of int64_t.
  template <typename T> Result<std::span<const T>> elements() const {
    if (Status status = checkElements<T>(); !status.ok())
      return status;
    return std::span(static_cast<const T *>(data()), elementCount());
  }
  template <typename T> Result<std::span<T>> mutableElements() const {
    if (Status status = checkElements<T>(); !status.ok())
      return status;
    if (isReadOnly())
      return Status(PLIM_INVALID_ARGUMENT, "the buffer is read-only");
    return std::span(static_cast<T *>(mutableData()), elementCount());
  }

private:
  template <typename T> Status checkElements() const {
    constexpr plim_element_type wanted = elementTypeOf<T>();
    if (!*this)
      return Status(PLIM_INVALID_ARGUMENT, "there is no buffer");
    if (elementType() != wanted && !(elementType() == PLIM_INDEX && wanted == PLIM_I64))
      return Status(PLIM_INVALID_ARGUMENT, std::string("the buffer has elements of ") +
                                               plim_element_type_name(elementType()) + ", not " +
                                               plim_element_type_name(wanted));
    if (!isDense())
      return Status(PLIM_INVALID_ARGUMENT, "the buffer is not dense");
    return Status();
  }
};

} // namespace plimsoll
