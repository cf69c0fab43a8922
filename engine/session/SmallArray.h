// An array whose size is known when it is made and that lives in place up to N elements: argument
// lists of a call, which must not take memory from the system in the common case.
//
//   SmallArray<plim_view, 16> views(signature.arguments.size());
//   makeViews(arguments, views.span());
//
// Belongs to one thread. It can be neither copied nor moved: pointers to its elements stay valid as
// long as it lives. Nothing checks an index.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace plim {

template <typename T, size_t N> class SmallArray {
public:
  /// Without elements, until make().
  SmallArray() = default;
  explicit SmallArray(size_t size) { make(size); }
  ~SmallArray() { std::destroy_n(elements, count); }
  SmallArray(const SmallArray &) = delete;
  SmallArray &operator=(const SmallArray &) = delete;

  /// Makes the elements, of an array that has none; once. They are default-initialized: elements of
  /// a type without a constructor have no value yet. More than N come from the heap, and throw
  /// std::bad_alloc without memory.
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
