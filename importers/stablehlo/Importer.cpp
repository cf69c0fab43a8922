#include "importers/stablehlo/Importer.h"

#include "importers/emit/Error.h"
#include "importers/stablehlo/Operator.h"
#include "importers/stablehlo/Parser.h"

#include <algorithm>
#include <set>

namespace plim::importers::stablehlo {

namespace {

constexpr int maxDepth = 96; // of calls and regions together
constexpr int64_t maxOperations = 200'000;

bool isReturn(const Operation &operation) {
  return operation.name == "stablehlo.return" || operation.name == "func.return" ||
         operation.name == "chlo.return" || operation.name == "sdy.return";
}

/// Does an extent that is written allow this one?
bool fits(int64_t written, const Scalar &extent) {
  return written == open || !extent.known || *extent.known == written;
}

bool fits(const Type &type, const Value &value) {
  if (type.kind == Type::Kind::Tuple) {
    if (value.kind != Value::Kind::Sequence || value.items.size() != type.parts.size())
      return false;
    for (size_t i = 0; i < type.parts.size(); ++i)
      if (!fits(type.parts[i], value.items[i]))
        return false;
    return true;
  }
  if (type.kind == Type::Kind::Token)
    return value.kind == Value::Kind::None;
  if (type.kind != Type::Kind::Tensor || value.kind != Value::Kind::Tensor ||
      type.element != value.type || type.shape.size() != value.dims.size())
    return false;
  for (size_t i = 0; i < type.shape.size(); ++i)
    if (!fits(type.shape[i], value.dims[i]))
      return false;
  return true;
}

std::string valueText(const Value &value) {
  if (value.kind == Value::Kind::Sequence)
    return "a tuple";
  if (value.kind == Value::Kind::None)
    return "a token";
  Type type;
  type.kind = Type::Kind::Tensor;
  type.element = value.type;
  for (const Scalar &dim : value.dims)
    type.shape.push_back(dim.known.value_or(open));
  return typeText(type);
}

/// An error gets the place of the innermost operation.
template <typename Work>
void located(std::string_view text, size_t offset, const std::string &name, const Work &work) {
  try {
    work();
  } catch (const ImportError &error) {
    const std::string what = error.what();
    const bool isPlaced = !what.empty() && what[0] >= '0' && what[0] <= '9';
    throw isPlaced ? error
                   : ImportError(error.kind, placeOf(text, offset) + ": " + name + ": " + what);
  }
}

std::string argumentName(std::string_view name, size_t number) {
  std::string out;
  for (const char c : name)
    out += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '_';
  if (out.empty() || (out[0] >= '0' && out[0] <= '9'))
    out = "arg" + (out.empty() ? std::to_string(number) : "_" + out);
  return out;
}

} // namespace

const Values *Scope::find(std::string_view name) const {
  for (const Scope *scope = this; scope; scope = scope->outer)
    if (auto found = scope->values.find(name); found != scope->values.end())
      return &found->second;
  return nullptr;
}

void Importer::enter() {
  if (++depth > maxDepth)
    invalid("functions call each other, or regions are nested, more than " +
            std::to_string(maxDepth) + " deep");
}

TensorPtr Importer::resource(const std::string &key, const Type &type) const {
  const auto found = module.resources.find(key);
  if (found == module.resources.end())
    invalid("there is no resource '" + key + "' at the end of the file");
  return resourceTensor(found->second, type, key);
}

Value Importer::argument(const Type &type, const std::string &name) {
  if (type.kind != Type::Kind::Tensor)
    unsupported("a value of type " + type.text + " is not supported here");
  Scalars dims;
  for (int64_t extent : type.shape) {
    Scalar dim;
    if (extent != open)
      dim.known = extent;
    dims.push_back(dim);
  }
  return emit.tensor(type.element, dims, name);
}

Values Importer::inputsOf(const Operation &operation, const Scope &scope) {
  Values out;
  for (size_t i = 0; i < operation.operands.size(); ++i) {
    const Use &use = operation.operands[i];
    const Values *values = scope.find(use.name);
    const std::string name = "%" + std::string(use.name);
    located(text, use.offset, operation.name, [&] {
      if (!values)
        invalid(name + " is defined by nothing before it");
      if (use.number >= values->size())
        invalid(name + " has " + std::to_string(values->size()) + " results");
    });
    out.push_back((*values)[use.number]);
  }
  if (!operation.operandTypes.empty() && operation.operandTypes.size() != out.size())
    invalid("it has " + std::to_string(out.size()) + " operands, but types of " +
            std::to_string(operation.operandTypes.size()));
  for (size_t i = 0; i < operation.operandTypes.size(); ++i)
    if (!fits(operation.operandTypes[i], out[i]))
      invalid("%" + std::string(operation.operands[i].name) + " is " + valueText(out[i]) +
              ", not " + typeText(operation.operandTypes[i]));
  return out;
}

void Importer::checkResult(const Operation &operation, size_t i, Value &value) {
  const Type &type = operation.resultTypes[i];
  if (!fits(type, value))
    invalid("its result is " + valueText(value) + ", not " + typeText(type));
  if (type.kind != Type::Kind::Tensor)
    return;
  // What is written of an extent that only a run would know.
  Scalars dims = value.dims;
  bool differs = false;
  for (size_t d = 0; d < dims.size(); ++d)
    if (!dims[d].known && type.shape[d] != open) {
      dims[d] = emit.index(type.shape[d]);
      differs = true;
    }
  if (differs)
    value = emit.withDims(value, dims);
}

void Importer::runOperation(const Operation &operation, Scope &scope) {
  if (++visited > maxOperations)
    invalid("with its functions the module has more than " + std::to_string(maxOperations) +
            " operations");
  const OperationEntry *entry = findOperation(operation.name);
  if (!entry)
    unsupported("this operation is not supported");
  Values inputs = inputsOf(operation, scope);
  if (inputs.size() < entry->least || inputs.size() > entry->most)
    invalid("it has " + std::to_string(inputs.size()) + " operands");
  const Scope *outer = current;
  current = &scope;
  Operator context(*this, emit, operation, std::move(inputs));
  entry->function(context);
  current = outer;
  if (context.outputs.size() != operation.resultTypes.size())
    invalid("it has " + std::to_string(context.outputs.size()) + " results, but types of " +
            std::to_string(operation.resultTypes.size()));
  for (size_t i = 0; i < context.outputs.size(); ++i)
    checkResult(operation, i, context.outputs[i]);
  size_t next = 0;
  for (const auto &[name, count] : operation.results) {
    if (next + count > context.outputs.size())
      invalid("it has " + std::to_string(context.outputs.size()) + " results");
    const auto begin = context.outputs.begin() + static_cast<long>(next);
    if (!scope.define(name, Values(begin, begin + static_cast<long>(count))))
      invalid("%" + std::string(name) + " is defined twice");
    next += count;
  }
  if (!operation.results.empty() && next != context.outputs.size())
    invalid("it has " + std::to_string(context.outputs.size()) + " results, but names for " +
            std::to_string(next));
}

Values Importer::runBlock(const Region &region, const Values &arguments, const Scope *outer) {
  enter();
  if (arguments.size() != region.arguments.size())
    located(text, region.offset, "a region", [&] {
      invalid("it has " + std::to_string(region.arguments.size()) + " arguments, not " +
              std::to_string(arguments.size()));
    });
  Scope scope(outer);
  for (size_t i = 0; i < arguments.size(); ++i)
    located(text, region.offset, "a region", [&] {
      const Argument &argument = region.arguments[i];
      if (!fits(argument.type, arguments[i]))
        invalid("its argument %" + std::string(argument.name) + " is " + valueText(arguments[i]) +
                ", not " + typeText(argument.type));
      if (!scope.define(argument.name, {arguments[i]}))
        invalid("%" + std::string(argument.name) + " is defined twice");
    });
  for (size_t i = 0; i < region.operations.size(); ++i) {
    const Operation &operation = region.operations[i];
    if (isReturn(operation)) {
      Values out;
      located(text, operation.offset, operation.name, [&] {
        if (i + 1 != region.operations.size())
          invalid("operations follow");
        out = inputsOf(operation, scope);
      });
      --depth;
      return out;
    }
    located(text, operation.offset, operation.name, [&] { runOperation(operation, scope); });
  }
  located(text, region.offset, "a region", [] { invalid("it returns nothing"); });
  return {};
}

Values Importer::runRegion(const Region &region, const Values &arguments) {
  return runBlock(region, arguments, current);
}

Values Importer::runFunction(const std::string &name, const Values &arguments) {
  const auto found = std::find_if(module.functions.begin(), module.functions.end(),
                                  [&](const Function &function) { return function.name == name; });
  if (found == module.functions.end())
    invalid("there is no function @" + name);
  if (!found->hasBody)
    unsupported("the function @" + name + " has no body");
  return runBlock(found->body, arguments, nullptr);
}

std::string Importer::runMain(const Function &function) {
  std::string signature;
  Values arguments;
  std::set<std::string> names;
  for (size_t i = 0; i < function.body.arguments.size(); ++i) {
    const Argument &given = function.body.arguments[i];
    std::string name = argumentName(given.name, i);
    while (!names.insert(name).second)
      name += "_" + std::to_string(i);
    Value value = argument(given.type, "%" + name);
    signature += (i ? ", " : "") + value.name + ": " + emit.type(value);
    arguments.push_back(value);
  }
  for (Value &value : arguments)
    for (size_t d = 0; d < value.dims.size(); ++d)
      if (!value.dims[d].known) {
        const std::string axis = emit.use(emit.index(static_cast<int64_t>(d)));
        Value unnamed = value;
        unnamed.dims[d].name.clear();
        value.dims[d] =
            emit.natural("tensor.dim " + value.name + ", " + axis + " : " + emit.type(unnamed));
      }
  depth = 0;
  Values results = runBlock(function.body, arguments, nullptr);
  if (results.size() != function.resultTypes.size())
    invalid("it returns " + std::to_string(results.size()) + " values, but its type says " +
            std::to_string(function.resultTypes.size()));
  std::string values, types;
  for (size_t i = 0; i < results.size(); ++i) {
    const Type &type = function.resultTypes[i];
    if (type.kind != Type::Kind::Tensor)
      unsupported("a result of type " + type.text + " is not supported");
    if (!fits(type, results[i]))
      invalid("result " + std::to_string(i) + " is " + valueText(results[i]) + ", not " +
              typeText(type));
    values += (i ? ", " : "") + emit.use(results[i]);
    types += (i ? ", " : "") + emit.type(results[i]);
  }
  emit.line("return" + (values.empty() ? "" : " " + values + " : " + types));
  return "func.func " + symbol(function.name) + "(" + signature + ")" +
         (types.empty() ? "" : " -> (" + types + ")") + " {\n" + emit.takeText() + "}\n";
}

ImportedModule Importer::run() {
  ImportedModule out;
  std::string functions;
  std::set<std::string> names;
  for (const Function &function : module.functions)
    located(text, function.offset, "@" + function.name, [&] {
      if (!names.insert(function.name).second)
        invalid("this function is there twice");
    });
  for (const Function &function : module.functions)
    if (!function.isPrivate)
      located(text, function.offset, "@" + function.name, [&] {
        if (!function.hasBody)
          unsupported("a public function must have a body");
        functions += (functions.empty() ? "" : "\n") + runMain(function);
      });
  if (functions.empty())
    invalid("the module has no public function");
  for (const TensorPtr &tensor : emit.parameters()) {
    Scalars dims;
    for (int64_t extent : tensor->shape)
      dims.push_back(emit.index(extent));
    const std::string type = importers::tensorType(tensor->type, dims);
    out.text.append("ml_program.global private ").append(symbol(tensor->name));
    out.text.append("(#ml_program.extern<").append(type).append(">) : ").append(type).append("\n");
  }
  out.text += (out.text.empty() ? "" : "\n") + functions;
  out.parameters = emit.parameters();
  return out;
}

} // namespace plim::importers::stablehlo
