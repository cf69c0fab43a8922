// Fourier's transforms. See https://openxla.org/stablehlo/spec#fft.
//
// Those of few points are products with a matrix of sines, which the compiler is good at. Others are such products along two
// dimensions, with turns between them (Cooley and Tukey); one whose length has a large prime factor is a convolution, which is
// made of transforms of a power of two (Bluestein). Real and imaginary parts are tensors of their own.
#include "importers/stablehlo/Operator.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>

namespace plim::importers::stablehlo {

namespace {

using Complex = std::complex<double>;

constexpr int64_t fewPoints = 64;     // that one matrix does best
constexpr int64_t largestPrime = 256; // of a length that is split
constexpr int64_t maxPoints = 1 << 22;

/// Rows of points. Of real numbers there is no imaginary part.
struct Rows {
  Scalar count;
  int64_t points = 0;
  Value real, imaginary; // [count, points]
  bool isReal() const { return !imaginary; }
};

/// exp(i turn / turns), of whole numbers.
Complex turned(int64_t turn, int64_t turns) {
  const double angle = 2 * M_PI * static_cast<double>(turn % turns) / static_cast<double>(turns);
  return {std::cos(angle), std::sin(angle)};
}

/// Constants of the real and imaginary parts.
struct Table {
  Value real, imaginary;
};

Value constantOf(Emitter &e, ElementType type, const std::vector<int64_t> &shape,
                 const std::vector<double> &values) {
  std::vector<std::byte> bytes(values.size() * bytesOf(type));
  for (size_t i = 0; i < values.size(); ++i) {
    const auto narrow = static_cast<float>(values[i]);
    if (type == ElementType::F64)
      std::memcpy(bytes.data() + i * sizeof(double), &values[i], sizeof(double));
    else
      std::memcpy(bytes.data() + i * sizeof(float), &narrow, sizeof(float));
  }
  return e.constant(makeTensor(type, shape, std::move(bytes), "fourier"));
}

Table tableOf(Emitter &e, ElementType type, const std::vector<int64_t> &shape,
              const std::vector<Complex> &values) {
  std::vector<double> real, imaginary;
  for (const Complex &value : values) {
    real.push_back(value.real());
    imaginary.push_back(value.imag());
  }
  return {constantOf(e, type, shape, real), constantOf(e, type, shape, imaginary)};
}

class Transform {
public:
  Transform(Emitter &e, ElementType type, bool inverse)
      : e(e), type(type), sign(inverse ? 1 : -1) {}

  /// Without the factor of an inverse one.
  Rows operator()(const Rows &x) {
    const int64_t n = x.points;
    if (n <= fewPoints)
      return direct(x, n);
    int64_t factor = 0;
    for (int64_t i = 2; i <= fewPoints; ++i)
      if (n % i == 0)
        factor = i;
    const int64_t prime = greatestPrime(n);
    if (prime > largestPrime || (factor == 0 && n > largestPrime))
      return byConvolution(x);
    return n <= largestPrime ? direct(x, n) : split(x, factor);
  }

  /// The first `kept` points of it, by one product.
  Rows direct(const Rows &x, int64_t kept) {
    const int64_t n = x.points;
    std::vector<Complex> values;
    for (int64_t j = 0; j < n; ++j)
      for (int64_t k = 0; k < kept; ++k)
        values.push_back(power(j * k, n));
    const Table table = tableOf(e, type, {n, kept}, values);
    const Product along = alongRows(x, kept);
    return {x.count, kept, products(x, table, along, true), products(x, table, along, false)};
  }

  /// Real values of the first half of a spectrum, with the factor.
  Value directOfHalf(const Rows &x, int64_t n) {
    std::vector<Complex> values;
    for (int64_t k = 0; k < x.points; ++k)
      for (int64_t j = 0; j < n; ++j)
        values.push_back(power(j * k, n) * (k == 0 || 2 * k == n ? 1.0 : 2.0) /
                         static_cast<double>(n));
    return products(x, tableOf(e, type, {x.points, n}, values), alongRows(x, n), true);
  }

private:
  using Product = std::function<Value(const Value &, const Value &)>;

