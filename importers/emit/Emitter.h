// Tensors on top of Builder's scalars: what operators are written with.
//
// A `Value` is what a name of a model stands for while it is imported. Its extents are scalars:
// numbers where they are known, else names of indices, so that shapes that a run gives need nothing
// special. Integers that shapes are computed of stay scalars too (`elements`), and no tensor is
// made of them unless something reads it.
#pragma once

#include "importers/emit/Builder.h"
#include "importers/emit/Tensor.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace plim::importers {

/// Of one Emitter; copies stand for the same thing. A tensor is in one of several forms, the
/// cheapest that is known: `data`, `elements`, `splat`, `narrow`, or only the SSA value `name`.
/// Emitter::use() gives any of them a name.
struct Value {
  enum class Kind { None, Tensor, Sequence };
  Kind kind = Kind::None;
  ElementType type = ElementType::F32;
  Scalars dims;
  std::string name;                // of the SSA value; made by Emitter::use() if it is empty
  TensorPtr data;                  // of a constant
  std::optional<Scalars> elements; // indices, or truth values
  std::optional<Scalar>
      splat; // what all elements are; no tensor is made unless something reads one
  /// What it is broadcast from, with extents of 1 where it repeats; also only made if something
  /// reads it.
  std::shared_ptr<const Value> narrow;
  std::vector<Value> items; // of a sequence

  explicit operator bool() const { return kind != Kind::None; }
  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
};

using Values = Checked<Value>;
using Numbers = Checked<int64_t>;
using Reals = Checked<double>;
using Axes = Numbers;

/// Writes into one function, at the current place. What does not fit is an ImportError. Not for
/// several threads.
class Emitter : public Builder {
public:
  /// Constants of at least so many bytes become parameters.
  size_t parameterBytes = 1024;
  /// Those that did; their names are distinct.
  const std::vector<TensorPtr> &parameters() const { return externals; }

  // --- Making and reading ------------------------------------------------------------------------

  Value constant(const TensorPtr &data);
  Value tensor(ElementType type, Scalars dims, std::string name);
  /// Of integers that are known or computed as indices; `shape` has as many elements.
  Value ofElements(ElementType type, const std::vector<int64_t> &shape, Scalars elements);
  /// A list of one dimension.
  Value list(Scalars elements);
  Value scalar(const Scalar &value);
  /// All elements are `value`.
  Value splat(const Scalars &dims, const Scalar &value);
  /// `value` has extents of 1 where it repeats. No tensor is made unless something reads it.
  Value widened(const Value &value, const Scalars &dims);
  Value sequence(Values items);

  using Builder::use;
  /// The name of the tensor's SSA value, which is made where it has none; the first form notes it
  /// in `value`.
  std::string use(Value &value);
  std::string use(const Value &value);
  /// Its type in MLIR's text.
  std::string type(const Value &value) const;

  /// The elements as indices (truth values of truth values), read from the tensor if need be; at
  /// most 1024.
  Scalars elements(const Value &value);
  /// If all are known now.
  std::optional<Numbers> known(const Value &value);
  /// Floats that are known now.
  std::optional<Reals> knownReals(const Value &value);
  Scalar at(const Value &value, const Scalars &indices);
  /// The first element as an index, of a tensor that has one.
  Scalar firstIndex(const Value &value);
  /// The one element.
  Scalar only(const Value &value);
  /// The product of the extents.
  Scalar count(const Value &value);

  // --- Computing ---------------------------------------------------------------------------------

  using Element = std::function<Scalar(const Scalars &)>;

  /// Each element from its position.
  Value generate(ElementType type, const Scalars &dims, const Element &element);
  /// Each element from those of the operands, which are broadcast as NumPy does.
  Value elementwise(ElementType type, const Values &operands, const Element &element);
  /// The same with extents that the operands are broadcast to.
  Value elementwiseTo(ElementType type, const Scalars &dims, const Values &operands,
                      const Element &element);
  /// The same of integers, where it is done now if they are known or extents.
  Value elementwiseOrNow(ElementType type, const Values &operands, const Element &element);
  /// Over `axes`, which stay with extent 1 if `keep`: starts with `initial`, `combine` has the
  /// value so far and the element.
  Value reduce(const Value &value, const Axes &axes, bool keep, const Scalar &initial,
               const std::function<Scalar(const Scalar &, const Scalar &)> &combine);
  /// Several results at once, each from the elements that `inputs` have at one position. `combine`
  /// has the values so far and these elements.
  using Combine = std::function<Scalars(const Scalars &, const Scalars &)>;
  Values reduceTogether(const Values &inputs, const Axes &axes, const Scalars &initial,
                        const Combine &combine);
  /// The same over windows that lie within the inputs; `dims` are those of the results.
  Values reduceWindows(const Values &inputs, const Numbers &window, const Numbers &strides,
                       const Numbers &dilations, const Scalars &dims, const Scalars &initial,
                       const Combine &combine);
  Value fill(const Scalars &dims, const Scalar &value);
  /// A tensor whose elements are written before they are read.
  Value unset(ElementType type, const Scalars &dims);
  Value convert(const Value &value, ElementType type);
  using Builder::convert;

