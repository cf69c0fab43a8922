// Elements by their order or truth. Each stands on https://onnx.ai/onnx/operators/onnx__NAME.html.
#include "importers/emit/Sorting.h"
#include "importers/onnx/Operator.h"

namespace plim::importers {

namespace {

Scalar asIndex(Emitter &e, const Scalar &x) { return e.convert(x, ElementType::Index); }

/// Equal ones stay in their order.
void topK(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const int64_t axis = op.axis(-1, x.rank());
  const bool largest = op.integer("largest", 1) != 0;
  const Scalar k = op.opset < 10 ? e.index(op.integer("k", 0)) : e.firstIndex(op.input(1));
  const Scalar &extent = x.dims[static_cast<size_t>(axis)];
  if (k.known && extent.known && (*k.known < 0 || *k.known > *extent.known))
    invalid("k is " + std::to_string(*k.known) + " of " + std::to_string(*extent.known) +
            " elements");
  const Values first =
      firstSorted(e, x, axis, k, numbersFirst(e, largest ? Compare::Greater : Compare::Less));
  op.set(0, first[0]);
  op.set(1, first[1]);
}

/// The positions of what is true in a list, in their order.
Value positionsOf(Emitter &e, const Value &flags) {
  const Scalar size = flags.dims[0], zero = e.index(0), one = e.index(1);
  e.use(flags);
  // How many are true up to each.
  const Value counts =
      e.updateLoop(e.fill({size}, e.integer(ElementType::I64, 0)), {zero}, {size},
                   [&](const Value &so, const Scalars &i) {
                     const Scalar before = e.branch(
                         e.compare(Compare::Equal, i[0], zero),
                         [&]() -> Scalars { return {e.integer(ElementType::I64, 0)}; },
                         [&]() -> Scalars { return {e.at(so, {e.sub(i[0], one)})}; })[0];
                     const Scalar own = e.convert(e.at(flags, i), ElementType::I64);
                     return e.withElement(so, i, e.add(before, own));
                   });
  const Scalar total = e.branch(
      e.compare(Compare::Equal, size, zero), [&]() -> Scalars { return {zero}; },
      [&]() -> Scalars { return {asIndex(e, e.at(counts, {e.sub(size, one)}))}; })[0];
  // What is false goes to one place behind the end.
  const Value all =
      e.updateLoop(e.fill({e.add(total, one)}, e.integer(ElementType::I64, 0)), {zero}, {size},
                   [&](const Value &so, const Scalars &i) {
                     const Scalar place =
                         e.select(e.at(flags, i), e.sub(asIndex(e, e.at(counts, i)), one), total);
                     return e.withElement(so, {place}, e.convert(i[0], ElementType::I64));
                   });
  return e.sliceAxis(all, 0, zero, total);
}

void nonZero(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const Scalar size = e.count(x);
  const Value flags = e.convert(e.reshape(x, {size}), ElementType::I1);
  const Value positions = positionsOf(e, flags);
  const auto rank = static_cast<size_t>(x.rank());
  op.set(0, e.generate(ElementType::I64, {e.index(x.rank()), positions.dims[0]},
                       [&](const Scalars &position) {
                         Scalar rest = asIndex(e, e.at(positions, {position[1]})), out = e.index(0);
                         for (size_t d = rank; d-- > 0;) {
                           const Scalar here = e.rem(rest, x.dims[d]);
                           out = e.select(e.compare(Compare::Equal, position[0],
                                                    e.index(static_cast<int64_t>(d))),
                                          here, out);
                           rest = e.div(rest, x.dims[d]);
                         }
                         return e.convert(out, ElementType::I64);
                       }));
}

void compress(Operator &op) {
  Emitter &e = op.emit;
  Value x = op.input(0);
  const bool flat = !op.hasAttribute("axis");
  if (flat)
    x = e.reshape(x, {e.count(x)});
  const auto axis = static_cast<size_t>(flat ? 0 : op.axis(0, x.rank()));
  const Value positions = positionsOf(e, op.input(1));
  Scalars dims = x.dims;
  dims[axis] = positions.dims[0];
  e.use(x);
  op.set(0, e.generate(x.type, dims, [&](const Scalars &position) {
    Scalars at = position;
    at[axis] = asIndex(e, e.at(positions, {position[axis]}));
    return e.at(x, at);
  }));
}

/// Rows of a matrix that differ, each once.
void unique(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const bool flat = !op.hasAttribute("axis"), isSorted = op.integer("sorted", 1) != 0;
  const Scalar zero = e.index(0), one = e.index(1);
  Value rows;
  Axes axes;
  Scalars front;
  if (flat) {
    rows = e.reshape(x, {e.count(x), one});
  } else {
    const int64_t axis = op.axis(0, x.rank());
    axes.push_back(axis);
    for (int64_t i = 0; i < x.rank(); ++i)
      if (i != axis)
        axes.push_back(i);
    const Value moved = e.transpose(x, axes);
    front = moved.dims;
    Scalar width = one;
    for (size_t i = 1; i < front.size(); ++i)
      width = e.mul(width, front[i]);
    rows = e.reshape(moved, {front[0], width});
  }
  const Scalar n = rows.dims[0], width = rows.dims[1];
  e.use(rows);
  const ElementType wide = ElementType::I64;
  const Key key = numbersFirst(e, Compare::Less);
  auto isLess = [&](const Scalar &a, const Scalar &b) {
    return e.compare(Compare::Less, key(a), key(b));
  };
  // -1, 0 or 1 as row i is less than, equal to or greater than row j.
  auto order3 = [&](const Scalar &i, const Scalar &j) {
    return e.loops({zero}, {width}, {zero}, [&](const Scalars &k, const Scalars &so) -> Scalars {
      const Scalar a = e.at(rows, {i, k[0]}), b = e.at(rows, {j, k[0]});
      const Scalar here = e.select(isLess(a, b), e.index(-1), e.select(isLess(b, a), one, zero));
      return {e.select(e.compare(Compare::Equal, so[0], zero), here, so[0])};
    })[0];
  };
  const Value positions =
      e.generate(wide, {n}, [&](const Scalars &i) { return e.convert(i[0], wide); });
  const Value order = sorted(e, {positions}, 0, [&](const Scalars &i, const Scalars &j) {
    return e.compare(Compare::Less, order3(asIndex(e, i[0]), asIndex(e, j[0])), zero);
  })[0];
  const Value none = e.fill({n}, e.integer(wide, 0));
  // The first row that equals each: equal ones are beside each other in their order.
  const Value firsts =
      e.loopWith(n, {{none}, {zero}},
                 [&](const Scalar &i, const Emitter::LoopState &so) -> Emitter::LoopState {
                   const Scalar own = asIndex(e, e.at(order, {i}));
                   const Scalar before = asIndex(e, e.at(order, {e.max(zero, e.sub(i, one))}));
                   const Scalar isNew =
                       e.either(e.compare(Compare::Equal, i, zero),
                                e.compare(Compare::NotEqual, order3(before, own), zero));
                   const Scalar first = e.select(isNew, own, so.scalars[0]);
                   return {{e.withElement(so.values[0], {own}, e.convert(first, wide))}, {first}};
                 })
          .values[0];
  // Those that differ, in the order of the result, and the place of each.
  const Emitter::LoopState listed = e.loopWith(
      n, {{none, none}, {zero}},
      [&](const Scalar &i, const Emitter::LoopState &so) -> Emitter::LoopState {
        const Scalar own = isSorted ? asIndex(e, e.at(order, {i})) : i, &count = so.scalars[0];
        const Scalar isNew = e.compare(Compare::Equal, asIndex(e, e.at(firsts, {own})), own);
        // What is behind the end is written again, or left out.
        return {{e.withElement(so.values[0], {count}, e.convert(own, wide)),
                 e.withElement(so.values[1], {own}, e.convert(count, wide))},
                {e.select(isNew, e.add(count, one), count)}};
      });
  const Scalar total = listed.scalars[0];
  const Value from = e.sliceAxis(listed.values[0], 0, zero, total);
  e.use(listed.values[1]);
  const Value places = e.generate(wide, {n}, [&](const Scalars &i) {
    return e.at(listed.values[1], {asIndex(e, e.at(firsts, i))});
  });
  Value y = e.generate(x.type, {total, width}, [&](const Scalars &at) {
    return e.at(rows, {asIndex(e, e.at(from, {at[0]})), at[1]});
  });
  if (flat) {
    y = e.reshape(y, {total});
  } else {
    front[0] = total;
    Axes back(axes.size());
    for (size_t i = 0; i < axes.size(); ++i)
      back[static_cast<size_t>(axes[i])] = static_cast<int64_t>(i);
    y = e.transpose(e.reshape(y, front), back);
  }
  op.set(0, y);
  op.set(1, from);
  op.set(2, places);
  if (op.wants(3))
    op.set(3, e.updateLoop(e.fill({total}, e.integer(wide, 0)), {zero}, {n},
                           [&](const Value &so, const Scalars &i) {
                             const Scalars place{asIndex(e, e.at(places, i))};
                             return e.withElement(so, place,
                                                  e.add(e.at(so, place), e.integer(wide, 1)));
                           }));
}

/// Boxes by their scores, without those that overlap a better one.
void nonMaxSuppression(Operator &op) {
  Emitter &e = op.emit;
  const Value &boxes = op.input(0), &scores = op.input(1);
  const bool centred = op.integer("center_point_box", 0) != 0;
  const ElementType type = boxes.type, wide = ElementType::I64;
  const Scalar zero = e.index(0), one = e.index(1);
  const Scalar asked = op.has(2) ? e.firstIndex(op.input(2)) : zero;
  const Scalar overlap = op.has(3) ? e.only(op.input(3)) : e.number(type, 0);
  const Scalar least = op.has(4) ? e.only(op.input(4)) : e.lowest(type);
  const Scalar n = boxes.dims[1], classes = scores.dims[1];
  const Scalar each = e.max(zero, e.min(asked, n));
  const Scalar room = e.mul(e.mul(boxes.dims[0], classes), each);
  e.use(boxes);
  e.use(scores);
  // Corners from the least to the greatest, whatever the order in the model.
  auto corners = [&](const Scalar &batch, const Scalar &i) {
    Scalars c;
    for (int64_t k = 0; k < 4; ++k)
      c.push_back(e.at(boxes, {batch, i, e.index(k)}));
    if (centred) {
      const Scalar half = e.number(type, 0.5), w = e.mul(c[2], half), h = e.mul(c[3], half);
      return Scalars{e.sub(c[1], h), e.sub(c[0], w), e.add(c[1], h), e.add(c[0], w)};
    }
    return Scalars{e.min(c[0], c[2]), e.min(c[1], c[3]), e.max(c[0], c[2]), e.max(c[1], c[3])};
  };
  auto area = [&](const Scalars &c) { return e.mul(e.sub(c[2], c[0]), e.sub(c[3], c[1])); };
  auto overlaps = [&](const Scalars &a, const Scalars &b) {
    const Scalar none = e.number(type, 0);
    const Scalar height = e.max(none, e.sub(e.min(a[2], b[2]), e.max(a[0], b[0])));
    const Scalar width = e.max(none, e.sub(e.min(a[3], b[3]), e.max(a[1], b[1])));
    const Scalar shared = e.mul(height, width);
    const Scalar all = e.sub(e.add(area(a), area(b)), shared);
    return e.both(e.compare(Compare::Greater, all, none),
                  e.compare(Compare::Greater, e.div(shared, all), overlap));
  };
  const Value start = e.fill({e.add(room, one), e.index(3)}, e.integer(wide, 0));
  const Value counter = e.fill({}, e.integer(wide, 0));
  Values found =
      e.loop(boxes.dims[0], {start, counter}, [&](const Scalar &batch, const Values &outer) {
        return e.loop(classes, outer, [&](const Scalar &kind, const Values &middle) {
          const Value alive = e.generate(ElementType::I1, {n}, [&](const Scalars &i) {
            return e.compare(Compare::Greater, e.at(scores, {batch, kind, i[0]}), least);
          });
          const Values end = e.loop(
              each, {middle[0], middle[1], alive}, [&](const Scalar &, const Values &in) -> Values {
                const Scalars best =
                    e.loops({zero}, {n}, {e.index(-1), e.lowest(type)},
                            [&](const Scalars &i, const Scalars &so) -> Scalars {
                              const Scalar score = e.at(scores, {batch, kind, i[0]});
                              const Scalar better =
                                  e.either(e.compare(Compare::Less, so[0], zero),
                                           e.compare(Compare::Greater, score, so[1]));
                              const Scalar takes = e.both(e.at(in[2], i), better);
                              return {e.select(takes, i[0], so[0]), e.select(takes, score, so[1])};
                            });
                const Scalar there = e.compare(Compare::GreaterEqual, best[0], zero),
                             box = e.max(zero, best[0]);
                const Scalar count = asIndex(e, e.only(in[1])), row = e.select(there, count, room);
                Value out = e.withElement(in[0], {row, zero}, e.convert(batch, wide));
                out = e.withElement(out, {row, one}, e.convert(kind, wide));
                out = e.withElement(out, {row, e.index(2)}, e.convert(box, wide));
                const Scalar next = e.select(there, e.add(count, one), count);
                const Value left = e.generate(ElementType::I1, {n}, [&](const Scalars &i) {
                  const Scalar gone = e.either(e.compare(Compare::Equal, i[0], box),
                                               overlaps(corners(batch, i[0]), corners(batch, box)));
                  return e.both(e.at(in[2], i), e.negation(e.both(there, gone)));
                });
                return {out, e.scalar(e.convert(next, wide)), left};
              });
          return Values{end[0], end[1]};
        });
      });
  op.set(0, e.sliceAxis(found[0], 0, zero, asIndex(e, e.only(found[1]))));
}

} // namespace

const OperatorTable &sorting() {
  static const OperatorTable table{{"TopK", topK},
                                   {"NonZero", nonZero},
                                   {"Compress", compress},
                                   {"Unique", unique},
                                   {"NonMaxSuppression", nonMaxSuppression}};
  return table;
}

} // namespace plim::importers
