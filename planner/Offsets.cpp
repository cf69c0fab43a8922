#include "planner/Offsets.h"

#include <numeric>
#include <tuple>
#include <utility>

namespace plim::planner {

namespace {

/// a * b modulo `modulus`; all below it, which is at most 2^62.
int64_t multiply(int64_t a, int64_t b, int64_t modulus) {
  int64_t product = 0;
  for (; b; b >>= 1, a = (a + a) % modulus)
    if (b & 1)
      product = (product + a) % modulus;
  return product;
}

} // namespace

int64_t saturatedAdd(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) || sum > offsetLimit ? offsetLimit : sum;
}

int64_t remainder(int64_t value, int64_t modulus) {
  int64_t rest = value % modulus;
  return rest < 0 ? rest + modulus : rest;
}

bool intersect(Stride &stride, Stride other) {
  if (stride.modulus < other.modulus)
    std::swap(stride, other);
  if (stride.modulus % other.modulus == 0)
    return stride.residue % other.modulus == other.residue;
  int64_t common = std::gcd(stride.modulus, other.modulus);
  int64_t distance = other.residue - stride.residue, step = other.modulus / common, product;
  if (distance % common || __builtin_mul_overflow(stride.modulus, step, &product) ||
      product > offsetLimit)
    return false;
  // stride.residue + k * stride.modulus = other.residue modulo other.modulus, with Euclid's
  // inverse.
  int64_t a = remainder(stride.modulus / common, step), b = step, x = 1, y = 0;
  while (b) {
    int64_t quotient = a / b;
    std::tie(a, b) = std::pair(b, a % b);
    std::tie(x, y) = std::pair(y, x - quotient * y);
  }
  int64_t k = multiply(remainder(distance / common, step), remainder(x, step), step);
  stride = {product, stride.residue + k * stride.modulus};
  return true;
}

} // namespace plim::planner
