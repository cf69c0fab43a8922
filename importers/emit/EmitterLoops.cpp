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

Emitter::LoopState
Emitter::loopWith(const Scalar &count, const LoopState &initial,
                  const std::function<LoopState(const Scalar &, const LoopState &)> &body) {
  const std::string zero = use(index(0)), one = use(index(1)), end = use(count);
  const std::string variable = freshName();
  LoopState inside;
  std::string arguments, types;
  auto append = [](std::string &list, const std::string &item) {
    list += (list.empty() ? "" : ", ") + item;
  };
  for (const Value &value : initial.values) {
    inside.values.push_back(argument(value));
    append(arguments, inside.values.back().name + " = " + use(value));
    append(types, type(value));
  }
  for (const Scalar &scalar : initial.scalars) {
    inside.scalars.push_back({scalar.type, freshName(), {}});
    append(arguments, inside.scalars.back().name + " = " + use(scalar));
    append(types, mlirName(scalar.type));
  }
  const std::string inner = region([&] {
    const LoopState next = body({ElementType::Index, variable, {}}, inside);
    std::string yielded;
    for (size_t i = 0; i < next.values.size(); ++i)
      append(yielded, use(withDims(next.values[i], initial.values[i].dims)));
    for (const Scalar &scalar : next.scalars)
      append(yielded, use(scalar));
    line("scf.yield " + yielded + " : " + types);
  });
  const size_t size = initial.values.size() + initial.scalars.size();
  const std::string name = freshName();
  line(name + (size > 1 ? ":" + std::to_string(size) : "") + " = scf.for " + variable + " = " +
       zero + " to " + end + " step " + one + " iter_args(" + arguments + ") -> (" + types + ") {");
  raw(inner);
  line("}");
  LoopState out = initial;
  auto result = [&](size_t i) { return size == 1 ? name : name + "#" + std::to_string(i); };
  for (size_t i = 0; i < out.values.size(); ++i)
    out.values[i] = tensor(initial.values[i].type, initial.values[i].dims, result(i));
  for (size_t i = 0; i < out.scalars.size(); ++i)
    out.scalars[i] = {initial.scalars[i].type, result(out.values.size() + i), {}};
  return out;
}

Values Emitter::loop(const Scalar &count, const Values &initial,
                     const std::function<Values(const Scalar &, const Values &)> &body) {
  return loopWith(count, {initial, {}},
                  [&](const Scalar &i, const LoopState &in) -> LoopState {
                    return {body(i, in.values), {}};
                  })
      .values;
}

Values Emitter::eachLine(const Values &initial, int64_t axis,
                         const std::function<Values(const Scalars &, const Values &)> &body) {
  const auto along = static_cast<size_t>(axis);
  auto append = [](std::string &list, const std::string &item) {
    list += (list.empty() ? "" : ", ") + item;
  };
  const Scalars &dims = initial[0].dims;
  Scalars position(dims.size(), index(0));
  std::string variables, counts;
  for (size_t d = 0; d < dims.size(); ++d)
    if (d != along && !dims[d].is(1)) {
      position[d] = {ElementType::Index, freshName(), {}};
      append(variables, position[d].name);
      append(counts, dims[d].known ? std::to_string(*dims[d].known) : use(dims[d]));
    }
  Values lines, out = initial;
  if (variables.empty()) {
    for (const Value &value : initial)
      lines.push_back(reshape(value, {value.dims[along]}));
    lines = body(position, lines);
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = reshape(lines[i], initial[i].dims);
    return out;
  }
  Values shared;
  std::string outputs;
  for (const Value &value : initial) {
    shared.push_back(tensor(value.type, value.dims, freshName()));
    append(outputs, shared.back().name + " = " + use(value));
  }
  const Scalars steps(dims.size(), index(1));
  auto placeOf = [&](const Value &value) {
    Scalars sizes = steps;
    sizes[along] = value.dims[along];
    return sliceText(position, sizes, steps);
  };
  const std::string inner = region([&] {
    for (const Value &value : shared) {
      const Scalars size{value.dims[along]};
      lines.push_back(tensor(value.type, size,
                             define("tensor.extract_slice " + value.name + placeOf(value) + " : " +
                                    type(value) + " to " + tensorType(value.type, size))));
    }
    std::string inserted;
    const Values changed = body(position, lines);
    for (size_t i = 0; i < shared.size(); ++i) {
      const std::string line = use(withDims(changed[i], lines[i].dims));
      inserted += "  tensor.parallel_insert_slice " + line + " into " + shared[i].name +
                  placeOf(shared[i]) + " : " + type(lines[i]) + " into " + type(shared[i]) + "\n";
    }
    line("scf.forall.in_parallel {");
    raw(inserted);
    line("}");
  });
  const std::string name = freshName();
  line(name + (initial.size() > 1 ? ":" + std::to_string(initial.size()) : "") + " = scf.forall (" +
       variables + ") in (" + counts + ") shared_outs(" + outputs + ") -> (" + types(initial) +
       ") {");
  raw(inner);
  line("}");
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = tensor(initial[i].type, initial[i].dims,
                    initial.size() == 1 ? name : name + "#" + std::to_string(i));
  return out;
}

Values Emitter::changedIf(const Scalar &condition, const Values &values,
                          const std::function<Values()> &body) {
  const std::string test = use(condition), all = types(values), before = names(values);
  const std::string inner = region([&] {
    Values next = body();
    for (size_t i = 0; i < next.size(); ++i)
      next[i] = withDims(next[i], values[i].dims);
    line("scf.yield " + names(next) + " : " + all);
  });
  const std::string name = freshName();
  line(name + (values.size() > 1 ? ":" + std::to_string(values.size()) : "") + " = scf.if " + test +
       " -> (" + all + ") {");
  raw(inner);
  line("} else {");
  line("  scf.yield " + before + " : " + all);
  line("}");
  return results(name, values);
}

} // namespace plim::importers
