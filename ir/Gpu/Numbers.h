// Numbers: what a launch computes before its kernels run, sizes above all.
//
//   Number rows = numbers.extent(0, 0), columns = numbers.extent(0, 1);
//   Number elements = numbers.product({rows, columns});
//
// Equal numbers are one, and what is known is computed here, so that two sizes that are written
// alike can be compared by their positions: equal ones are equal in every launch, others may be. An
// instance belongs to one thread.
#pragma once

#include "devices/GpuCode.h"

#include "llvm/ADT/ArrayRef.h"

#include <map>
#include <optional>
#include <tuple>
#include <vector>

namespace plim::ir {

/// A position in the list.
using Number = uint32_t;

class Numbers {
public:
  using Kind = devices::GpuNumber::Kind;

  Number constant(int64_t value) { return get(Kind::Constant, value, 0); }
  /// Of argument `argument`, a tensor, in dimension `dimension`.
  Number extent(unsigned argument, unsigned dimension) {
    return get(Kind::Extent, argument, dimension);
  }
  Number scalar(unsigned argument) { return get(Kind::Scalar, argument, 0); }
  /// `kind` of two numbers. What overflows, or divides by what is not positive, is left to the
  /// launch, which fails then.
  Number apply(Kind kind, Number a, Number b);
  /// Of none: 1.
  Number product(llvm::ArrayRef<Number> factors);

  /// Nothing if only a launch knows it.
  std::optional<int64_t> constantOf(Number number) const;
  bool isConstant(Number number, int64_t value) const { return constantOf(number) == value; }
  /// The list that positions are of, for the code; at the end.
  std::vector<devices::GpuNumber> take() { return std::move(all); }

private:
  Number get(Kind kind, int64_t a, int64_t b);
  /// With the known one of two numbers behind.
  Number apply(Kind kind, Number a, Number b, std::optional<int64_t> right);

  std::vector<devices::GpuNumber> all;
  std::map<std::tuple<Kind, int64_t, int64_t>, Number> known;
};

} // namespace plim::ir
