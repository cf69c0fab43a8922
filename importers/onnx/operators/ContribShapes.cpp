// ONNX Runtime's operators that move elements, find them or count them (Contrib.h).
#include "importers/onnx/Contrib.h"

#include <cmath>

namespace plim::importers {

namespace {

void expandDims(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const auto axis = e.known(op.input(1));
  if (!axis || axis->size() != 1)
    unsupported("along an axis that is not known");
  Scalars dims = x.dims;
  const int64_t at = Operator::axisOf((*axis)[0], x.rank() + 1);
  dims.insert(dims.begin() + at, e.index(1));
  op.set(0, e.reshape(x, dims));
}

void sample(Operator &op) { op.set(0, op.input(0)); }

/// By steps of 1, if the third input does not say others.
void range(Operator &op) {
  Emitter &e = op.emit;
  const ElementType type = op.input(0).type;
  Values inputs = op.inputs;
  if (!op.has(2)) {
    inputs.resize(2);
    inputs.push_back(isFloat(type) ? e.scalar(e.number(type, 1))
                                   : e.ofElements(type, {}, {e.index(1)}));
  }
  op.set(0, resultOf(op, "Range", 11, inputs));
}

/// In the order in which they come.
void unique(Operator &op) {
  if (op.input(0).rank() != 1)
    invalid("a tensor of rank " + std::to_string(op.input(0).rank()) + " is no list");
  Node node = op.node;
  node.outputs = {"values", "first", "places", "counts"};
  node.attributes["sorted"].kind = Attribute::Kind::Int;
  Operator inner(op.importer, op.emit, node, 11, op.inputs);
  findOperator("Unique")(inner);
  op.set(0, inner.outputs[0]);
  op.set(1, inner.outputs[2]);
  op.set(2, inner.outputs[3]);
}

/// The other inputs say how weights learn.
void torchEmbedding(Operator &op) {
  op.set(0, resultOf(op, "Gather", 13, {op.input(0), op.input(1)}));
}

/// Windows along a dimension, whose elements become the last one.
void unfoldTensor(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const auto axis = static_cast<size_t>(Operator::axisOf(op.integer("dim", -1), x.rank()));
  const int64_t size = countOf(op, "size"), step = countOf(op, "step", 1);
  if (x.dims[axis].known && *x.dims[axis].known < size)
    invalid("a window of " + std::to_string(size) + " of " + std::to_string(*x.dims[axis].known) +
            " elements");
  Scalars dims = x.dims;
  dims[axis] = e.add(e.floorDiv(e.sub(dims[axis], e.index(size)), e.index(step)), e.index(1));
  dims.push_back(e.index(size));
  e.use(x);
  op.set(0, e.generate(x.type, dims, [&](const Scalars &position) {
    Scalars at = position.without(1);
    at[axis] = e.add(e.mul(at[axis], e.index(step)), position.back());
    return e.at(x, at);
  }));
}

/// Is none of all elements infinite, or no number?
void isAllFinite(Operator &op) {
  Emitter &e = op.emit;
  const bool onlyInfinite = flag(op, "isinf_only", false), onlyNan = flag(op, "isnan_only", false);
  if (onlyInfinite && onlyNan)
    invalid("isinf_only and isnan_only exclude each other");
  Values all;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const Value &x = op.input(i);
    Axes axes;
    for (int64_t axis = 0; axis < x.rank(); ++axis)
      axes.push_back(axis);
    all.push_back(
        e.reduce(x, axes, false, e.truth(true), [&](const Scalar &so, const Scalar &element) {
          const Scalar off =
              onlyNan ? element : e.sub(element, element); // no number if it is not finite
          const Scalar isGood =
              onlyInfinite ? e.compare(Compare::NotEqual, e.abs(element), e.highest(x.type))
                           : e.compare(Compare::Equal, off, off);
          return e.both(so, isGood);
        }));
  }
  op.set(0, e.elementwise(ElementType::I1, all, [&](const Scalars &in) {
    Scalar so = in[0];
    for (size_t i = 1; i < in.size(); ++i)
      so = e.both(so, in[i]);
    return so;
  }));
}

/// Of words of 32 bits, by https://en.wikipedia.org/wiki/MurmurHash#Algorithm.
void murmurHash3(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const size_t bits = bitsOf(x.type);
  if (bits < 32)
    unsupported("of " + onnxName(x.type));
  const ElementType word = ElementType::U32;
  auto number = [&](int64_t value) {
    return e.integer(word, static_cast<int32_t>(static_cast<uint32_t>(value)));
  };
  auto shifted = [&](const char *way, const Scalar &a, int64_t by) {
    return Scalar{word,
                  e.define(std::string("arith.") + way + " " + e.use(a) + ", " + e.use(number(by)) +
                           " : i32"),
                  {}};
  };
  auto turned = [&](const Scalar &a, int64_t by) {
    return e.either(shifted("shli", a, by), shifted("shrui", a, 32 - by));
  };
  auto mixed = [&](const Scalar &a, int64_t by) { return e.exclusive(a, shifted("shrui", a, by)); };
  const ElementType out = flag(op, "positive", true) ? word : ElementType::I32;
  op.set(0, e.elementwise(out, {x}, [&](const Scalars &in) {
    Scalar whole = in[0];
    if (isFloat(x.type))
      whole = e.bitcast(in[0], bits == 64 ? ElementType::U64 : word);
    Scalars words;
    if (bits == 64) {
      const Scalar thirtyTwo = e.integer(ElementType::U64, 32);
      const std::string upper =
          e.define("arith.shrui " + e.use(whole) + ", " + e.use(thirtyTwo) + " : i64");
      words = {{word, e.define("arith.trunci " + e.use(whole) + " : i64 to i32"), {}},
               {word, e.define("arith.trunci " + upper + " : i64 to i32"), {}}};
    } else {
      words = {{word, e.use(whole), {}}};
    }
    Scalar hash = number(op.integer("seed", 0));
    for (const Scalar &each : words) {
      const Scalar part = e.mul(turned(e.mul(each, number(0xCC9E2D51)), 15), number(0x1B873593));
      hash = e.add(e.mul(turned(e.exclusive(hash, part), 13), number(5)), number(0xE6546B64));
    }
    hash = e.exclusive(hash, number(static_cast<int64_t>(bits / 8)));
    hash = e.mul(mixed(hash, 16), number(0x85EBCA6B));
    hash = mixed(e.mul(mixed(hash, 13), number(0xC2B2AE35)), 16);
    return Scalar{out, e.use(hash), {}};
  }));
}

/// The parts of images that boxes have, [y1, x1, y2, x2] from 0 to 1, at one size.
void cropAndResize(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0), &boxes = op.input(1), &images = op.input(2);
  const bool isNearest = op.choice("mode", {"bilinear", "nearest"}) == "nearest";
  const Scalars size = e.elements(op.input(3));
  if (x.rank() != 4 || boxes.rank() != 2 || size.size() != 2)
    invalid("the images must have rank 4, the boxes rank 2, and crop_size two numbers");
  const ElementType type = x.type;
  const Scalar one = e.index(1), zero = e.index(0), half = e.number(type, 0.5);
  const Scalar outside = e.number(type, op.real("extrapolation_value", 0));
  e.use(x);
  e.use(boxes);
  e.use(images);
  const Scalars dims{boxes.dims[0], x.dims[1], size[0], size[1]};
  op.set(0, e.generate(type, dims, [&](const Scalars &at) {
    auto place = [&](int64_t axis) {
      const auto a = static_cast<size_t>(axis);
      const Scalar last = e.convert(e.sub(x.dims[a + 2], one), type);
      const Scalar from = e.at(boxes, {at[0], e.index(axis)}),
                   to = e.at(boxes, {at[0], e.index(axis + 2)});
      const Scalar isOne = e.compare(Compare::LessEqual, size[a], one);
      const Scalar steps = e.convert(e.max(one, e.sub(size[a], one)), type);
      const Scalar step = e.div(e.mul(e.sub(to, from), last), steps);
      const Scalar many = e.add(e.mul(from, last), e.mul(e.convert(at[a + 2], type), step));
      return e.select(isOne, e.mul(half, e.mul(e.add(from, to), last)), many);
    };
    const Scalar y = place(0), x0 = place(1);
    auto isIn = [&](const Scalar &p, const Scalar &extent) {
      return e.both(e.compare(Compare::GreaterEqual, p, e.number(type, 0)),
                    e.compare(Compare::LessEqual, p, e.convert(e.sub(extent, one), type)));
    };
    return e.branch(
        e.both(isIn(y, x.dims[2]), isIn(x0, x.dims[3])),
        [&]() -> Scalars {
          const Scalar image = e.convert(e.at(images, {at[0]}), ElementType::Index);
          auto read = [&](const Scalar &row, const Scalar &column) {
            return e.at(x, {image, at[1], row, column});
          };
          auto whole = [&](const char *rounding, const Scalar &p) {
            return e.max(zero, e.convert(e.math(rounding, {p}), ElementType::Index));
          };
          if (isNearest)
            return {read(whole("round", y), whole("round", x0))};
          const Scalar top = whole("floor", y), left = whole("floor", x0),
                       bottom = whole("ceil", y), right = whole("ceil", x0);
          const Scalar down = e.sub(y, e.convert(top, type)),
                       along = e.sub(x0, e.convert(left, type));
          auto between = [&](const Scalar &a, const Scalar &b, const Scalar &share) {
            return e.add(a, e.mul(e.sub(b, a), share));
          };
          return {between(between(read(top, left), read(top, right), along),
                          between(read(bottom, left), read(bottom, right), along), down)};
        },
        [&]() -> Scalars { return {outside}; })[0];
  }));
}

