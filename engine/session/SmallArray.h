// An array whose size is known when it is made and that lives in place up to N elements: argument
// lists of a call, which must not take memory from the system in the common case.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace plim {

template <typename T, size_t N> class SmallArray {
public:
  SmallArray() = default;
  explicit SmallArray(size_t size) { make(size); }
  ~SmallArray() { std::destroy_n(elements, count); }
  SmallArray(const SmallArray &) = delete;
  SmallArray &operator=(const SmallArray &) = delete;

  /// Of an array without elements, once. Those of a type without a constructor are not initialized.
  void make(size_t size) {
    if (size > N) [[unlikely]] {
      large = std::make_unique_for_overwrite<Storage[]>(size);
      elements = reinterpret_cast<T *>(large.get());
    }
    std::uninitialized_default_construct_n(elements, size);
    count = size;
  }

  T *data() { return elements; }
  T &operator[](size_t index) { return elements[index]; }
  const T &operator[](size_t index) const { return elements[index]; }
  std::span<T> span() { return {elements, count}; }
  std::span<const T> span() const { return {elements, count}; }

private:
  struct alignas(T) Storage {
    std::byte bytes[sizeof(T)];
  };
  Storage small[N];
  std::unique_ptr<Storage[]> large;
  T *elements = reinterpret_cast<T *>(small);
  size_t count = 0;
};

} // namespace plim
