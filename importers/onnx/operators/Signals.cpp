// Sums along an axis and spectra. Each stands on https://onnx.ai/onnx/operators/onnx__NAME.html.
#include "importers/onnx/Operator.h"

#include <cmath>

namespace plim::importers {

namespace {

/// What `combine` makes of the elements from the begin of an axis to each place.
void cumulative(Operator &op, double initial,
                const std::function<Scalar(const Scalar &, const Scalar &)> &combine) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const Scalar axis = e.firstIndex(op.input(1));
  const bool exclusive = op.integer("exclusive", 0) != 0, reverse = op.integer("reverse", 0) != 0;
  const Scalar zero = e.index(0), one = e.index(1);
  if (axis.known) {
    // Each element but the first along the axis adds what is in front of it, in one pass over memory.
    const auto a = static_cast<size_t>(Operator::axisOf(*axis.known, x.rank()));
    Scalars first(x.dims.size(), zero);
    first[a] = one;
    e.use(x);
    const Scalar last = e.sub(x.dims[a], one), there = e.min(x.dims[a], one);
    Scalars start(x.dims.size(), zero), part = x.dims;
    part[a] = there; // none where there are no elements
    if (reverse)
      start[a] = e.sub(x.dims[a], there);
    const Value begun =
        e.insert(exclusive ? e.fill(part, e.number(x.type, initial))
                           : e.sliceAxis(x, static_cast<int64_t>(a), start[a], there),
                 e.unset(x.type, x.dims), start);
    return op.set(0, e.updateLoop(begun, first, x.dims, [&](const Value &so, Scalars at) {
      Scalars before = at;
      before[a] = e.sub(at[a], one);
      if (reverse) {
        at[a] = e.sub(last, at[a]);
        before[a] = e.sub(last, before[a]);
      }
      return e.withElement(so, at, combine(e.at(so, before), e.at(x, exclusive ? before : at)));
    }));
  }
  // The axis is known to a run only.
  const Scalar front =
      e.select(e.compare(Compare::Less, axis, zero), e.add(axis, e.index(x.rank())), axis);
  e.require(e.both(e.compare(Compare::GreaterEqual, front, zero),
                   e.compare(Compare::Less, front, e.index(x.rank()))),
            "the axis is none of the tensor's");
  e.use(x);
  op.set(0, e.generate(x.type, x.dims, [&](const Scalars &position) {
    Scalar own = zero, extent = zero;
    Scalars isAxis;
    for (size_t i = 0; i < x.dims.size(); ++i) {
      isAxis.push_back(e.compare(Compare::Equal, front, e.index(static_cast<int64_t>(i))));
      own = e.select(isAxis[i], position[i], own);
      extent = e.select(isAxis[i], x.dims[i], extent);
    }
    const Scalar from = reverse ? (exclusive ? e.add(own, one) : own) : zero;
    const Scalar to = reverse ? extent : exclusive ? own : e.add(own, one);
    return e.loops({from}, {to}, {e.number(x.type, initial)},
                   [&](const Scalars &i, const Scalars &so) -> Scalars {
                     Scalars at;
                     for (size_t d = 0; d < position.size(); ++d)
                       at.push_back(e.select(isAxis[d], i[0], position[d]));
                     return {combine(so[0], e.at(x, at))};
                   })[0];
  }));
}

void cumSum(Operator &op) {
  cumulative(op, 0, [&](const Scalar &so, const Scalar &x) { return op.emit.add(so, x); });
}

void cumProd(Operator &op) {
  cumulative(op, 1, [&](const Scalar &so, const Scalar &x) { return op.emit.mul(so, x); });
}

/// The angle of the k-th frequency at time t, 2 pi k t / n, in full precision.
Scalar angle(Emitter &e, const Scalar &k, const Scalar &t, const Scalar &n, bool inverse) {
  const ElementType wide = ElementType::F64;
  const Scalar turn = e.rem(e.mul(k, t), n); // whole turns change nothing
  const Scalar part = e.div(e.convert(turn, wide), e.convert(n, wide));
  return e.mul(e.number(wide, inverse ? 2 * M_PI : -2 * M_PI), part);
}

/// One frequency of `count` values; `read` gives the real and imaginary part of each.
Scalar frequency(Emitter &e, const Scalar &k, const Scalar &count, const Scalar &n, bool inverse,
                 const Scalar &part, const std::function<Scalars(const Scalar &)> &read) {
  const ElementType wide = ElementType::F64;
  const Scalars sums =
      e.loops({e.index(0)}, {count}, {e.number(wide, 0), e.number(wide, 0)},
              [&](const Scalars &t, const Scalars &so) -> Scalars {
                const Scalar phase = angle(e, k, t[0], n, inverse);
                const Scalar c = e.math("cos", {phase}), s = e.math("sin", {phase});
                const Scalars value = read(t[0]);
                const Scalar re = e.convert(value[0], wide), im = e.convert(value[1], wide);
                return {e.add(so[0], e.sub(e.mul(re, c), e.mul(im, s))),
                        e.add(so[1], e.add(e.mul(re, s), e.mul(im, c)))};
              });
  const Scalar chosen = e.select(e.compare(Compare::Equal, part, e.index(0)), sums[0], sums[1]);
  return inverse ? e.div(chosen, e.convert(n, wide)) : chosen;
}

Scalar oneSided(Emitter &e, const Scalar &n) { return e.add(e.div(n, e.index(2)), e.index(1)); }

void dft(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const bool inverse = op.integer("inverse", 0) != 0, half = op.integer("onesided", 0) != 0;
  int64_t given = op.integer("axis", 1);
  if (op.opset >= 20) {
    const auto known = op.has(2) ? e.known(op.input(2)) : Numbers{-2};
    if (!known)
      unsupported("an axis that only a run knows");
    given = (*known)[0];
  }
  const auto axis = static_cast<size_t>(Operator::axisOf(given, x.rank()));
  const Scalar n = op.has(1) ? e.firstIndex(op.input(1)) : x.dims[axis];
  const Scalar &parts = x.dims.back();
  if (axis + 1 == x.dims.size())
    invalid("the last dimension has real and imaginary parts");
  Scalars dims = x.dims;
  dims[axis] = half ? oneSided(e, n) : n;
  dims.back() = e.index(2);
  e.use(x);
  const Scalar count = e.min(n, x.dims[axis]);
  op.set(0, e.generate(x.type, dims, [&](const Scalars &position) {
    const Scalar out = frequency(
        e, position[axis], count, n, inverse, position.back(), [&](const Scalar &t) -> Scalars {
          Scalars at = position;
          at[axis] = t;
          at.back() = e.index(0);
          const Scalar re = e.at(x, at);
          at.back() = e.index(1);
          return {re, e.branch(
                          e.compare(Compare::Equal, parts, e.index(1)),
                          [&]() -> Scalars { return {e.number(x.type, 0)}; },
                          [&]() -> Scalars { return {e.at(x, at)}; })[0]};
        });
    return e.convert(out, x.type);
  }));
}

void stft(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const Scalar step = e.firstIndex(op.input(1));
  const Value window = op.has(2) ? op.input(2) : Value();
  Scalar length;
  if (op.has(3))
    length = e.firstIndex(op.input(3));
  else if (window)
    length = window.dims.at(0);
  else
    invalid("it has neither a window nor a length");
  const bool half = op.integer("onesided", 1) != 0;
  const Scalar frames = e.add(e.div(e.sub(x.dims.at(1), length), step), e.index(1));
  const bool isComplex = x.rank() == 3 && x.dims[2].is(2);
  e.use(x);
  if (window)
    e.use(window);
  op.set(0, e.generate(x.type, {x.dims[0], frames, half ? oneSided(e, length) : length, e.index(2)},
                       [&](const Scalars &position) {
                         const Scalar start = e.mul(position[1], step);
                         const Scalar out = frequency(
                             e, position[2], length, length, false, position[3],
                             [&](const Scalar &t) -> Scalars {
                               auto part = [&](int64_t k) {
                                 Scalars at{position[0], e.add(start, t)};
                                 if (x.rank() == 3)
                                   at.push_back(e.index(k));
                                 const Scalar value = e.at(x, at);
                                 return window ? e.mul(value, e.at(window, {t})) : value;
                               };
                               return {part(0), isComplex ? part(1) : e.number(x.type, 0)};
                             });
                         return e.convert(out, x.type);
                       }));
}

void melWeightMatrix(Operator &op) {
  Emitter &e = op.emit;
  const ElementType wide = ElementType::F64;
  if (op.integer("output_datatype", 1) != 1)
    unsupported("but of floats of 32 bits");
  const Scalar bins = e.firstIndex(op.input(0)), length = e.firstIndex(op.input(1));
  const Scalar rate = e.convert(e.only(op.input(2)), wide);
  auto number = [&](double value) { return e.number(wide, value); };
  auto mel = [&](size_t input) {
    const Scalar hertz = e.convert(e.only(op.input(input)), wide);
    return e.mul(number(2595), e.math("log10", {e.add(number(1), e.div(hertz, number(700)))}));
  };
  const Scalar low = mel(3), high = mel(4);
  const Scalar step = e.div(e.sub(high, low), e.convert(e.add(bins, e.index(2)), wide));
  // The bin of the spectrum where the k-th triangle begins.
  auto edge = [&](const Scalar &k) {
    const Scalar at = e.add(e.mul(e.convert(k, wide), step), low);
    const Scalar hertz =
        e.mul(number(700), e.sub(e.math("powf", {number(10), e.div(at, number(2595))}), number(1)));
    const Scalar place = e.div(e.mul(e.convert(e.add(length, e.index(1)), wide), hertz), rate);
    return e.convert(e.math("floor", {place}), ElementType::Index);
  };
  op.set(0, e.generate(ElementType::F32, {oneSided(e, length), bins}, [&](const Scalars &position) {
    const Scalar &i = position[0], &k = position[1];
    const Scalar first = edge(k), middle = edge(e.add(k, e.index(1))),
                 last = edge(e.add(k, e.index(2)));
    const Scalar up = e.sub(middle, first), down = e.sub(last, middle), none = number(0);
    auto over = [&](const Scalar &a, const Scalar &b) {
      return e.div(e.convert(a, wide), e.convert(e.max(b, e.index(1)), wide));
    };
    auto within = [&](const Scalar &from, const Scalar &to) {
      return e.both(e.compare(Compare::GreaterEqual, i, from), e.compare(Compare::Less, i, to));
    };
    Scalar value = e.select(within(middle, last), over(e.sub(last, i), down), none);
    value = e.select(within(first, middle), over(e.sub(i, first), up), value);
    return e.convert(e.select(e.compare(Compare::Equal, i, middle), number(1), value),
                     ElementType::F32);
  }));
}

} // namespace

const OperatorTable &signals() {
  static const OperatorTable table{
      {"CumSum", cumSum}, {"DFT", dft}, {"STFT", stft}, {"MelWeightMatrix", melWeightMatrix}};
  return table;
}

const DescribedTable &newerSignals() {
  static const DescribedTable table{
      {"CumProd", {since<26, cumProd>, 2, 2, 1, "exclusive reverse"}}};
  return table;
}

} // namespace plim::importers