  /// Sums of products: `left`, `right` and `out` name the loop of each dimension, `loops` their
  /// extents; a loop that `out` does not name is summed over. Added to `initial`, of the type of
  /// the result. `attributes` of the op beyond that, as text.
  Value contract(const Value &left, const Axes &leftLoops, const Value &right,
                 const Axes &rightLoops, const Axes &outLoops, const Scalars &loopExtents,
                 const Scalar &initial, const std::string &attributes = {});

  // --- Tensors that loops carry ------------------------------------------------------------------

  /// `initial` after `body` was called for each position, one after the other.
  Value updateLoop(const Value &initial, const Scalars &lower, const Scalars &upper,
                   const std::function<Value(const Value &, const Scalars &)> &body);
  /// The tensor with one element changed.
  Value withElement(const Value &value, const Scalars &at, const Scalar &element);
  /// What the turns of a loop hand on.
  struct LoopState {
    Values values; // whose shapes stay
    Scalars scalars;
  };
  /// `count` turns, each of which hands its state to the next.
  LoopState loopWith(const Scalar &count, const LoopState &initial,
                     const std::function<LoopState(const Scalar &, const LoopState &)> &body);
  /// The same with tensors only.
  Values loop(const Scalar &count, const Values &initial,
              const std::function<Values(const Scalar &, const Values &)> &body);

  /// `initial` after `body` was called for each line along `axis`, in any order and on any threads: with the position of the
  /// line's begin, and the line of each tensor, whose shape stays. Extents beside `axis` are those of the first one.
  Values eachLine(const Values &initial, int64_t axis,
                  const std::function<Values(const Scalars &line, const Values &lines)> &body);

  /// What `body` makes of `values` if `condition` holds, else `values`; their shapes stay.
  Values changedIf(const Scalar &condition, const Values &values,
                   const std::function<Values()> &body);

  // --- Moving ------------------------------------------------------------------------------------

  Value reshape(const Value &value, const Scalars &dims);
  Value transpose(const Value &value, const Axes &order);
  /// Elements that are scalars already, in another order: the one at each position is that of
  /// `value` at `from(position)`. Nothing if there are none, or if an extent is not known.
  std::optional<Value> rearranged(const Value &value, const Scalars &dims,
                                  const std::function<Numbers(const Numbers &)> &from);
  Value slice(const Value &value, const Scalars &offsets, const Scalars &sizes,
              const Scalars &strides);
  /// `size` elements along one axis.
  Value sliceAxis(const Value &value, int64_t axis, const Scalar &offset, const Scalar &size);
  /// One of an axis, which goes.
  Value pick(const Value &value, int64_t axis, const Scalar &index);
  Value insert(const Value &value, const Value &into, const Scalars &offsets);
  Value pad(const Value &value, const Scalars &low, const Scalars &high, const Scalar &with);
  Value concatenate(const Values &values, int64_t axis);
  Value broadcast(const Value &value, const Scalars &dims);
  /// With the extents that are known to be those.
  Value withDims(const Value &value, const Scalars &dims);

  /// The extents of what NumPy broadcasts.
  Scalars broadcastDims(const Scalars &a, const Scalars &b);

  /// A block that carries tensors around a loop or out of a branch: names for values that come in,
  /// and their types.
  std::string types(const Values &values) const;
  std::string names(const Values &values);
  /// Values with those types; extents that are not known are read from the tensors.
  Values results(const std::string &name, const Values &like);
  /// The same for arguments of a block.
  Value argument(const Value &like);

private:
  /// A slice as tensor.extract_slice and its like name it.
  std::string sliceText(const Scalars &offsets, const Scalars &sizes, const Scalars &strides);
  std::string denseText(const Tensor &tensor) const;
  std::string emptyLike(ElementType type, const Scalars &dims);
  std::string shapeOperands(const Scalars &dims);
  Value generic(ElementType type, const Scalars &dims, const Values &inputs,
                const std::vector<std::string> &maps,
                const std::function<Scalar(const Scalars &)> &body);
  Values accumulate(const Values &inputs, const std::vector<std::string> &maps,
                    const std::optional<Value> &window, const std::string &outMap,
                    const std::vector<bool> &reduced, const Scalars &dims, const Scalars &initial,
                    const Combine &combine);
  Value withOwnDims(Value value);
  /// What is broadcast to `dims`, with all elements of the extents that it has a part of. Where fewer are there, reading them
  /// fails.
  Value completed(const Value &value, const Scalars &dims);
  const std::string &externalName(const TensorPtr &data);

  std::vector<TensorPtr> externals;
  std::map<std::string, const Tensor *> externalNames;
  std::map<TensorPtr, std::string>
      loaded; // keeps them: another tensor may come to lie where one that went was
};

/// Are the extents known to be equal, by their numbers or by having one name?
bool sameExtent(const Scalar &a, const Scalar &b);
bool sameExtents(const Scalars &a, const Scalars &b);
/// "tensor<2x?xf32>"
std::string tensorType(ElementType type, const Scalars &dims);
/// Any text in quotes, as MLIR reads it, and behind "@".
std::string stringLiteral(const std::string &name);
std::string symbol(const std::string &name);

} // namespace plim::importers
