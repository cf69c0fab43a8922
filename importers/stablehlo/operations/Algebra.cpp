// Linear algebra. Each is a section of https://openxla.org/stablehlo/spec under its name.
#include "importers/stablehlo/Operator.h"
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

/// Row by row. Only one triangle of the operand is read; the other one of the result is zero.
void cholesky(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  checkMatrices(x);
  const bool lower = op.truth("lower", false);
  const size_t rank = x.dims.size();
  const Scalar zero = e.index(0), n = x.dims[rank - 1];
  if (x.dims[rank - 2].known && n.known && !x.dims[rank - 2].is(*n.known))
    invalid("its matrices must be square");
  e.use(x);
  auto place = [&](const Scalars &batch, const Scalar &i, const Scalar &j) {
    return lower ? at(batch, i, j) : at(batch, j, i);
  };
  const Value start = e.fill(x.dims, e.number(x.type, 0));
  op.give(e.updateLoop(
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
                  [&]() -> Scalars { return {e.math("sqrt", {rest})}; },
                  [&]() -> Scalars { return {e.div(rest, e.at(so, place(batch, j, j)))}; });
            },
            [&]() -> Scalars { return {e.number(x.type, 0)}; })[0];
        return e.withElement(so, place(batch, i, j), element);
      }));
}

/// Row by row, from the side where one element stands alone. An equation from the right is one of the transposes.
void triangularSolve(Operator &op) {
  Emitter &e = op.emit;
  const Value &a = op.input(0), &b = op.input(1);
  checkMatrices(a);
  checkMatrices(b);
  checkSameType(a, b);
  if (a.rank() != b.rank())
    invalid("its operands have different ranks");
  const bool left = op.truth("left_side", true), unit = op.truth("unit_diagonal", false);
  const std::string transpose = op.word("transpose_a", "NO_TRANSPOSE");
  if (transpose != "NO_TRANSPOSE" && transpose != "TRANSPOSE" && transpose != "ADJOINT")
    invalid("transpose_a is '" + transpose + "'");
  const bool flips = (transpose == "NO_TRANSPOSE") != left;
  const bool lower = op.truth("lower", false) != flips;
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
    return transpose == "ADJOINT" ? conjugate(e, out) : out;
  };
  auto place = [&](const Scalars &batch, const Scalar &i, const Scalar &c) {
    return left ? at(batch, i, c) : at(batch, c, i);
  };
  Scalars extents = b.dims.without(2);
  extents.push_back(n);
  extents.push_back(left ? b.dims[rank - 1] : b.dims[rank - 2]);
  const Value start = e.fill(b.dims, e.number(b.type, 0));
  if (e.count(b).is(0))
    return op.give(start);
  op.give(e.updateLoop(
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
        return e.withElement(so, place(batch, i, c), unit ? rest : e.div(rest, ofA(batch, i, i)));
      }));
}

} // namespace

const OperationTable &algebra() {
  static const OperationTable table{{"stablehlo.cholesky", {cholesky, 1, 1}},
                                    {"stablehlo.triangular_solve", {triangularSolve, 2, 2}}};
  return table;
}

} // namespace plim::importers::stablehlo
