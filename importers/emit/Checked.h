// Lists whose ends are looked at.
#pragma once

#include "importers/emit/Error.h"

#include <cstddef>
#include <vector>

namespace plim::importers {

/// A vector that refuses a model where an operator would read behind the end: of extents, axes, or
/// inputs. How many of them a model has is nobody's promise. The members below throw ImportError;
/// iterators, and what else a vector has, check nothing.
template <typename T> class Checked : public std::vector<T> {
public:
  using Base = std::vector<T>;
  using Base::Base;
  Checked(Base base) : Base(std::move(base)) {}

  typename Base::reference operator[](size_t i) {
    check(i);
    return Base::operator[](i);
  }
  typename Base::const_reference operator[](size_t i) const {
    check(i);
    return Base::operator[](i);
  }
  typename Base::reference at(size_t i) { return (*this)[i]; }
  typename Base::const_reference at(size_t i) const { return (*this)[i]; }
  typename Base::reference back() { return (*this)[this->size() - 1]; }
  typename Base::const_reference back() const { return (*this)[this->size() - 1]; }

  /// From one position to another, of which neither may lie behind the end.
  Checked part(size_t from, size_t to) const {
    if (from > to || to > this->size())
      refuse();
    return Checked(this->begin() + static_cast<long>(from), this->begin() + static_cast<long>(to));
  }
  /// From a position to the end.
  Checked from(size_t first) const { return part(first, this->size()); }
  /// Without the last `last` ones.
  Checked without(size_t last) const {
    return part(0, last > this->size() ? this->size() + 1 : this->size() - last);
  }

private:
  void check(size_t i) const {
    if (i >= this->size())
      refuse();
  }
  [[noreturn]] static void refuse() {
    invalid("the ranks of its inputs, or the numbers of its attributes, do not fit");
  }
};

} // namespace plim::importers
