// Linear algebra. Each is a section of https://openxla.org/stablehlo/spec under its name.
#include "importers/stablehlo/Algebra.h"

#include "importers/stablehlo/Scalars.h"

#include <algorithm>

namespace plim::importers::stablehlo {

namespace {

void checkMatrices(const Value &x) {
  const auto rank = static_cast<size_t>(x.rank());
  if (!(isFloat(x.type) || isComplex(x.type)) || rank < 2)
    invalid("its operands must be matrices of floats");
}

/// A position of a stack of matrices.
Scalars at(const Scalars &batch, const Scalar &row, const Scalar &column) {
  Scalars out = batch;
  out.push_back(row);
  out.push_back(column);
  return out;
}

/// Of an element of the diagonal, which has no imaginary part but for what was rounded.
Scalar rootOfReal(Emitter &e, const Scalar &x) {
  if (!isComplex(x.type))
    return e.math("sqrt", {x});
  return e.convert(e.math("sqrt", {e.realPart(x)}), x.type);
}

} // namespace

/// Row by row.
Value cholesky(Emitter &e, const Value &x, bool lower) {
  checkMatrices(x);
  const size_t rank = x.dims.size();
  const Scalar zero = e.index(0), n = x.dims[rank - 1];
  if (x.dims[rank - 2].known && n.known && !x.dims[rank - 2].is(*n.known))
    invalid("its matrices must be square");
  e.use(x);
  auto place = [&](const Scalars &batch, const Scalar &i, const Scalar &j) {
    return lower ? at(batch, i, j) : at(batch, j, i);
  };
  const Value start = e.fill(x.dims, e.number(x.type, 0));
  return e.updateLoop(
      start, Scalars(rank, zero), x.dims, [&](const Value &so, const Scalars &position) {
        const Scalars batch = position.without(2);
        const Scalar &i = position[rank - 2], &j = position[rank - 1]; // of the lower triangle
        const Scalar element = e.branch(
            e.compare(Compare::LessEqual, j, i),
            [&]() -> Scalars {
              const Scalar rest = e.loops({zero}, {j}, {e.at(x, place(batch, i, j))},
                                          [&](const Scalars &k, const Scalars &sum) -> Scalars {
                                            const Scalar product = e.mul(
                                                e.at(so, place(batch, i, k[0])),
                                                conjugate(e, e.at(so, place(batch, j, k[0]))));
                                            return {e.sub(sum[0], product)};
                                          })[0];
              return e.branch(
                  e.compare(Compare::Equal, i, j),
                  [&]() -> Scalars { return {rootOfReal(e, rest)}; },
                  [&]() -> Scalars { return {e.div(rest, e.at(so, place(batch, j, j)))}; });
            },
            [&]() -> Scalars { return {e.number(x.type, 0)}; })[0];
        return e.withElement(so, place(batch, i, j), element);
      });
}

/// Row by row, from the side where one element stands alone. An equation from the right is one of the transposes.
Value triangularSolve(Emitter &e, const Value &a, const Value &b, const Triangle &triangle) {
  checkMatrices(a);
  checkMatrices(b);
  checkSameType(a, b);
  if (a.rank() != b.rank())
    invalid("its operands have different ranks");
  const bool left = triangle.left;
  const bool flips = (triangle.transpose == "NO_TRANSPOSE") != left;
  const bool lower = triangle.lower != flips;
  const size_t rank = a.dims.size();
  const Scalar zero = e.index(0), one = e.index(1), n = a.dims[rank - 1];
  const Scalar &rows = left ? b.dims[rank - 2] : b.dims[rank - 1];
  if ((n.known && (!a.dims[rank - 2].is(*n.known) || (rows.known && *rows.known != *n.known))))
    invalid("its matrices do not fit each other");
  for (size_t i = 0; i + 2 < rank; ++i)
    if (!sameExtent(a.dims[i], b.dims[i]))
      invalid("its operands have different batches");
  e.use(a);
  e.use(b);
  auto ofA = [&](const Scalars &batch, const Scalar &i, const Scalar &k) {
    const Scalar out = e.at(a, flips ? at(batch, k, i) : at(batch, i, k));
    return triangle.transpose == "ADJOINT" ? conjugate(e, out) : out;
  };
  auto place = [&](const Scalars &batch, const Scalar &i, const Scalar &c) {
    return left ? at(batch, i, c) : at(batch, c, i);
  };
  Scalars extents = b.dims.without(2);
  extents.push_back(n);
  extents.push_back(left ? b.dims[rank - 1] : b.dims[rank - 2]);
  Value start = e.fill(b.dims, e.number(b.type, 0));
  if (e.count(b).is(0))
    return start;
  return e.updateLoop(
      start, Scalars(rank, zero), extents, [&](const Value &so, const Scalars &position) {
        const Scalars batch = position.without(2);
        const Scalar &step = position[rank - 2], &c = position[rank - 1];
        const Scalar i = lower ? step : e.sub(e.sub(n, one), step);
        const Scalar from = lower ? zero : e.add(i, one), to = lower ? i : n;
        const Scalar rest = e.loops(
            {from}, {to}, {e.at(b, place(batch, i, c))},
            [&](const Scalars &k, const Scalars &sum) -> Scalars {
              return {e.sub(sum[0], e.mul(ofA(batch, i, k[0]), e.at(so, place(batch, k[0], c))))};
            })[0];
        return e.withElement(so, place(batch, i, c),
                             triangle.unit ? rest : e.div(rest, ofA(batch, i, i)));
      });
}

/// Column by column: the row with the greatest element comes up, and multiples of it are subtracted from those below.
Factors factorised(Emitter &e, const Value &x) {
  checkMatrices(x);
  const size_t rank = x.dims.size();
  const Scalar zero = e.index(0), one = e.index(1);
  const Scalar rows = x.dims[rank - 2], columns = x.dims[rank - 1];
  const Scalar steps = e.min(rows, columns);
  Scalars pivotDims = x.dims.without(1);
  pivotDims.back() = steps;
  const Value none = e.fill(pivotDims, e.integer(ElementType::I32, 0));
  if (e.count(x).is(0))
    return {x, none};
  const std::function<Values(size_t, const Scalars &, const Values &)> nest =
      [&](size_t depth, const Scalars &batch, const Values &so) -> Values {
    if (depth + 2 < rank)
      return e.loop(x.dims[depth], so, [&](const Scalar &i, const Values &in) {
        Scalars next = batch;
        next.push_back(i);
        return nest(depth + 1, next, in);
      });
    return e.loop(steps, so, [&](const Scalar &k, const Values &in) -> Values {
      const Value &before = in[0];
      const Scalar below = e.add(k, one);
      const Scalar best =
          e.loops({below}, {rows}, {k, e.abs(e.at(before, at(batch, k, k)))},
                  [&](const Scalars &i, const Scalars &found) -> Scalars {
                    const Scalar size = e.abs(e.at(before, at(batch, i[0], k)));
                    const Scalar more = e.compare(Compare::Greater, size, found[1]);
                    return {e.select(more, i[0], found[0]), e.select(more, size, found[1])};
                  })[0];
      const Value swapped =
          e.loop(columns, {before}, [&](const Scalar &j, const Values &rowsSoFar) -> Values {
            const Scalar upper = e.at(rowsSoFar[0], at(batch, k, j)),
                         other = e.at(rowsSoFar[0], at(batch, best, j));
            return {e.withElement(e.withElement(rowsSoFar[0], at(batch, k, j), other),
                                  at(batch, best, j), upper)};
          })[0];
      const Scalar pivot = e.at(swapped, at(batch, k, k));
      const Scalar isNothing = e.compare(Compare::Equal, pivot, e.number(x.type, 0));
      const Value next =
          e.updateLoop(swapped, {below}, {rows}, [&](const Value &matrix, const Scalars &i) {
            const Scalar own = e.at(matrix, at(batch, i[0], k));
            const Scalar factor = e.select(isNothing, own, e.div(own, pivot));
            return e.updateLoop(e.withElement(matrix, at(batch, i[0], k), factor), {below},
                                {columns}, [&](const Value &row, const Scalars &j) {
                                  const Scalar less = e.mul(factor, e.at(row, at(batch, k, j[0])));
                                  return e.withElement(
                                      row, at(batch, i[0], j[0]),
                                      e.sub(e.at(row, at(batch, i[0], j[0])), less));
                                });
          });
      Scalars place = batch;
      place.push_back(k);
      return {next, e.withElement(in[1], place, e.convert(best, ElementType::I32))};
    });
  };
  const Values out = nest(0, {}, {x, none});
  return {out[0], out[1]};
}

namespace {

void choleskyOperation(Operator &op) {
  op.give(cholesky(op.emit, op.input(0), op.truth("lower", false)));
}

void triangularSolveOperation(Operator &op) {
  const std::string transpose = op.word("transpose_a", "NO_TRANSPOSE");
  if (transpose != "NO_TRANSPOSE" && transpose != "TRANSPOSE" && transpose != "ADJOINT")
    invalid("transpose_a is '" + transpose + "'");
  op.give(triangularSolve(op.emit, op.input(0), op.input(1),
                          {op.truth("left_side", true), op.truth("lower", false),
                           op.truth("unit_diagonal", false), transpose}));
}

} // namespace

const OperationTable &algebra() {
  static const OperationTable table{
      {"stablehlo.cholesky", {choleskyOperation, 1, 1}},
      {"stablehlo.triangular_solve", {triangularSolveOperation, 2, 2}}};
  return table;
}

} // namespace plim::importers::stablehlo
