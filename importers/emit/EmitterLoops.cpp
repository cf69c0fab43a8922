#include "importers/emit/Emitter.h"
#include "importers/emit/Error.h"

namespace plim::importers {

Value Emitter::withElement(const Value &value, const Scalars &at, const Scalar &element) {
  std::string list;
  for (const Scalar &position : at)
    list += (list.empty() ? "" : ", ") + use(position);
  const std::string scalar = use(element), target = use(value);
  return tensor(
      value.type, value.dims,
      define("tensor.insert " + scalar + " into " + target + "[" + list + "] : " + type(value)));
}

Value Emitter::updateLoop(const Value &initial, const Scalars &lower, const Scalars &upper,
                          const std::function<Value(const Value &, const Scalars &)> &body) {
  const std::function<Value(size_t, Scalars, const Value &)> nest =
      [&](size_t depth, Scalars indices, const Value &carried) -> Value {
    if (depth == lower.size())
      return body(carried, indices);
    const Scalar size = sub(upper[depth], lower[depth]);
    return loop(size, {carried}, [&](const Scalar &i, const Values &in) -> Values {
      Scalars next = indices;
      next.push_back(add(lower[depth], i));
      return {nest(depth + 1, next, in[0])};
    })[0];
  };
  return nest(0, {}, initial);
}

Values Emitter::loop(const Scalar &count, const Values &initial,
                     const std::function<Values(const Scalar &, const Values &)> &body) {
  const std::string zero = use(index(0)), one = use(index(1)), end = use(count);
  const std::string variable = freshName();
  Values inside;
  std::string arguments;
  for (const Value &value : initial) {
    inside.push_back(argument(value));
    arguments += (arguments.empty() ? "" : ", ") + inside.back().name + " = " + use(value);
  }
  const std::string inner = region([&] {
    Values next = body({ElementType::Index, variable, {}}, inside);
    for (size_t i = 0; i < next.size(); ++i)
      next[i] = withDims(next[i], initial[i].dims);
    line("scf.yield " + names(next) + " : " + types(next));
  });
  const std::string name = freshName();
  line(name + (initial.size() > 1 ? ":" + std::to_string(initial.size()) : "") + " = scf.for " +
       variable + " = " + zero + " to " + end + " step " + one + " iter_args(" + arguments +
       ") -> (" + types(initial) + ") {");
  raw(inner);
  line("}");
  Values out;
  for (size_t i = 0; i < initial.size(); ++i)
    out.push_back(tensor(initial[i].type, initial[i].dims,
                         initial.size() == 1 ? name : name + "#" + std::to_string(i)));
  return out;
}

} // namespace plim::importers
