// Writes the text of one function: scalars, constants, regions.
//
// A `Scalar` of known value is folded and costs nothing until it is used; those of index type are
// kept by their expression, so that equal extents have equal names. Knows nothing of formats. Not
// for several threads.
#pragma once

#include "importers/emit/Checked.h"
#include "importers/emit/ElementType.h"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace plim::importers {

/// A number of the function that is written: known now, an SSA value, or both. Of one Builder, and
/// of the region that it was defined in and those inside it.
struct Scalar {
  ElementType type = ElementType::Index;
  std::string name;             // of the SSA value; may be empty while `known` or `real` is there
  std::optional<int64_t> known; // of an integer, truth value or index
  std::optional<double> real = std::nullopt; // known too, of 64 bits

  bool is(int64_t value) const { return known && *known == value; }
};

using Scalars = Checked<Scalar>;

/// Comparisons; those of floats are false if one of both is no number, but NotEqual.
enum class Compare { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual };

class Builder {
public:
  // --- Text -------------------------------------------------------------------------------------

  /// A line of its own at the current place.
  void line(const std::string &text);
  /// What region() gave.
  void raw(const std::string &lines) { text += lines; }
  /// A line that defines a value, whose name comes back: "%7".
  std::string define(const std::string &expression);
  std::string freshName() { return "%" + std::to_string(nextName++); }
  /// What `body` writes, instead of writing it. What is defined there is not known outside.
  std::string region(const std::function<void()> &body);
  /// Lines in front of everything: constants. Equal ones once.
  std::string prologue(const std::string &expression);

  /// What a function consists of; another may begin.
  std::string takeText();

  // --- Constants --------------------------------------------------------------------------------

  Scalar index(int64_t value) { return {ElementType::Index, "", value}; }
  Scalar truth(bool value) { return {ElementType::I1, "", value}; }
  Scalar integer(ElementType type, int64_t value) { return {type, "", value}; }
  Scalar real(ElementType type, double value);
  Scalar complexNumber(ElementType type, double real, double imaginary);
  /// Of any type: 0, 1, -2.5.
  Scalar number(ElementType type, double value);
  /// The least and the greatest of a type; infinite for floats.
  Scalar lowest(ElementType type);
  Scalar highest(ElementType type);

  /// An index that `expression` gives, which is never negative: an extent of a tensor.
  Scalar natural(const std::string &expression);
  /// Is an index known to be no less than another one and `more`?
  bool isAtLeast(const Scalar &a, const Scalar &b, int64_t more = 0) const;
  bool isNatural(const Scalar &a) const { return isAtLeast(a, {ElementType::Index, "", 0}); }

  /// Is `part` an extent of `whole` elements as far as something of known extent has them: all, or fewer behind its end? At
  /// least one of one, or none.
  bool isPartOf(const Scalar &part, const Scalar &whole) const;

  /// Is an index known to be the product of others?
  bool isProductOf(const Scalar &whole, const Scalars &factors) const;
  /// The index that `divisor` is to be multiplied with to give `whole`, if both are known to be products that have such a
  /// one; whatever factors of 0 there are.
  std::optional<Scalar> quotientOf(const Scalar &whole, const Scalar &divisor);

  /// The name of a scalar's SSA value, which is made if it has none.
  std::string use(const Scalar &scalar);

  // --- Arithmetic: both operands have one type ---------------------------------------------------

