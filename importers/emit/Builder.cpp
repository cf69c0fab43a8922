#include "importers/emit/Builder.h"

#include "importers/emit/Error.h"
#include "importers/emit/SmallFloats.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>

namespace plim::importers {

namespace {

constexpr size_t maxText = size_t(1) << 30; // as the engine has it

/// The operation of a family for a type: floats, integers without and with sign.
std::string pick(ElementType type, const char *ofFloats, const char *unsignedOnes,
                 const char *signedOnes) {
  if (isFloat(type))
    return ofFloats;
  return isUnsigned(type) || type == ElementType::I1 ? unsignedOnes : signedOnes;
}

std::string bitsLiteral(ElementType type, double value) {
  char text[32];
  const bool isNaN = std::isnan(value);
  if (type == ElementType::F64)
    std::snprintf(text, sizeof text, "0x%016llX",
                  static_cast<unsigned long long>(std::bit_cast<uint64_t>(value)));
  else if (type == ElementType::F32)
    std::snprintf(text, sizeof text, "0x%08X", std::bit_cast<uint32_t>(static_cast<float>(value)));
  else if (type == ElementType::F8E4M3FN) // without infinity
    std::snprintf(text, sizeof text, "0x%02X", isNaN ? 0x7F : value > 0 ? 0x7E : 0xFE);
  else if (type == ElementType::F8E5M2)
    std::snprintf(text, sizeof text, "0x%02X", isNaN ? 0x7E : value > 0 ? 0x7C : 0xFC);
  else if (type == ElementType::F16)
    std::snprintf(text, sizeof text, "0x%04X", isNaN ? 0x7E00 : value > 0 ? 0x7C00 : 0xFC00);
  else
    std::snprintf(text, sizeof text, "0x%04X", isNaN ? 0x7FC0 : value > 0 ? 0x7F80 : 0xFF80);
  return text;
}

[[noreturn]] void refuseSmall(ElementType type) {
  unsupported(onnxName(type) + " can be moved and converted, not computed with");
}

[[noreturn]] void refuseComplex() { unsupported("complex numbers are not supported here"); }

std::string join(const Scalars &scalars, Builder &builder) {
  std::string out;
  for (const Scalar &scalar : scalars)
    out += (out.empty() ? "" : ", ") + builder.use(scalar);
  return out;
}

std::string types(const Scalars &scalars) {
  std::string out;
  for (const Scalar &scalar : scalars)
    out += (out.empty() ? "" : ", ") + mlirName(scalar.type);
  return out;
}

} // namespace

std::string literal(ElementType type, double value) {
  if (!isFloat(type))
    return std::to_string(static_cast<int64_t>(value));
  if (!std::isfinite(value))
    return bitsLiteral(type, value);
  char digits[40];
  std::snprintf(digits, sizeof digits, "%.*g", type == ElementType::F64 ? 17 : 9, value);
  std::string out = digits;
  if (out.find('.') == std::string::npos) { // which MLIR's grammar wants
    const size_t exponent = out.find('e');
    out.insert(exponent == std::string::npos ? out.size() : exponent, ".0");
  }
  return out;
}

// --- Text -----------------------------------------------------------------------------------------

void Builder::line(const std::string &content) {
  if (text.size() > maxText)
    invalid("its module would have more than " + std::to_string(maxText) + " bytes");
  text.append(static_cast<size_t>(indent) * 2, ' ').append(content).append("\n");
}

std::string Builder::define(const std::string &expression) {
  std::string name = freshName();
  line(name + " = " + expression);
  return name;
}

std::string Builder::region(const std::function<void()> &body) {
  std::string outer;
  std::swap(outer, text);
  known.emplace_back();
  ++indent;
  auto leave = [&] {
    --indent;
    known.pop_back();
    std::swap(outer, text);
  };
  try {
    body();
  } catch (...) {
    leave();
    throw;
  }
  leave();
  return outer;
}

std::string Builder::prologue(const std::string &expression) {
  auto [place, isNew] = constants.emplace(expression, "");
  if (isNew) {
    place->second = freshName();
    head += "  " + place->second + " = " + expression + "\n";
  }
  return place->second;
}

std::string Builder::takeText() {
  const std::string out = head + text;
  head.clear();
  text.clear();
  constants.clear();
  known.assign(1, {});
  return out;
}

// --- Constants ------------------------------------------------------------------------------------

Scalar Builder::real(ElementType type, double value) {
  if (type == ElementType::F64)
    return {type, "", {}, value};
  return {type, prologue("arith.constant " + literal(type, value) + " : " + mlirName(type)), {}};
}

Scalar Builder::complexNumber(ElementType type, double real, double imaginary) {
  const ElementType part = partOf(type);
  const std::string kind = " : " + mlirName(part);
  return {type,
          prologue("complex.constant [" + literal(part, real) + kind + ", " +
                   literal(part, imaginary) + kind + "] : " + mlirName(type)),
          {}};
}

Scalar Builder::number(ElementType type, double value) {
  if (isComplex(type))
    return complexNumber(type, value, 0);
  if (isSmallFloat(type) && !isFloat(type) && value != 0)
    refuseSmall(type);
  return isFloat(type) ? real(type, value) : integer(type, static_cast<int64_t>(value));
}

Scalar Builder::lowest(ElementType type) {
  if (isComplex(type))
    refuseComplex();
  if (isFloat(type))
    return real(type, -std::numeric_limits<double>::infinity());
  if (isUnsigned(type) || type == ElementType::I1)
    return integer(type, 0);
  return integer(type, static_cast<int64_t>(uint64_t(-1) << (bitsOf(type) - 1)));
}

Scalar Builder::highest(ElementType type) {
  if (isComplex(type))
    refuseComplex();
  if (isFloat(type))
    return real(type, std::numeric_limits<double>::infinity());
  if (type == ElementType::I1)
    return truth(true);
  const size_t bits = bitsOf(type);
  if (isUnsigned(type))
    return integer(type, bits == 64 ? -1 : (int64_t(1) << bits) - 1);
  return integer(type, static_cast<int64_t>((uint64_t(1) << (bits - 1)) - 1));
}

std::string Builder::use(const Scalar &scalar) {
  if (!scalar.name.empty())
    return scalar.name;
  if (scalar.real)
    return prologue("arith.constant " + literal(scalar.type, *scalar.real) + " : " +
                    mlirName(scalar.type));
  const int64_t value = *scalar.known;
  if (scalar.type == ElementType::I1)
    return prologue(value ? "arith.constant true" : "arith.constant false");
  return prologue("arith.constant " + std::to_string(value) + " : " + mlirName(scalar.type));
}

Scalar Builder::defineScalar(ElementType type, const std::string &expression) {
  if (type != ElementType::Index)
    return {type, define(expression), {}};
  for (const auto &expressions : known)
    if (auto found = expressions.find(expression); found != expressions.end())
      return {type, found->second, {}};
  return {type, known.back()[expression] = define(expression), {}};
}

// --- What is known of indices -----------------------------------------------------------------------

Scalar Builder::natural(const std::string &expression) {
  Scalar out = defineScalar(ElementType::Index, expression);
  naturals.insert(out.name);
  return out;
}

/// Adds a multiple; false if it overflows.
bool Builder::accumulate(Sum &sum, const Sum &other, int64_t factor) {
  auto add = [&](int64_t &to, int64_t what) {
    int64_t product;
    return !__builtin_mul_overflow(what, factor, &product) &&
           !__builtin_add_overflow(to, product, &to);
  };
  for (const auto &[name, count] : other.terms) {
    int64_t &have = sum.terms[name];
    if (!add(have, count))
      return false;
    if (have == 0)
      sum.terms.erase(name);
  }
  return add(sum.constant, other.constant);
}

std::optional<Builder::Sum> Builder::sumOf(const Scalar &a) const {
  if (a.type != ElementType::Index)
    return std::nullopt;
  if (a.known)
    return Sum{{}, *a.known};
  if (auto found = sums.find(a.name); found != sums.end())
    return found->second;
  return Sum{{{a.name, 1}}, 0};
}

bool Builder::isAtLeast(const Scalar &a, const Scalar &b, int64_t more) const {
  if (b.is(0) && more == 0 && naturals.contains(a.name))
    return true;
  std::optional<Sum> difference = sumOf(a), other = sumOf(b);
  if (!difference || !other || !accumulate(*difference, *other, -1) || difference->constant < more)
    return false;
  for (const auto &[name, count] : difference->terms)
    if (count < 0 || !naturals.count(name))
      return false;
  return true;
}

std::optional<Scalar> Builder::simplified(const Scalar &a, const Scalar &b, int64_t factor) {
  std::optional<Sum> sum = sumOf(a), other = sumOf(b);
  if (!sum || !other || !accumulate(*sum, *other, factor))
    return std::nullopt;
  if (sum->terms.empty())
    return index(sum->constant);
  if (sum->constant == 0 && sum->terms.size() == 1 && sum->terms.begin()->second == 1)
    return Scalar{ElementType::Index, sum->terms.begin()->first, {}};
  for (const Scalar *same : {&a, &b})
    if (sum == sumOf(*same))
      return *same;
  return std::nullopt;
}

void Builder::remember(const Scalar &result, const Scalar &a, const Scalar &b, int64_t factor) {
  std::optional<Sum> sum = sumOf(a), other = sumOf(b);
  if (sum && other && !result.known && accumulate(*sum, *other, factor))
    sums.emplace(result.name, *sum);
}

Scalar Builder::naturalIfBoth(Scalar result, const Scalar &a, const Scalar &b) {
  if (result.type == ElementType::Index && !result.known && isNatural(a) && isNatural(b))
    naturals.insert(result.name);
  return result;
}

// --- Arithmetic -----------------------------------------------------------------------------------

namespace {

/// What no schema says for all operators: operands of one type.
void checkSame(const Scalar &a, const Scalar &b) {
  if (a.type != b.type)
    invalid("elements of " + onnxName(a.type) + " and " + onnxName(b.type) + " together");
}

/// The same of operands that are computed with.
void checkNumbers(const Scalar &a, const Scalar &b) {
  checkSame(a, b);
  if (isSmallFloat(a.type) && !isFloat(a.type))
    refuseSmall(a.type);
}

} // namespace

Scalar Builder::binary(const std::string &operation, const Scalar &a, const Scalar &b) {
  checkNumbers(a, b);
  if (asByte(a.type) != a.type) // whose result may not fit
    refuseSmall(a.type);
  if (isComplex(a.type))
    refuseComplex();
  const std::string left = use(a), right = use(b);
  return defineScalar(a.type,
                      "arith." + operation + " " + left + ", " + right + " : " + mlirName(a.type));
}

Scalar Builder::binaryOfComplex(const std::string &operation, const Scalar &a, const Scalar &b) {
  checkSame(a, b);
  const std::string left = use(a), right = use(b);
  return {a.type,
          define("complex." + operation + " " + left + ", " + right + " : " + mlirName(a.type)),
          {}};
}

namespace {

/// Both known, and of a type whose arithmetic is that of int64_t where it does not overflow.
bool foldable(const Scalar &a, const Scalar &b) {
  return a.known && b.known &&
         (a.type == ElementType::Index || a.type == ElementType::I64 || a.type == ElementType::I1);
}

/// Integers of one type that modules have.
bool isWhole(const Scalar &a, const Scalar &b) {
  return isInteger(a.type) && a.type == b.type && asByte(a.type) == a.type;
}

} // namespace

Scalar Builder::add(const Scalar &a, const Scalar &b) {
  if (isComplex(a.type))
    return binaryOfComplex("add", a, b);
  if (a.real && b.real)
    return real(a.type, *a.real + *b.real);
  int64_t sum;
  if (foldable(a, b) && !__builtin_add_overflow(*a.known, *b.known, &sum))
    return integer(a.type, sum);
  if (std::optional<Scalar> simple = simplified(a, b, 1))
    return *simple;
  if (isWhole(a, b) && (a.is(0) || b.is(0)))
    return a.is(0) ? b : a;
  const Scalar out = binary(isFloat(a.type) ? "addf" : "addi", a, b);
  remember(out, a, b, 1);
  return out;
}

Scalar Builder::sub(const Scalar &a, const Scalar &b) {
  if (isComplex(a.type))
    return binaryOfComplex("sub", a, b);
  if (a.real && b.real)
    return real(a.type, *a.real - *b.real);
  int64_t difference;
  if (foldable(a, b) && !__builtin_sub_overflow(*a.known, *b.known, &difference))
    return integer(a.type, difference);
  if (std::optional<Scalar> simple = simplified(a, b, -1))
    return *simple;
  if (isWhole(a, b) && b.is(0))
    return a;
  const Scalar out = binary(isFloat(a.type) ? "subf" : "subi", a, b);
  remember(out, a, b, -1);
  if (a.type == ElementType::Index)
    rememberPart(out, a, b);
  return out;
}

Scalar Builder::mul(const Scalar &a, const Scalar &b) {
  if (isComplex(a.type))
    return binaryOfComplex("mul", a, b);
  if (a.real && b.real)
    return real(a.type, *a.real * *b.real);
  int64_t product;
  if (foldable(a, b) && !__builtin_mul_overflow(*a.known, *b.known, &product))
    return integer(a.type, product);
  if (a.type == ElementType::Index && (a.is(0) || b.is(0)))
    return index(0);
  if (isWhole(a, b) && (a.is(1) || b.is(1)))
    return a.is(1) ? b : a;
  const Scalar out = binary(isFloat(a.type) ? "mulf" : "muli", a, b);
  if (a.type == ElementType::Index) {
    if (a.known || b.known)
      remember(out, index(0), a.known ? b : a, a.known ? *a.known : *b.known);
    if (std::optional<Product> product = productOf({a, b}))
      products.emplace(out.name, std::move(*product));
  }
  return naturalIfBoth(out, a, b);
}

Scalar Builder::div(const Scalar &a, const Scalar &b) {
  if (isComplex(a.type))
    return binaryOfComplex("div", a, b);
  if (a.real && b.real)
    return real(a.type, *a.real / *b.real);
  if (foldable(a, b) && *b.known != 0 && *b.known != -1)
    return integer(a.type, *a.known / *b.known);
  if (a.type == ElementType::Index) {
    if (b.is(1))
      return a;
    if (!a.name.empty() && a.name == b.name)
      return index(1);
  }
  return naturalIfBoth(binary(pick(a.type, "divf", "divui", "divsi"), a, b), a, b);
}

Scalar Builder::rem(const Scalar &a, const Scalar &b) {
  if (foldable(a, b) && *b.known != 0 && *b.known != -1)
    return integer(a.type, *a.known % *b.known);
  return binary(pick(a.type, "remf", "remui", "remsi"), a, b);
}

Scalar Builder::mod(const Scalar &a, const Scalar &b) {
  if (isUnsigned(a.type) || a.type == ElementType::I1)
    return rem(a, b);
  const Scalar zero = number(a.type, 0), rest = rem(a, b);
  const Scalar differs =
      exclusive(compare(Compare::Less, rest, zero), compare(Compare::Less, b, zero));
  return select(both(differs, compare(Compare::NotEqual, rest, zero)), add(rest, b), rest);
}

Scalar Builder::floorDiv(const Scalar &a, const Scalar &b) {
  if (foldable(a, b) && *b.known > 0)
    return index(*a.known / *b.known - (*a.known % *b.known < 0));
  return b.is(1) ? a : naturalIfBoth(binary("floordivsi", a, b), a, b);
}

Scalar Builder::ceilDiv(const Scalar &a, const Scalar &b) {
  if (foldable(a, b) && *b.known != 0 && (*b.known != -1 || *a.known != INT64_MIN)) {
    const int64_t rest = *a.known % *b.known;
    return index(*a.known / *b.known + (rest != 0 && (rest > 0) == (*b.known > 0)));
  }
  return b.is(1) ? a : naturalIfBoth(binary("ceildivsi", a, b), a, b);
}

Scalar Builder::min(const Scalar &a, const Scalar &b) {
  if (foldable(a, b))
    return integer(a.type, std::min(*a.known, *b.known));
  if (isAtLeast(b, a) || isAtLeast(a, b))
    return isAtLeast(b, a) ? a : b;
  const Scalar out = naturalIfBoth(binary(pick(a.type, "minimumf", "minui", "minsi"), a, b), a, b);
  if (a.type == ElementType::Index && (a.known || b.known))
    minima[out.name] = {a.known ? b : a, a.known ? *a.known : *b.known};
  return out;
}

std::optional<Builder::Product> Builder::productOf(const Scalars &factors) const {
  Product product;
  for (const Scalar &factor : factors) {
    Product own;
    if (factor.known)
      own.constant = *factor.known;
    else if (auto found = products.find(factor.name); found != products.end())
      own = found->second;
    else
      own.names.insert(factor.name);
    if (__builtin_mul_overflow(product.constant, own.constant, &product.constant))
      return std::nullopt;
    product.names.merge(own.names);
  }
  return product;
}

bool Builder::isProductOf(const Scalar &whole, const Scalars &factors) const {
  const std::optional<Product> product = productOf(factors);
  return product && product == productOf({whole});
}

std::optional<Scalar> Builder::quotientOf(const Scalar &whole, const Scalar &divisor) {
  std::optional<Product> product = productOf({whole}), other = productOf({divisor});
  if (!product || !other || other->constant == 0 || product->constant % other->constant != 0)
    return std::nullopt;
  for (const std::string &name : other->names) {
    auto found = product->names.find(name);
    if (found == product->names.end())
      return std::nullopt;
    product->names.erase(found);
  }
  Scalar out = index(product->constant / other->constant);
  for (const std::string &name : product->names)
    out = mul(out, {ElementType::Index, name, {}});
  return out;
}

bool Builder::isPartOf(const Scalar &part, const Scalar &whole) const {
  if (part.known || whole.known)
    return false;
  if (auto found = minima.find(part.name); found != minima.end())
    return found->second.index.name == whole.name && found->second.most >= 1;
  auto found = parts.find(part.name);
  return found != parts.end() && found->second == whole.name;
}

/// What lies between two indices, each of which is cut off at the same place: no more than what lies between them.
void Builder::rememberPart(const Scalar &difference, const Scalar &a, const Scalar &b) {
  auto end = minima.find(a.name), begin = minima.find(b.name);
  if (a.known || b.known || end == minima.end() || begin == minima.end() ||
      end->second.most != begin->second.most)
    return;
  const std::optional<Scalar> whole = simplified(end->second.index, begin->second.index, -1);
  if (!whole || whole->known || !isNatural(*whole))
    return;
  naturals.insert(difference.name);
  parts.emplace(difference.name, whole->name);
}

Scalar Builder::max(const Scalar &a, const Scalar &b) {
  if (foldable(a, b))
    return integer(a.type, std::max(*a.known, *b.known));
  if (isAtLeast(a, b) || isAtLeast(b, a))
    return isAtLeast(a, b) ? a : b;
  const Scalar out = binary(pick(a.type, "maximumf", "maxui", "maxsi"), a, b);
  if (a.type == ElementType::Index && (isNatural(a) || isNatural(b)))
    naturals.insert(out.name);
  return out;
}

Scalar Builder::neg(const Scalar &a) {
  if (isComplex(a.type))
    return {a.type, define("complex.neg " + use(a) + " : " + mlirName(a.type)), {}};
  if (isFloat(a.type))
    return {a.type, define("arith.negf " + use(a) + " : " + mlirName(a.type)), {}};
  return sub(number(a.type, 0), a);
}

Scalar Builder::abs(const Scalar &a) {
  if (isComplex(a.type))
    return {partOf(a.type), define("complex.abs " + use(a) + " : " + mlirName(a.type)), {}};
  if (isUnsigned(a.type) || a.type == ElementType::I1)
    return a;
  if (isFloat(a.type))
    return math("absf", {a});
  return select(compare(Compare::Less, a, number(a.type, 0)), neg(a), a);
}

Scalar Builder::both(const Scalar &a, const Scalar &b) {
  if (a.type == ElementType::I1 && (a.known || b.known)) {
    const Scalar &certain = a.known ? a : b, &other = a.known ? b : a;
    return *certain.known ? other : certain;
  }
  return binary("andi", a, b);
}

Scalar Builder::either(const Scalar &a, const Scalar &b) {
  if (a.type == ElementType::I1 && (a.known || b.known)) {
    const Scalar &certain = a.known ? a : b, &other = a.known ? b : a;
    return *certain.known ? certain : other;
  }
  return binary("ori", a, b);
}

Scalar Builder::exclusive(const Scalar &a, const Scalar &b) {
  if (foldable(a, b))
    return integer(a.type, *a.known ^ *b.known);
  return binary("xori", a, b);
}

Scalar Builder::negation(const Scalar &a) {
  return exclusive(a, a.type == ElementType::I1 ? truth(true) : integer(a.type, -1));
}

void Builder::require(const Scalar &condition, const std::string &message) {
  if (!condition.known)
    line("cf.assert " + use(condition) + ", \"" + message + "\"");
  else if (*condition.known == 0)
    invalid(message);
}

Scalar Builder::compare(Compare how, const Scalar &a, const Scalar &b) {
  auto answer = [&](auto x, auto y) {
    const bool answers[] = {x == y, x != y, x<y, x <= y, x> y, x >= y};
    return truth(answers[static_cast<size_t>(how)]);
  };
  if (foldable(a, b))
    return answer(*a.known, *b.known);
  if (a.real && b.real)
    return answer(*a.real, *b.real);
  checkNumbers(a, b);
  if (isComplex(a.type)) {
    if (how != Compare::Equal && how != Compare::NotEqual)
      invalid("complex numbers have no order");
    const Scalar out = binaryOfComplex(how == Compare::Equal ? "eq" : "neq", a, b);
    return {ElementType::I1, out.name, {}};
  }
  if (a.type == ElementType::Index) {
    const bool atLeast = isAtLeast(a, b), more = isAtLeast(a, b, 1), atMost = isAtLeast(b, a),
               less = isAtLeast(b, a, 1);
    const bool holds[] = {atLeast && atMost, less || more, less, atMost, more, atLeast},
               fails[] = {less || more, atLeast && atMost, atLeast, more, atMost, less};
    if (holds[static_cast<size_t>(how)] || fails[static_cast<size_t>(how)])
      return truth(holds[static_cast<size_t>(how)]);
  }
  static constexpr const char *ofFloats[] = {"oeq", "une", "olt", "ole", "ogt", "oge"},
                              *ofSigned[] = {"eq", "ne", "slt", "sle", "sgt", "sge"},
                              *ofUnsigned[] = {"eq", "ne", "ult", "ule", "ugt", "uge"};
  const auto i = static_cast<size_t>(how);
  const std::string left = use(a), right = use(b);
  return {ElementType::I1,
          define(std::string("arith.") + (isFloat(a.type) ? "cmpf " : "cmpi ") +
                 pick(a.type, ofFloats[i], ofUnsigned[i], ofSigned[i]) + ", " + left + ", " +
                 right + " : " + mlirName(a.type)),
          {}};
}

Scalar Builder::select(const Scalar &condition, const Scalar &a, const Scalar &b) {
  if (condition.known)
    return *condition.known ? a : b;
  checkSame(a, b);
  if (a.type == ElementType::Index && !a.known && !b.known && a.name == b.name)
    return a;
  const std::string left = use(a), right = use(b);
  return naturalIfBoth(defineScalar(a.type, "arith.select " + use(condition) + ", " + left + ", " +
                                                right + " : " + mlirName(a.type)),
                       a, b);
}

Scalar Builder::math(const std::string &function, const Scalars &operands) {
  static const std::set<std::string, std::less<>> ofComplex{
      "atan2", "conj", "cos", "exp",  "expm1", "log", "log1p",
      "pow",   "sign", "sin", "sqrt", "rsqrt", "tan", "tanh"};
  for (const Scalar &operand : operands)
    checkSame(operand, operands[0]);
  if (isComplex(operands[0].type) && ofComplex.contains(function))
    return {operands[0].type,
            define("complex." + function + " " + join(operands, *this) + " : " +
                   mlirName(operands[0].type)),
            {}};
  for (const Scalar &operand : operands) {
    if (!isFloat(operand.type))
      invalid("of " + onnxName(operand.type) + ": it needs floats");
  }
  if (operands[0].real && function == "floor")
    return real(operands[0].type, std::floor(*operands[0].real));
  if (operands[0].real && function == "ceil")
    return real(operands[0].type, std::ceil(*operands[0].real));
  return {
      operands[0].type,
      define("math." + function + " " + join(operands, *this) + " : " + mlirName(operands[0].type)),
      {}};
}

Scalar Builder::realPart(const Scalar &a) {
  return {partOf(a.type), define("complex.re " + use(a) + " : " + mlirName(a.type)), {}};
}

Scalar Builder::imaginaryPart(const Scalar &a) {
  return {partOf(a.type), define("complex.im " + use(a) + " : " + mlirName(a.type)), {}};
}

Scalar Builder::complexOf(const Scalar &real, const Scalar &imaginary) {
  checkSame(real, imaginary);
  if (real.type != ElementType::F32 && real.type != ElementType::F64)
    invalid("complex numbers have parts of 32 or 64 bits");
  const ElementType type = real.type == ElementType::F32 ? ElementType::C64 : ElementType::C128;
  const std::string first = use(real), second = use(imaginary);
  return {type, define("complex.create " + first + ", " + second + " : " + mlirName(type)), {}};
}

Scalar Builder::convert(const Scalar &a, ElementType type) {
  const ElementType from = a.type;
  if (from == type)
    return a;
  if (isComplex(type)) {
    const ElementType part = partOf(type);
    return isComplex(from) ? complexOf(convert(realPart(a), part), convert(imaginaryPart(a), part))
                           : complexOf(convert(a, part), number(part, 0));
  }
  if (isComplex(from))
    return convert(realPart(a), type);
  if (isSmallFloat(from) && !isFloat(from))
    return convert(fromSmallFloat(*this, a), type);
  if (isSmallFloat(type) && !isFloat(type))
    return toSmallFloat(*this, a, type);
  if (asByte(from) != from)
    return convert({asByte(from), use(a), a.known}, type);
  if (asByte(type) != type) {
    const auto unused = static_cast<int64_t>(8 - bitsOf(type));
    // The low bits, also of what is negative.
    const Scalar byte = convert(isFloat(from) ? convert(a, ElementType::I32) : a, asByte(type));
    if (isUnsigned(type))
      return {type, use(both(byte, integer(byte.type, 255 >> unused))), {}};
    const std::string by = use(integer(byte.type, unused)), high = use(shiftLeft(byte, unused));
    return {type, define("arith.shrsi " + high + ", " + by + " : i8"), {}};
  }
  if (from == ElementType::U64 && type == ElementType::Index) {
    // Greater than any index: stays greater.
    if (a.known)
      return index(*a.known < 0 ? INT64_MAX : *a.known);
    const std::string most = use(integer(from, INT64_MAX)), value = use(a);
    const std::string least = define("arith.minui " + value + ", " + most + " : i64");
    return defineScalar(type, "arith.index_castui " + least + " : i64 to index");
  }
  if (a.known && isInteger(type) && type != ElementType::I1 &&
      (type == ElementType::I64 || type == ElementType::Index))
    return integer(type, *a.known);
  if (a.known && type == ElementType::F64 &&
      (from == ElementType::I64 || from == ElementType::Index))
    return real(type, static_cast<double>(*a.known));
  constexpr double most = 9e18; // of 64 bits with a sign
  if (a.real && (type == ElementType::I64 || type == ElementType::Index) && *a.real > -most &&
      *a.real < most)
    return integer(type, static_cast<int64_t>(*a.real));
  if (type == ElementType::I1) {
    if (isFloat(from))
      return compare(Compare::NotEqual, a, real(from, 0));
    return compare(Compare::NotEqual, a, integer(from, 0));
  }
  auto cast = [&](const std::string &operation) -> Scalar {
    return defineScalar(type, "arith." + operation + " " + use(a) + " : " + mlirName(from) +
                                  " to " + mlirName(type));
  };
  const bool noSign = isUnsigned(from) || from == ElementType::I1;
  if (from == ElementType::Index || type == ElementType::Index) {
    if (isFloat(from) || isFloat(type)) // by way of a type with a width
      return convert(convert(a, ElementType::I64), type);
    return cast(noSign ? "index_castui" : "index_cast");
  }
  if (isFloat(from) && isFloat(type)) {
    if (bitsOf(from) == bitsOf(type)) // the two of 16 bits
      return convert(convert(a, ElementType::F32), type);
    return cast(bitsOf(from) < bitsOf(type) ? "extf" : "truncf");
  }
  if (isFloat(from))
    return cast(isUnsigned(type) ? "fptoui" : "fptosi");
  if (isFloat(type))
    return cast(noSign ? "uitofp" : "sitofp");
  const size_t fromBits = from == ElementType::I1 ? 1 : bitsOf(from), bits = bitsOf(type);
  if (fromBits ==
      bits) { // with a sign or without: the same number while it is not in the upper half
    const bool same =
        a.known && *a.known >= 0 && (bits == 64 || *a.known < int64_t(1) << (bits - 1));
    return {type, use(a), same ? a.known : std::nullopt};
  }
  return cast(fromBits > bits ? "trunci" : noSign ? "extui" : "extsi");
}

Scalar Builder::bitcast(const Scalar &a, ElementType type) {
  if (mlirName(a.type) == mlirName(type))
    return a.type == type ? a : Scalar{type, use(a), {}};
  return {type,
          define("arith.bitcast " + use(a) + " : " + mlirName(a.type) + " to " + mlirName(type)),
          {}};
}

Scalar Builder::shiftLeft(const Scalar &a, int64_t by) {
  return by == 0 ? a : binary("shli", a, integer(a.type, by));
}

Scalar Builder::shiftRight(const Scalar &a, int64_t by) {
  return by == 0 ? a : binary("shrui", a, integer(a.type, by));
}

// --- Loops ----------------------------------------------------------------------------------------

Scalars Builder::results(const std::string &name, const Scalars &like) {
  Scalars out;
  for (size_t i = 0; i < like.size(); ++i)
    out.push_back({like[i].type, like.size() == 1 ? name : name + "#" + std::to_string(i), {}});
  return out;
}

Scalars Builder::loops(const Scalars &lower, const Scalars &upper, const Scalars &initial,
                       const LoopBody &body) {
  const std::function<Scalars(size_t, Scalars, const Scalars &)> nest =
      [&](size_t depth, Scalars indices, const Scalars &carried) -> Scalars {
    if (depth == lower.size())
      return body(indices, carried);
    if (lower[depth].known && upper[depth].known &&
        *upper[depth].known == *lower[depth].known + 1) {
      indices.push_back(lower[depth]);
      return nest(depth + 1, indices, carried);
    }
    const std::string from = use(lower[depth]), to = use(upper[depth]), one = use(index(1));
    const std::string variable = freshName();
    Scalars inside;
    std::string arguments;
    for (const Scalar &scalar : carried) {
      inside.push_back({scalar.type, freshName(), {}});
      arguments += (arguments.empty() ? "" : ", ") + inside.back().name + " = " + use(scalar);
    }
    indices.push_back({ElementType::Index, variable, {}});
    const std::string inner = region([&] {
      const Scalars next = nest(depth + 1, indices, inside);
      line("scf.yield " + join(next, *this) + " : " + types(next));
    });
    const std::string name = freshName();
    line(name + (carried.size() > 1 ? ":" + std::to_string(carried.size()) : "") + " = scf.for " +
         variable + " = " + from + " to " + to + " step " + one + " iter_args(" + arguments +
         ") -> (" + types(carried) + ") {");
    text += inner;
    line("}");
    return results(name, carried);
  };
  return nest(0, {}, initial);
}

Scalars Builder::loopWhile(const Scalars &initial,
                           const std::function<Scalar(const Scalars &)> &condition,
                           const std::function<Scalars(const Scalars &)> &body) {
  Scalars before, after;
  std::string arguments, blockArguments;
  for (const Scalar &scalar : initial) {
    before.push_back({scalar.type, freshName(), {}});
    after.push_back({scalar.type, freshName(), {}});
    arguments += (arguments.empty() ? "" : ", ") + before.back().name + " = " + use(scalar);
    blockArguments +=
        (blockArguments.empty() ? "" : ", ") + after.back().name + ": " + mlirName(scalar.type);
  }
  const std::string test = region([&] {
    const std::string holds = use(condition(before));
    line("scf.condition(" + holds + ") " + join(before, *this) + " : " + types(before));
  });
  const std::string work = region([&] {
    const Scalars next = body(after);
    line("scf.yield " + join(next, *this) + " : " + types(next));
  });
  const std::string name = freshName();
  line(name + (initial.size() > 1 ? ":" + std::to_string(initial.size()) : "") + " = scf.while (" +
       arguments + ") : (" + types(initial) + ") -> (" + types(initial) + ") {");
  text += test;
  line("} do {");
  line("^bb0(" + blockArguments + "):");
  text += work;
  line("}");
  return results(name, initial);
}

Scalars Builder::branch(const Scalar &condition, const std::function<Scalars()> &then,
                        const std::function<Scalars()> &otherwise) {
  if (condition.known)
    return *condition.known ? then() : otherwise();
  Scalars like;
  auto side = [&](const std::function<Scalars()> &make) {
    return region([&] {
      like = make();
      line("scf.yield " + join(like, *this) + " : " + types(like));
    });
  };
  const std::string first = side(then), second = side(otherwise), test = use(condition);
  const std::string name = freshName();
  line(name + (like.size() > 1 ? ":" + std::to_string(like.size()) : "") + " = scf.if " + test +
       " -> (" + types(like) + ") {");
  text += first;
  line("} else {");
  text += second;
  line("}");
  return results(name, like);
}

} // namespace plim::importers
