// Calls of what others implement, under names that exporters promise to keep: notes on where data lies, operations of the dialect
// chlo, and what JAX leaves to a library of the machine that it writes for.
#include "importers/emit/Sorting.h"
#include "importers/stablehlo/Algebra.h"
#include "importers/stablehlo/Importer.h"
#include "importers/stablehlo/Random.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace plim::importers::stablehlo {

namespace {

bool isNote(std::string_view target) {
  static constexpr std::array<std::string_view, 12> notes{
      "Sharding",
      "SPMDFullToShardShape",
      "SPMDShardToFullShape",
      "annotate_device_placement",
      "LayoutConstraint",
      "MoveToHost",
      "MoveToDevice",
      "stablehlo.shape_refinement_operand_wrapper", // its shape is in the others
      "xla.sdy.FuncResultSharding",
      "xla.sdy.GlobalToLocalShape",
      "xla.sdy.LocalToGlobalShape",
      "xla.sdy.Sharding"};
  return std::find(notes.begin(), notes.end(), target) != notes.end();
}

void note(Operator &op) {
  if (op.inputs.empty())
    invalid("it needs an operand");
  op.outputs =
      op.operation.resultTypes.size() == op.inputs.size() ? op.inputs : op.inputs.part(0, 1);
}

void shapeAssertion(Operator &op) {
  if (op.inputs.empty() || op.input(0).type != ElementType::I1 || op.input(0).rank() != 0)
    invalid("it needs a condition, a tensor<i1>");
  op.emit.line("cf.assert " + op.emit.use(op.emit.only(op.input(0))) +
               ", \"a shape is not as the module needs it\"");
}

/// What a call of a library says beside its operands.
const Attribute &configurationOf(Operator &op) { return op.fields("mhlo.backend_config"); }

int64_t configured(Operator &op, const std::string &name) {
  const Numbers numbers = numbersOf(configurationOf(op), name);
  if (numbers.size() != 1)
    invalid("its mhlo.backend_config has no number '" + name + "'");
  return numbers[0];
}

/// One of two characters, as LAPACK has them.
bool isCharacter(Operator &op, const std::string &name, char yes, char no) {
  const int64_t given = configured(op, name);
  if (given != yes && given != no)
    invalid(name + " is " + std::to_string(given));
  return given == yes;
}

void takes(Operator &op, size_t least, size_t most) {
  if (op.inputs.size() < least || op.inputs.size() > most)
    invalid("it has " + std::to_string(op.inputs.size()) + " operands");
}

/// By the factors of a stack of matrices: 0 where each element of the diagonal is greater than 0, else the number of the first
/// that is not.
Value firstNotPositive(Emitter &e, const Value &factors) {
  const Scalars batch = factors.dims.without(2);
  const Scalar zero = e.index(0), n = factors.dims.back();
  e.use(factors);
  return e.generate(ElementType::I32, batch, [&](const Scalars &position) {
    const Scalar first =
        e.loops({zero}, {n}, {zero}, [&](const Scalars &i, const Scalars &so) -> Scalars {
          Scalars place = position;
          place.push_back(i[0]);
          place.push_back(i[0]);
          const Scalar element = e.at(factors, place);
          const Scalar real = isComplex(element.type) ? e.realPart(element) : element;
          const Scalar isGood = e.compare(Compare::Greater, real, e.number(real.type, 0));
          const Scalar isLater = e.compare(Compare::NotEqual, so[0], zero);
          return {e.select(e.either(isGood, isLater), so[0], e.add(i[0], e.index(1)))};
        })[0];
    return e.convert(first, ElementType::I32);
  });
}

void potrf(Operator &op) {
  takes(op, 1, 1);
  const Value factors = cholesky(op.emit, op.input(0), isCharacter(op, "uplo", 'L', 'U'));
  op.give(factors);
  op.give(firstNotPositive(op.emit, factors));
}

/// A third operand is a factor that is always 1.
void trsm(Operator &op) {
  takes(op, 2, 3);
  const int64_t transpose = configured(op, "trans_x");
  if (transpose != 'N' && transpose != 'T' && transpose != 'C')
    invalid("trans_x is " + std::to_string(transpose));
  op.give(triangularSolve(op.emit, op.input(0), op.input(1),
                          {isCharacter(op, "side", 'L', 'R'), isCharacter(op, "uplo", 'L', 'U'),
                           isCharacter(op, "diag", 'U', 'N'),
                           transpose == 'N'   ? "NO_TRANSPOSE"
                           : transpose == 'T' ? "TRANSPOSE"
                                              : "ADJOINT"}));
}

/// The third result would tell a column without a pivot, which no caller takes for an error.
void getrf(Operator &op) {
  takes(op, 1, 1);
  Emitter &e = op.emit;
  const Factors factors = factorised(e, op.input(0));
  op.give(factors.matrix);
  op.give(e.elementwise(ElementType::I32, {factors.pivots}, [&](const Scalars &in) {
    return e.add(in[0], e.integer(ElementType::I32, 1));
  }));
  op.give(e.splat(op.input(0).dims.without(2), e.integer(ElementType::I32, 0)));
}

/// Two words of key and two of counter; older ones give a tuple.
void threefryCall(Operator &op) {
  takes(op, 4, 5); // the fifth is a length
  Emitter &e = op.emit;
  const Values words = op.inputs.part(0, 4);
  for (const Value &word : words) {
    checkSameShape(words[0], word);
    if (word.type != ElementType::U32)
      invalid("its operands must be of ui32");
  }
  for (size_t i = 0; i < 2; ++i)
    op.give(elementwise(e, ElementType::U32, words, [&](const Scalars &in) {
      return threefry(e, {in[0], in[1]}, {in[2], in[3]})[i];
    }));
  if (op.operation.resultTypes.size() == 1)
    op.outputs = {e.sequence(op.outputs)};
}

/// Exactly: the first of the operands in the order of a function, with as many as the result has.
void approximateTopK(Operator &op) {
  Emitter &e = op.emit;
  const size_t count = op.operation.resultTypes.size();
  takes(op, 2 * count, 2 * count + 1);
  const Values values = op.inputs.part(0, count);
  const int64_t axis = configured(op, "reduction_dim");
  checkAxes({axis}, values[0].rank(), "reduction_dim");
  const auto found = op.operation.attributes.find("called_computations");
  if (found == op.operation.attributes.end() || found->second.items.size() != 1)
    invalid("its called_computations must be one function");
  const std::string comparator = found->second.items[0].text;
  for (const Value &value : values)
    checkSameShape(values[0], value);
  const Type &type = op.resultType(0);
  if (type.shape.size() != values[0].dims.size() || type.shape[static_cast<size_t>(axis)] == open)
    unsupported("how many it gives must be known");
  const Scalar kept = e.index(type.shape[static_cast<size_t>(axis)]);
  e.require(e.compare(Compare::LessEqual, kept, values[0].dims[static_cast<size_t>(axis)]),
            "more elements are asked for than there are");
  const Values all = sorted(e, values, axis, [&](const Scalars &a, const Scalars &b) {
    Scalars arguments;
    for (size_t i = 0; i < a.size(); ++i)
      arguments.insert(arguments.end(), {a[i], b[i]});
    return callOnElements(op, comparator, arguments, {ElementType::I1})[0];
  });
  for (const Value &value : all)
    op.give(e.sliceAxis(value, axis, e.index(0), kept));
}

using Call = void (*)(Operator &);

/// A function of LAPACK's, of which there is one for each type: "lapack_spotrf_ffi".
Call ofLapack(std::string_view target) {
  static constexpr std::string_view front = "lapack_", back = "_ffi";
  if (!target.starts_with(front) || !target.ends_with(back) ||
      target.size() < front.size() + back.size() + 2)
    return nullptr;
  const char type = target[front.size()];
  if (type != 's' && type != 'd' && type != 'c' && type != 'z')
    return nullptr;
  const std::string_view name =
      target.substr(front.size() + 1, target.size() - front.size() - back.size() - 1);
  return name == "potrf" ? potrf : name == "trsm" ? trsm : name == "getrf" ? getrf : nullptr;
}

Call callOf(std::string_view target) {
  if (isNote(target))
    return note;
  if (target == "shape_assertion")
    return shapeAssertion;
  for (const char *machine : {"cu_", "hip_"})
    if (target.starts_with(machine) &&
        target.substr(std::string_view(machine).size()).starts_with("threefry2x32"))
      return threefryCall;
  if (target == "ApproxTopK" || target == "stablehlo.dynamic_approx_top_k")
    return approximateTopK;
  return ofLapack(target);
}

void customCall(Operator &op) {
  const std::string target = op.word("call_target_name", "");
  if (const Call call = callOf(target))
    return call(op);
  if (target == "stablehlo.dynamic_reduce_window" && op.inputs.size() >= 7)
    return findOperation(target)->function(op);
  // Of a shape that only a run knows; shapes of the results may follow the operands.
  if (target == "stablehlo.dynamic_top_k" && op.inputs.size() >= 2)
    return findOperation("chlo.top_k")->function(op);
  if (target.starts_with("mhlo.")) {
    const std::string name = target.substr(5);
    const OperationEntry *entry = findOperation("chlo." + (name == "topk" ? "top_k" : name));
    if (!entry)
      entry = findOperation("stablehlo." + name);
    if (entry && op.inputs.size() >= entry->least && op.inputs.size() <= entry->most)
      return entry->function(op);
  }
  unsupported("the call of '" + target + "' is not supported");
}

} // namespace

const OperationTable &calls() {
  static const OperationTable table{{"stablehlo.custom_call", {customCall, 0, any}}};
  return table;
}

} // namespace plim::importers::stablehlo