  Scalar add(const Scalar &a, const Scalar &b);
  Scalar sub(const Scalar &a, const Scalar &b);
  Scalar mul(const Scalar &a, const Scalar &b);
  /// Towards zero.
  Scalar div(const Scalar &a, const Scalar &b);
  /// With the sign of `a`.
  Scalar rem(const Scalar &a, const Scalar &b);
  /// With the sign of `b`, as Python's %.
  Scalar mod(const Scalar &a, const Scalar &b);
  /// Towards minus infinity; for indices.
  Scalar floorDiv(const Scalar &a, const Scalar &b);
  Scalar ceilDiv(const Scalar &a, const Scalar &b);
  /// NaN if one of both is; of integers with or without sign.
  Scalar min(const Scalar &a, const Scalar &b);
  Scalar max(const Scalar &a, const Scalar &b);
  Scalar neg(const Scalar &a);
  /// Of a complex number a float.
  Scalar abs(const Scalar &a);
  Scalar both(const Scalar &a, const Scalar &b);      // bitwise and
  Scalar either(const Scalar &a, const Scalar &b);    // bitwise or
  Scalar exclusive(const Scalar &a, const Scalar &b); // bitwise exclusive or
  Scalar negation(const Scalar &a);                   // bitwise not
  /// Complex numbers are equal or not equal.
  Scalar compare(Compare how, const Scalar &a, const Scalar &b);
  Scalar select(const Scalar &condition, const Scalar &a, const Scalar &b);
  /// A function of floats in the dialect `math`: "exp", "powf"; of complex numbers the one of that
  /// name.
  Scalar math(const std::string &function, const Scalars &operands);
  /// Parts of complex numbers, and a complex number of two floats of one type.
  Scalar realPart(const Scalar &a);
  Scalar imaginaryPart(const Scalar &a);
  Scalar complexOf(const Scalar &real, const Scalar &imaginary);
  /// To another type: floats to integers towards zero, anything to a truth value by whether it is
  /// not zero. Of complex numbers the real part. Narrower integers have the low bits. To small floats that
  /// modules do not have: saturated.
  Scalar convert(const Scalar &a, ElementType type);
  /// The same bits, of a type that has as many; of neither indices, truth values nor complex numbers.
  Scalar bitcast(const Scalar &a, ElementType type);
  /// By fewer bits than the integer has; zeros come in.
  Scalar shiftLeft(const Scalar &a, int64_t by);
  Scalar shiftRight(const Scalar &a, int64_t by);

  // --- Loops of scalars --------------------------------------------------------------------------

  using LoopBody = std::function<Scalars(const Scalars &indices, const Scalars &carried)>;
  /// Loops from `lower` to `upper`, the last the innermost, with values that each turn hands to the
  /// next.
  Scalars loops(const Scalars &lower, const Scalars &upper, const Scalars &initial,
                const LoopBody &body);
  /// Turns while `condition` holds.
  Scalars loopWhile(const Scalars &initial, const std::function<Scalar(const Scalars &)> &condition,
                    const std::function<Scalars(const Scalars &)> &body);
  /// One of two, of which only that one is computed.
  Scalars branch(const Scalar &condition, const std::function<Scalars()> &then,
                 const std::function<Scalars()> &otherwise);

  /// An error of the import, or of the call where only that knows, unless `condition` holds.
  void require(const Scalar &condition, const std::string &message);

private:
  /// What an index adds up to: products of names and numbers, and a number.
  struct Sum {
    std::map<std::string, int64_t> terms;
    int64_t constant = 0;
    bool operator==(const Sum &) const = default;
  };
  /// What an index is the product of: names, and a number.
  struct Product {
    std::multiset<std::string> names;
    int64_t constant = 1;
    bool operator==(const Product &) const = default;
  };
  /// Nothing where the number overflows.
  std::optional<Product> productOf(const Scalars &factors) const;
  static bool accumulate(Sum &sum, const Sum &other, int64_t factor);
  std::optional<Sum> sumOf(const Scalar &a) const;
  /// `a` and `factor` times `b`, as what it adds up to if that is known to something, else nothing.
  std::optional<Scalar> simplified(const Scalar &a, const Scalar &b, int64_t factor);
  void remember(const Scalar &result, const Scalar &a, const Scalar &b, int64_t factor);
  void rememberPart(const Scalar &difference, const Scalar &a, const Scalar &b);
  /// `result`, which is never negative if both operands are not.
  Scalar naturalIfBoth(Scalar result, const Scalar &a, const Scalar &b);

  Scalar binary(const std::string &operation, const Scalar &a, const Scalar &b);
  Scalar binaryOfComplex(const std::string &operation, const Scalar &a, const Scalar &b);
  Scalar defineScalar(ElementType type, const std::string &expression);
  Scalars results(const std::string &name, const Scalars &like);

  std::string text, head;
  std::map<std::string, std::string> constants;
  std::vector<std::map<std::string, std::string>> known{1}; // index expressions, by region
  std::map<std::string, Sum> sums; // of names of indices, where there are several terms
  struct Minimum {
    Scalar index;
    int64_t most;
  };
  std::map<std::string, Minimum> minima;    // of an index and a number, by name
  std::map<std::string, std::string> parts; // names of indices, and of those that they are parts of
  std::map<std::string, Product> products;  // of names of indices, where there are several factors
  std::set<std::string> naturals;           // names of indices that are never negative
  int indent = 1;
  int64_t nextName = 0;
};

/// As MLIR reads it in a constant of that type.
std::string literal(ElementType type, double value);

} // namespace plim::importers
