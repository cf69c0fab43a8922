#include "ir/Gpu/Numbers.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace plim::ir;

namespace {

/// Null where it has no value, or one that only a launch should compute.
std::optional<int64_t> compute(Numbers::Kind kind, int64_t a, int64_t b) {
  using enum plim::devices::GpuNumber::Kind;
  int64_t result = 0;
  switch (kind) {
  case Add:
    return llvm::AddOverflow(a, b, result) ? std::nullopt : std::optional(result);
  case Subtract:
    return llvm::SubOverflow(a, b, result) ? std::nullopt : std::optional(result);
  case Multiply:
    return llvm::MulOverflow(a, b, result) ? std::nullopt : std::optional(result);
  case Minimum:
    return std::min(a, b);
  case Maximum:
    return std::max(a, b);
  default:
    break;
  }
  if (b <= 0)
    return std::nullopt;
  switch (kind) {
  case FloorDivide:
    return llvm::divideFloorSigned(a, b);
  case CeilDivide:
    return llvm::divideCeilSigned(a, b);
  case Divide:
    return a / b;
  case Remainder:
    return a % b;
  default:
    return std::nullopt;
  }
}

} // namespace

Number Numbers::get(Kind kind, int64_t a, int64_t b) {
  auto [position, isNew] = known.try_emplace({kind, a, b}, static_cast<Number>(all.size()));
  if (isNew)
    all.push_back({kind, a, b});
  return position->second;
}

std::optional<int64_t> Numbers::constantOf(Number number) const {
  const plim::devices::GpuNumber &found = all[number];
  return found.kind == Kind::Constant ? std::optional(found.a) : std::nullopt;
}

Number Numbers::apply(Kind kind, Number a, Number b) {
  using enum plim::devices::GpuNumber::Kind;
  const std::optional<int64_t> left = constantOf(a), right = constantOf(b);
  if (left && right)
    if (std::optional<int64_t> value = compute(kind, *left, *right))
      return constant(*value);
  const bool isSymmetric = kind == Add || kind == Multiply || kind == Minimum || kind == Maximum;
  if (isSymmetric && (left || (!right && a > b)))
    return apply(kind, b, a, left);
  return apply(kind, a, b, right);
}

Number Numbers::apply(Kind kind, Number a, Number b, std::optional<int64_t> right) {
  using enum plim::devices::GpuNumber::Kind;
  if ((kind == Minimum || kind == Maximum) && a == b)
    return a;
  if ((kind == Add || kind == Subtract) && right == 0)
    return a;
  if ((kind == Multiply || kind == FloorDivide || kind == CeilDivide || kind == Divide) &&
      right == 1)
    return a;
  if (kind == Multiply && right == 0)
    return constant(0);
  return get(kind, a, b);
}

Number Numbers::product(llvm::ArrayRef<Number> factors) {
  Number result = constant(1);
  for (Number factor : factors)
    result = apply(Kind::Multiply, result, factor);
  return result;
}
