// Products of matrices and sums of products. Each stands on https://onnx.ai/onnx/operators/onnx__NAME.html.
#include "importers/onnx/Products.h"

#include <algorithm>

namespace plim::importers {

namespace {

/// A named product of linalg, added to zeros.
Value named(Emitter &e, const std::string &operation, const Value &a, const Value &b,
            const Scalars &dims, const std::string &attributes = {}) {
  const Value start = e.fill(dims, e.number(a.type, 0));
  const std::string left = e.use(a), right = e.use(b), type = e.type(start);
  return e.tensor(a.type, dims,
                  e.define("linalg." + operation +
                           (attributes.empty() ? "" : " {" + attributes + "}") + " ins(" + left +
                           ", " + right + " : " + e.type(a) + ", " + e.type(b) + ") outs(" +
                           e.use(start) + " : " + type + ") -> " + type));
}

void matMul(Operator &op) { op.set(0, product(op.emit, op.input(0), op.input(1))); }

void gemm(Operator &op) {
  Emitter &e = op.emit;
  Value a = op.input(0), b = op.input(1);
  if (a.rank() != 2 || b.rank() != 2)
    invalid("both factors must be matrices");
  if (op.integer("transA", 0) != 0)
    a = e.transpose(a, {1, 0});
  if (op.integer("transB", 0) != 0)
    b = e.transpose(b, {1, 0});
  const double alpha = op.real("alpha", 1), beta = op.real("beta", 1);
  const Value sum = product(e, a, b);
  Values operands{sum};
  if (op.has(2))
    operands.push_back(op.input(2));
  else if (alpha == 1)
    return op.set(0, sum);
  op.set(0, e.elementwise(sum.type, operands, [&](const Scalars &in) {
    Scalar scaled = alpha == 1 ? in[0] : e.mul(in[0], e.number(sum.type, alpha));
    if (in.size() == 1)
      return scaled;
    return e.add(scaled, beta == 1 ? in[1] : e.mul(in[1], e.number(sum.type, beta)));
  }));
}

/// The letters of one operand of an equation; "..." becomes as many capital letters as it stands for.
std::string spelled(const std::string &term, int64_t rank) {
  const size_t dots = term.find("...");
  std::string letters;
  for (const char c : term)
    if (c != ' ' && c != '.')
      letters += c;
  if (dots == std::string::npos)
    return letters;
  size_t before = 0;
  for (size_t i = 0; i < dots; ++i)
    before += term[i] != ' ';
  const int64_t hidden = rank - static_cast<int64_t>(letters.size());
  std::string out = letters.substr(0, before);
  // From the back, so that shorter ones are broadcast.
  for (int64_t i = hidden; i-- > 0;)
    out += static_cast<char>('\x80' + i);
  return out + letters.substr(before);
}

void einsum(Operator &op) {
  Emitter &e = op.emit;
  std::string equation = op.text("equation", "");
  const size_t arrow = equation.find("->");
  const std::string left = equation.substr(0, arrow);
  std::vector<std::string> terms;
  for (size_t start = 0;;) {
    const size_t comma = left.find(',', start);
    terms.push_back(left.substr(start, comma - start));
    if (comma == std::string::npos)
      break;
    start = comma + 1;
  }
  if (terms.size() != op.inputs.size())
    invalid("the equation has " + std::to_string(terms.size()) + " operands, the node " +
            std::to_string(op.inputs.size()));
  std::map<char, Scalar> extents;
  std::map<char, int> counts;
  std::string hidden;
  for (size_t i = 0; i < terms.size(); ++i) {
    terms[i] = spelled(terms[i], op.input(i).rank());
    if (static_cast<int64_t>(terms[i].size()) != op.input(i).rank())
      invalid("the equation does not fit the rank of input " + std::to_string(i));
    for (size_t d = 0; d < terms[i].size(); ++d) {
      const char letter = terms[i][d];
      const Scalar &extent = op.input(i).dims[d];
      auto [place, isNew] = extents.emplace(letter, extent);
      if (!isNew && !sameExtent(place->second, extent) && letter < 0)
        place->second = e.broadcastDims({place->second}, {extent})[0];
      ++counts[letter];
      if (letter < 0 && hidden.find(letter) == std::string::npos)
        hidden += letter;
    }
  }
  std::sort(hidden.begin(), hidden.end(), std::greater<>());
  std::string out;
  if (arrow == std::string::npos) {
    out = hidden;
    for (const auto &[letter, count] : counts)
      if (count == 1 && letter > 0)
        out += letter;
  } else {
    out = spelled(equation.substr(arrow + 2), 0);
    const size_t dots = equation.find("...", arrow);
    if (dots != std::string::npos) {
      size_t before = 0;
      for (size_t i = arrow + 2; i < dots; ++i)
        before += equation[i] != ' ';
      out.insert(before, hidden);
    }
  }
  Scalars dims;
  for (const char letter : out) {
    if (!extents.count(letter))
      invalid("the equation's result names what no operand has");
    dims.push_back(extents[letter]);
  }
  std::string summed;
  for (const auto &[letter, extent] : extents)
    if (out.find(letter) == std::string::npos)
      summed += letter;
  // Two operands without a letter twice are a contraction.
  auto isPlain = [&](size_t i) {
    std::string sorted = terms[i];
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
      return false;
    for (size_t d = 0; d < terms[i].size(); ++d)
      if (!sameExtent(op.input(i).dims[d], extents[terms[i][d]]) && !op.input(i).dims[d].is(1))
        return false;
    return true;
  };
  const ElementType type = op.input(0).type;
  if (terms.size() == 2 && isPlain(0) && isPlain(1)) {
    const std::string loops = out + summed;
    Scalars loopExtents;
    for (const char letter : loops)
      loopExtents.push_back(extents[letter]);
    auto axes = [&](const std::string &letters) {
      Axes all;
      for (const char letter : letters)
        all.push_back(static_cast<int64_t>(loops.find(letter)));
      return all;
    };
    return op.set(0, e.contract(op.input(0), axes(terms[0]), op.input(1), axes(terms[1]), axes(out),
                                loopExtents, e.number(type, 0)));
  }
  for (size_t i = 0; i < op.inputs.size(); ++i)
    e.use(op.input(i));
  op.set(0, e.generate(type, dims, [&](const Scalars &position) {
    Scalars upper;
    for (const char letter : summed)
      upper.push_back(extents[letter]);
    const Scalars lower(upper.size(), e.index(0));
    return e.loops(lower, upper, {e.number(type, 0)},
                   [&](const Scalars &at, const Scalars &carried) -> Scalars {
                     Scalar product;
                     for (size_t i = 0; i < terms.size(); ++i) {
                       Scalars where;
                       for (size_t d = 0; d < terms[i].size(); ++d) {
                         const size_t free = out.find(terms[i][d]);
                         const Scalar here = free != std::string::npos
                                                 ? position[free]
                                                 : at[summed.find(terms[i][d])];
                         where.push_back(op.input(i).dims[d].is(1) ? e.index(0) : here);
                       }
                       const Scalar factor = e.at(op.input(i), where);
                       product = i == 0 ? factor : e.mul(product, factor);
                     }
                     return {e.add(carried[0], product)};
                   })[0];
  }));
}

/// The determinants of matrices, by elimination with pivots.
void det(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  if (x.rank() < 2)
    invalid("a tensor of rank " + std::to_string(x.rank()) + " has no matrices");
  const Scalar &size = x.dims.back();
  if (!size.known || *size.known > 16)
    unsupported("of matrices whose size is not known, or more than 16");
  const auto n = static_cast<size_t>(*size.known);
  Scalars dims(x.dims.begin(), x.dims.end() - 2);
  e.use(x);
  op.set(0, e.generate(x.type, dims, [&](const Scalars &position) {
    std::vector<Scalars> m(n);
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < n; ++j) {
        Scalars at = position;
        at.push_back(e.index(static_cast<int64_t>(i)));
        at.push_back(e.index(static_cast<int64_t>(j)));
        m[i].push_back(e.at(x, at));
      }
    const Scalar zero = e.number(x.type, 0);
    Scalar out = e.number(x.type, 1);
    for (size_t k = 0; k < n; ++k) {
      for (size_t i = k + 1; i < n; ++i) { // the greatest of the column comes up
        const Scalar greater = e.compare(Compare::Greater, e.abs(m[i][k]), e.abs(m[k][k]));
        out = e.select(greater, e.neg(out), out);
        for (size_t j = k; j < n; ++j) {
          const Scalar upper = m[k][j], lower = m[i][j];
          m[k][j] = e.select(greater, lower, upper);
          m[i][j] = e.select(greater, upper, lower);
        }
      }
      const Scalar singular = e.compare(Compare::Equal, m[k][k], zero);
      const Scalar pivot = e.select(singular, e.number(x.type, 1), m[k][k]);
      for (size_t i = k + 1; i < n; ++i) {
        const Scalar factor = e.div(m[i][k], pivot);
        for (size_t j = k + 1; j < n; ++j)
          m[i][j] = e.sub(m[i][j], e.mul(factor, m[k][j]));
      }
      out = e.mul(out, m[k][k]);
    }
    return out;
  }));
}

} // namespace