/// Biases of T5 by how far a key lies behind a query: near ones each in a bucket, far ones by logarithms.
void relativePositionBias(Operator &op) {
  Emitter &e = op.emit;
  const Value &table = op.input(0);
  const int64_t most = countOf(op, "max_distance");
  const bool bothWays = flag(op, "is_bidirectional", false);
  if (table.rank() != 2 || !table.dims[0].known)
    unsupported("with buckets whose number is not known");
  const int64_t buckets = bothWays ? *table.dims[0].known / 2 : *table.dims[0].known,
                exact = buckets / 2;
  if (exact < 1 || most <= exact)
    invalid("max_distance is " + std::to_string(most) + ", and there are " +
            std::to_string(buckets) + " buckets");
  const Scalar queries = e.firstIndex(op.input(1)), keys = e.firstIndex(op.input(2)),
               zero = e.index(0);
  const ElementType type = ElementType::F32;
  e.use(table);
  op.set(
      0, e.generate(table.type, {e.index(1), table.dims[1], queries, keys}, [&](const Scalars &at) {
        const Scalar ahead = e.sub(at[3], at[2]);
        const Scalar distance = bothWays ? e.max(ahead, e.neg(ahead)) : e.max(zero, e.neg(ahead));
        const Scalar ratio = e.div(e.convert(e.max(distance, e.index(1)), type),
                                   e.number(type, static_cast<double>(exact)));
        const double scale = static_cast<double>(buckets - exact) /
                             std::log(static_cast<double>(most) / static_cast<double>(exact));
        const Scalar far =
            e.add(e.index(exact), e.convert(e.mul(e.math("log", {ratio}), e.number(type, scale)),
                                            ElementType::Index));
        const Scalar isNear = e.compare(Compare::Less, distance, e.index(exact));
        Scalar bucket = e.select(isNear, distance, e.min(far, e.index(buckets - 1)));
        if (bothWays)
          bucket = e.add(
              bucket, e.select(e.compare(Compare::Greater, ahead, zero), e.index(buckets), zero));
        return e.at(table, {bucket, at[1]});
      }));
}

} // namespace

