// An array whose size is known when it is made and that lives in place up to N elements: argument
// lists of a call, which must not take memory from the system in the common case.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

namespace plim {

template <typename T, size_t N> class SmallArray {
public:
  explicit SmallArray(size_t size) {
    if (size > N) {
      large = std::make_unique<T[]>(size);
      elements = large.get();
    }
  }
  SmallArray(const SmallArray &) = delete;
  SmallArray &operator=(const SmallArray &) = delete;

  T *data() { return elements; }
  T &operator[](size_t index) { return elements[index]; }

private:
  std::array<T, N> small;
  std::unique_ptr<T[]> large;
  T *elements = small.data();
};

} // namespace plim
