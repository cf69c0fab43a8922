#include "importers/stablehlo/Scalars.h"

#include "importers/emit/Error.h"
#include "importers/emit/Sorting.h"

#include <cmath>
#include <map>
#include <string_view>

namespace plim::importers::stablehlo {

ElementType bitsType(ElementType type) {
  switch (bitsOf(type)) {
  case 8:
    return ElementType::U8;
  case 16:
    return ElementType::U16;
  case 32:
    return ElementType::U32;
  default:
    return ElementType::U64;
  }
}

Scalar conjugate(Emitter &e, const Scalar &a) {
  return isComplex(a.type) ? e.math("conj", {a}) : a;
}

Scalar divide(Emitter &e, const Scalar &a, const Scalar &b) {
  if (isFloat(a.type) || isComplex(a.type))
    return e.div(a, b);
  if (b.known && *b.known != 0 && *b.known != -1)
    return e.div(a, b);
  const Scalar zero = e.integer(a.type, 0), one = e.integer(a.type, 1), all = e.integer(a.type, -1);
  const Scalar byZero = e.compare(Compare::Equal, b, zero);
  Scalar trap = byZero;
  if (!isUnsigned(a.type))
    trap = e.either(trap, e.both(e.compare(Compare::Equal, a, e.lowest(a.type)),
                                 e.compare(Compare::Equal, b, all)));
  return e.select(byZero, all, e.div(a, e.select(trap, one, b)));
}

Scalar remainder(Emitter &e, const Scalar &a, const Scalar &b) {
  if (isFloat(a.type) || (b.known && *b.known != 0 && *b.known != -1))
    return e.rem(a, b);
  const Scalar zero = e.integer(a.type, 0), one = e.integer(a.type, 1), all = e.integer(a.type, -1);
  const Scalar byZero = e.compare(Compare::Equal, b, zero);
  Scalar trap = byZero; // what is divided by -1 has no remainder
  if (!isUnsigned(a.type))
    trap = e.either(trap, e.compare(Compare::Equal, b, all));
  return e.select(byZero, a, e.rem(a, e.select(trap, one, b)));
}

Scalar plus(Emitter &e, const Scalar &a, const Scalar &b) {
  return a.type == ElementType::I1 ? e.either(a, b) : e.add(a, b);
}

Scalar times(Emitter &e, const Scalar &a, const Scalar &b) {
  return a.type == ElementType::I1 ? e.both(a, b) : e.mul(a, b);
}

namespace {

Compare directionOf(const std::string &name) {
  static const std::map<std::string_view, Compare> names{
      {"EQ", Compare::Equal},     {"NE", Compare::NotEqual}, {"LT", Compare::Less},
      {"LE", Compare::LessEqual}, {"GT", Compare::Greater},  {"GE", Compare::GreaterEqual}};
  const auto found = names.find(name);
  if (found == names.end())
    invalid("'" + name + "' is no direction of a comparison");
  return found->second;
}

/// One zero and one NaN, which comes last.
Scalar inWeakOrder(Emitter &e, const Scalar &a) {
  const Scalar zero = e.number(a.type, 0), nan = e.number(a.type, std::nan(""));
  const Scalar number = e.select(e.compare(Compare::Equal, a, zero), zero, a);
  return e.select(e.compare(Compare::Equal, a, a), number, nan);
}

} // namespace

Scalar compared(Emitter &e, const std::string &direction, const std::string &type, const Scalar &a,
                const Scalar &b) {
  const Compare how = directionOf(direction);
  const Key inOrder = totalOrder(e, Compare::Less);
  if (type == "TOTALORDER" && isFloat(a.type))
    return e.compare(how, inOrder(a), inOrder(b));
  if (type == "WEAKORDER" && isFloat(a.type))
    return e.compare(how, inOrder(inWeakOrder(e, a)), inOrder(inWeakOrder(e, b)));
  return e.compare(how, a, b);
}

Scalar minus(Emitter &e, const Scalar &a, const Scalar &b) { return e.sub(a, b); }
Scalar lesser(Emitter &e, const Scalar &a, const Scalar &b) { return e.min(a, b); }
Scalar greater(Emitter &e, const Scalar &a, const Scalar &b) { return e.max(a, b); }
Scalar conjunction(Emitter &e, const Scalar &a, const Scalar &b) { return e.both(a, b); }
Scalar disjunction(Emitter &e, const Scalar &a, const Scalar &b) { return e.either(a, b); }
Scalar exclusion(Emitter &e, const Scalar &a, const Scalar &b) { return e.exclusive(a, b); }
Scalar arcTangent(Emitter &e, const Scalar &a, const Scalar &b) { return e.math("atan2", {a, b}); }

namespace {

/// By squaring; a negative exponent leaves 0 but of 1 and -1.
Scalar integerPower(Emitter &e, const Scalar &base, const Scalar &exponent) {
  const ElementType type = base.type;
  const Scalar zero = e.integer(type, 0), one = e.integer(type, 1);
  auto shifted = [&](const Scalar &x) {
    return Scalar{
        type, e.define("arith.shrui " + e.use(x) + ", " + e.use(one) + " : " + mlirName(type)), {}};
  };
  const auto bits = static_cast<int64_t>(bitsOf(type));
  Scalar power = e.loops({e.index(0)}, {e.index(bits)}, {one, base, exponent},
                         [&](const Scalars &, const Scalars &so) -> Scalars {
                           const Scalar odd = e.compare(Compare::Equal, e.both(so[2], one), one);
                           return {e.select(odd, e.mul(so[0], so[1]), so[0]), e.mul(so[1], so[1]),
                                   shifted(so[2])};
                         })[0];
  if (isUnsigned(type))
    return power;
  const Scalar minusOne = e.integer(type, -1);
  const Scalar odd = e.compare(Compare::Equal, e.both(exponent, one), one);
  const Scalar ofMinusOne = e.select(odd, minusOne, one);
  const Scalar inverse =
      e.select(e.compare(Compare::Equal, base, one), one,
               e.select(e.compare(Compare::Equal, base, minusOne), ofMinusOne, zero));
  return e.select(e.compare(Compare::Less, exponent, zero), inverse, power);
}

Scalar shifted(Emitter &e, const Scalar &a, const Scalar &b, const char *operation,
               bool keepsSign) {
  if (!isInteger(a.type) || a.type == ElementType::I1)
    invalid("its operands must be of integers");
  const ElementType plain = bitsType(a.type);
  const auto bits = static_cast<int64_t>(bitsOf(a.type));
  const Scalar by = e.bitcast(b, plain);
  const Scalar inside = e.compare(Compare::Less, by, e.integer(plain, bits));
  const Scalar amount = e.select(inside, by, e.integer(plain, bits - 1));
  const Scalar out{a.type,
                   e.define(std::string("arith.") + operation + " " + e.use(a) + ", " +
                            e.use(amount) + " : " + mlirName(a.type)),
                   {}};
  return keepsSign ? out : e.select(inside, out, e.integer(a.type, 0));
}

} // namespace

Scalar shiftLeft(Emitter &e, const Scalar &a, const Scalar &b) {
  return shifted(e, a, b, "shli", false);
}
Scalar shiftRightArithmetic(Emitter &e, const Scalar &a, const Scalar &b) {
  return shifted(e, a, b, "shrsi", true);
}
Scalar shiftRightLogical(Emitter &e, const Scalar &a, const Scalar &b) {
  return shifted(e, a, b, "shrui", false);
}

Scalar upperHalf(Emitter &e, const Scalar &a, const Scalar &b) {
  if (!isInteger(a.type) || a.type == ElementType::I1)
    invalid("its operands must be of integers");
  const std::string low = e.freshName(), high = e.freshName();
  const std::string operation = isUnsigned(a.type) ? "mului_extended" : "mulsi_extended";
  const std::string left = e.use(a), right = e.use(b);
  e.line(low + ", " + high + " = arith." + operation + " " + left + ", " + right + " : " +
         mlirName(a.type));
  return {a.type, high, {}};
}

Scalar power(Emitter &e, const Scalar &a, const Scalar &b) {
  if (isInteger(a.type))
    return integerPower(e, a, b);
  return e.math(isComplex(a.type) ? "pow" : "powf", {a, b});
}

} // namespace plim::importers::stablehlo