Value product(Emitter &e, const Value &left, const Value &right, const std::string &attributes) {
  if (left.rank() == 0 || right.rank() == 0)
    invalid("a factor has rank 0");
  Value a = left, b = right;
  if (left.rank() == 1)
    a = e.reshape(left, {e.index(1), left.dims[0]});
  if (right.rank() == 1)
    b = e.reshape(right, {right.dims[0], e.index(1)});
  const Scalar &inner = a.dims.back(), &other = b.dims[b.dims.size() - 2];
  if (inner.known && other.known && *inner.known != *other.known)
    invalid("rows of " + std::to_string(*inner.known) + " elements and columns of " +
            std::to_string(*other.known) + " cannot be multiplied");
  const Scalars batchA(a.dims.begin(), a.dims.end() - 2), batchB(b.dims.begin(), b.dims.end() - 2);
  const Scalars batch = e.broadcastDims(batchA, batchB);
  Scalars dims = batch;
  dims.push_back(a.dims[a.dims.size() - 2]);
  dims.push_back(b.dims.back());
  Value out;
  if (batch.empty()) {
    out = named(e, "matmul", a, b, dims, attributes);
  } else if (batch.size() == 1 && sameExtents(batchA, batchB)) {
    out = named(e, "batch_matmul", a, b, dims, attributes);
  } else {
    // Extents of which only a run knows whether they are 1 are made equal first.
    auto matched = [&](const Value &value, const Scalars &own) {
      Scalars wanted = value.dims;
      bool maybe = false;
      for (size_t i = 0; i < own.size(); ++i) {
        const Scalar &extent = batch[batch.size() - own.size() + i];
        if (!own[i].is(1) && !sameExtent(own[i], extent)) {
          wanted[i] = extent;
          maybe = true;
        }
      }
      return maybe ? e.broadcast(value, wanted) : value;
    };
    a = matched(a, batchA);
    b = matched(b, batchB);
    const auto count = static_cast<int64_t>(batch.size());
    auto loops = [&](size_t own, int64_t first, int64_t second) {
      Axes out;
      for (auto i = count - static_cast<int64_t>(own); i < count; ++i)
        out.push_back(i);
      out.push_back(first);
      out.push_back(second);
      return out;
    };
    Scalars extents = dims;
    extents.push_back(a.dims.back());
    out = e.contract(
        a, loops(batchA.size(), count, count + 2), b, loops(batchB.size(), count + 2, count + 1),
        loops(batch.size(), count, count + 1), extents, e.number(a.type, 0), attributes);
  }
  Scalars wanted = batch;
  if (left.rank() > 1)
    wanted.push_back(a.dims[a.dims.size() - 2]);
  if (right.rank() > 1)
    wanted.push_back(b.dims.back());
  return e.reshape(out, wanted);
}

const OperatorTable &products() {
  static const OperatorTable table{
      {"MatMul", matMul}, {"Gemm", gemm}, {"Einsum", einsum}, {"Det", det}};
  return table;
}

} // namespace plim::importers