  Complex power(int64_t turn, int64_t turns) const {
    const Complex value = turned(turn, turns);
    return sign < 0 ? std::conj(value) : value;
  }

  /// Rows by a matrix with so many columns.
  Product alongRows(const Rows &x, int64_t columns) {
    return [this, &x, columns](const Value &value, const Value &factors) {
      return e.contract(value, {0, 2}, factors, {2, 1}, {0, 1},
                        {x.count, e.index(columns), e.index(x.points)}, e.number(type, 0));
    };
  }

  /// One part of a product of complex numbers.
  Value products(const Rows &x, const Table &table, const Product &product, bool isReal) {
    Value first = product(x.real, isReal ? table.real : table.imaginary);
    if (x.isReal())
      return first;
    const Value second = product(x.imaginary, isReal ? table.imaginary : table.real);
    return e.elementwise(type, {first, second}, [&](const Scalars &in) {
      return isReal ? e.sub(in[0], in[1]) : e.add(in[0], in[1]);
    });
  }

  Rows times(const Rows &x, const Table &table) {
    auto each = [&](const Value &value, const Value &factors) {
      return e.elementwise(type, {value, factors},
                           [&](const Scalars &in) { return e.mul(in[0], in[1]); });
    };
    return {x.count, x.points, products(x, table, each, true), products(x, table, each, false)};
  }

  Rows each(const Rows &x, const Scalar &count, int64_t points,
            const std::function<Value(const Value &)> &change) {
    return {count, points, change(x.real), x.isReal() ? Value() : change(x.imaginary)};
  }

  /// Points [a, b]: along a, turned, then along b.
  Rows split(const Rows &x, int64_t a) {
    const int64_t b = x.points / a;
    const Scalar rows = e.mul(x.count, e.index(a)), columns = e.mul(x.count, e.index(b));
    auto swapped = [&](const Value &value, int64_t outer, int64_t inner) {
      return e.transpose(e.reshape(value, {x.count, e.index(outer), e.index(inner)}), {0, 2, 1});
    };
    const Rows first = direct(each(x, columns, a,
                                   [&](const Value &value) {
                                     return e.reshape(swapped(value, a, b), {columns, e.index(a)});
                                   }),
                              a);
    std::vector<Complex> values;
    for (int64_t k = 0; k < a; ++k)
      for (int64_t j = 0; j < b; ++j)
        values.push_back(power(j * k, x.points));
    const Rows turned = times(
        each(first, x.count, x.points, [&](const Value &value) { return swapped(value, b, a); }),
        tableOf(e, type, {1, a, b}, values));
    const Rows second = (*this)(each(
        turned, rows, b, [&](const Value &value) { return e.reshape(value, {rows, e.index(b)}); }));
    return each(second, x.count, x.points, [&](const Value &value) {
      return e.reshape(swapped(value, a, b), {x.count, e.index(x.points)});
    });
  }

  Rows byConvolution(const Rows &x) {
    const int64_t n = x.points;
    int64_t m = 1;
    while (m < 2 * n - 1)
      m *= 2;
    std::vector<Complex> chirp, other(static_cast<size_t>(m));
    for (int64_t j = 0; j < n; ++j)
      chirp.push_back(power(j * j % (2 * n), 2 * n));
    for (int64_t j = 0; j < n; ++j)
      other[static_cast<size_t>(j)] = other[static_cast<size_t>((m - j) % m)] =
          std::conj(chirp[static_cast<size_t>(j)]) / static_cast<double>(m);
    const Table factors = tableOf(e, type, {1, n}, chirp);
    const Rows padded = each(times(x, factors), x.count, m, [&](const Value &value) {
      return e.pad(value, {e.index(0), e.index(0)}, {e.index(0), e.index(m - n)},
                   e.number(type, 0));
    });
    const Rows spectrum = times(Transform(e, type, false)(padded),
                                tableOf(e, type, {1, m}, spectrumOf(std::move(other))));
    const Rows sums = Transform(e, type, true)(spectrum);
    return times(
        each(sums, x.count, n,
             [&](const Value &value) { return e.sliceAxis(value, 1, e.index(0), e.index(n)); }),
        factors);
  }