const ContribTable &contribShapes() {
  static const ContribTable table{
      {"ExpandDims", {expandDims, 2, 2, 1, ""}},
      {"SampleOp", {sample, 1, 1, 1, ""}},
      {"Trilu", {asOnnx<14>, 1, 2, 1, "upper"}},
      {"Pad", {asOnnx<13>, 2, 3, 1, "mode"}},
      {"GatherND", {asOnnx<11>, 2, 2, 1, ""}},
      {"GridSample", {asOnnx<16>, 2, 2, 1, "align_corners mode padding_mode"}},
      {"Range", {range, 2, 3, 1, ""}},
      {"Unique", {unique, 1, 1, 3, ""}},
      {"TorchEmbedding", {torchEmbedding, 2, 4, 1, ""}},
      {"UnfoldTensor", {unfoldTensor, 1, 1, 1, "dim size! step"}},
      {"IsAllFinite", {isAllFinite, 1, anyNumber, 1, "isinf_only isnan_only"}},
      {"MurmurHash3", {murmurHash3, 1, 1, 1, "positive seed"}},
      {"CropAndResize", {cropAndResize, 4, 4, 1, "extrapolation_value mode"}},
      {"RelativePositionBias", {relativePositionBias, 3, 3, 1, "is_bidirectional max_distance!"}}};
  return table;
}

} // namespace plim::importers