  /// Of a power of two, now.
  static std::vector<Complex> spectrumOf(std::vector<Complex> x) {
    const size_t n = x.size();
    if (n == 1)
      return x;
    std::vector<Complex> even, odd;
    for (size_t i = 0; i < n; i += 2) {
      even.push_back(x[i]);
      odd.push_back(x[i + 1]);
    }
    even = spectrumOf(std::move(even));
    odd = spectrumOf(std::move(odd));
    for (size_t k = 0; k < n / 2; ++k) {
      const Complex turned =
          std::conj(stablehlo::turned(static_cast<int64_t>(k), static_cast<int64_t>(n))) * odd[k];
      x[k] = even[k] + turned;
      x[k + n / 2] = even[k] - turned;
    }
    return x;
  }

  static int64_t greatestPrime(int64_t n) {
    int64_t out = 1;
    for (int64_t i = 2; i * i <= n; ++i)
      for (; n % i == 0; n /= i)
        out = i;
    return n > 1 ? n : out;
  }

  Emitter &e;
  ElementType type;
  int sign;
};

/// A transform of a stack of real or complex tensors, one dimension after the other.
class Stack {
public:
  Stack(Emitter &e, const Value &x) : e(e), type(partOf(x.type)), dims(x.dims) {
    const bool isComplexOnes = isComplex(x.type);
    auto part = [&](Scalar (Builder::*of)(const Scalar &)) {
      return elementwise(e, type, {x}, [&](const Scalars &in) { return (e.*of)(in[0]); });
    };
    real = isComplexOnes ? part(&Builder::realPart) : x;
    if (isComplexOnes)
      imaginary = part(&Builder::imaginaryPart);
  }

  Value result(ElementType wanted) {
    if (!isComplex(wanted))
      return real;
    return elementwise(e, wanted, {real, imaginary},
                       [&](const Scalars &in) { return e.complexOf(in[0], in[1]); });
  }

  void along(size_t axis, bool inverse) {
    Rows out = Transform(e, type, inverse)(rowsOf(axis));
    if (inverse) {
      const double factor = 1 / static_cast<double>(out.points);
      for (Value *part : {&out.real, &out.imaginary})
        *part = e.elementwise(
            type, {*part}, [&](const Scalars &in) { return e.mul(in[0], e.number(type, factor)); });
    }
    take(axis, out);
  }

  /// Of real numbers, the first half of the spectrum along the last dimension.
  void halfOfSpectrum() {
    const size_t axis = dims.size() - 1;
    const Rows rows = rowsOf(axis);
    const int64_t kept = rows.points / 2 + 1;
    Transform transform(e, type, false);
    if (rows.points <= fewPoints)
      return take(axis, transform.direct(rows, kept));
    Rows out = transform(rows);
    out.points = kept;
    for (Value *part : {&out.real, &out.imaginary})
      *part = e.sliceAxis(*part, 1, e.index(0), e.index(kept));
    take(axis, out);
  }

  /// And back, to `points` real numbers.
  void ofHalf(int64_t points) {
    const size_t axis = dims.size() - 1;
    const Rows rows = rowsOf(axis);
    if (points <= fewPoints) {
      const Value values = Transform(e, type, true).directOfHalf(rows, points);
      return take(axis, {rows.count, points, values, Value()});
    }
    auto whole = [&](const Value &half, bool isReal) {
      e.use(half);
      return e.generate(type, {rows.count, e.index(points)}, [&](const Scalars &position) {
        const Scalar isFirst = e.compare(Compare::Less, position[1], e.index(rows.points));
        const Scalar mirrored = e.sub(e.index(points), position[1]);
        const Scalar value = e.at(half, {position[0], e.select(isFirst, position[1], mirrored)});
        return isReal ? value : e.select(isFirst, value, e.neg(value));
      });
    };
    take(axis, {rows.count, points, whole(rows.real, true), whole(rows.imaginary, false)});
    along(axis, true);
  }

private:
  /// That dimension last, all others in one.
  Rows rowsOf(size_t axis) {
    Rows out;
    out.points = *dims[axis].known;
    out.count = e.index(1);
    for (size_t i = 0; i < dims.size(); ++i)
      if (i != axis)
        out.count = e.mul(out.count, dims[i]);
    auto rows = [&](const Value &value) {
      return e.reshape(e.transpose(value, lastOf(axis)), {out.count, e.index(out.points)});
    };
    out.real = rows(real);
    if (imaginary)
      out.imaginary = rows(imaginary);
    return out;
  }

  void take(size_t axis, const Rows &rows) {
    dims[axis] = e.index(rows.points);
    const Axes order = lastOf(axis);
    Scalars moved;
    Axes back(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      moved.push_back(dims[static_cast<size_t>(order[i])]);
      back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
    }
    auto shaped = [&](const Value &value) { return e.transpose(e.reshape(value, moved), back); };
    real = shaped(rows.real);
    imaginary = rows.imaginary ? shaped(rows.imaginary) : Value();
  }

  Axes lastOf(size_t axis) const {
    Axes out;
    for (size_t i = 0; i < dims.size(); ++i)
      if (i != axis)
        out.push_back(static_cast<int64_t>(i));
    out.push_back(static_cast<int64_t>(axis));
    return out;
  }

  Emitter &e;
  ElementType type;
  Scalars dims;
  Value real, imaginary;
};

void fft(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const std::string kind = op.word("fft_type", "");
  const Numbers lengths = op.integers("fft_length");
  const size_t rank = x.dims.size(), count = lengths.size();
  const ElementType type = op.resultType(0).element;
  const bool fromReal = kind == "RFFT", toReal = kind == "IRFFT";
  if (kind != "FFT" && kind != "IFFT" && !fromReal && !toReal)
    invalid("'" + kind + "' is no fft_type");
  if (count < 1 || count > rank)
    invalid("fft_length has " + std::to_string(count) + " numbers for a rank of " +
            std::to_string(rank));
  if (isComplex(x.type) == fromReal || isComplex(type) == toReal ||
      partOf(x.type) != partOf(type) ||
      (partOf(type) != ElementType::F32 && partOf(type) != ElementType::F64))
    invalid("its types do not fit " + kind);
  Scalars dims = x.dims;
  for (size_t i = 0; i < count; ++i) {
    Scalar &extent = dims[rank - count + i];
    const bool isHalf = toReal && i + 1 == count;
    if (!extent.known)
      unsupported("the extents that it transforms must be known");
    if (lengths[i] < 0 || lengths[i] > maxPoints)
      unsupported("a transform of " + std::to_string(lengths[i]) + " points; at most " +
                  std::to_string(maxPoints) + " are known");
    if (*extent.known != (isHalf ? lengths[i] / 2 + 1 : lengths[i]))
      invalid("an extent of " + std::to_string(*extent.known) + " does not fit a length of " +
              std::to_string(lengths[i]));
    if (i + 1 == count)
      extent = e.index(fromReal ? lengths[i] / 2 + 1 : lengths[i]);
  }
  if (e.count(x).is(0) || std::find(lengths.begin(), lengths.end(), 0) != lengths.end())
    return op.give(e.splat(dims, e.number(type, 0)));
  Stack stack(e, x);
  if (fromReal)
    stack.halfOfSpectrum();
  const bool inverse = kind == "IFFT" || toReal;
  for (size_t i = 0; i < count - (fromReal || toReal); ++i)
    stack.along(rank - count + i, inverse);
  if (toReal)
    stack.ofHalf(lengths[count - 1]);
  op.give(stack.result(type));
}

} // namespace

const OperationTable &fourier() {
  static const OperationTable table{{"stablehlo.fft", {fft, 1, 1}}};
  return table;
}

} // namespace plim::importers::stablehlo
