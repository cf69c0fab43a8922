// Operations, generic and as they are printed.
#include "importers/stablehlo/Parser.h"
#include "importers/stablehlo/TextParser.h"

#include <algorithm>

namespace plim::importers::stablehlo {

Use Parser::use() {
  Use out;
  out.offset = lex.here();
  lex.expect("%");
  out.name = lex.suffix();
  if (lex.accept("#")) {
    const int64_t number = lex.integer();
    if (number < 0 || number > static_cast<int64_t>(maxResults))
      lex.failAt(out.offset, "there is no such result");
    out.number = static_cast<size_t>(number);
  }
  return out;
}

void Parser::uses(Operation &op, std::string_view close) {
  if (lex.accept(close))
    return;
  do
    op.operands.push_back(use());
  while (lex.accept(","));
  lex.expect(close);
}

void Parser::location() {
  if (lex.acceptWord("loc")) {
    if (lex.next() != '(')
      lex.fail("'(' must stand here, not " + lex.found());
    lex.skipBalanced();
  }
}

std::vector<Argument> Parser::blockArguments() {
  std::vector<Argument> out;
  if (!lex.accept("(") || lex.accept(")"))
    return out;
  do {
    Argument argument;
    lex.expect("%");
    argument.name = lex.suffix();
    lex.expect(":");
    argument.type = type();
    location();
    out.push_back(std::move(argument));
  } while (lex.accept(","));
  lex.expect(")");
  return out;
}

Region Parser::region(std::vector<Argument> arguments) {
  const Level level(*this);
  Region out;
  out.offset = lex.here();
  out.arguments = std::move(arguments);
  lex.expect("{");
  if (lex.accept("^")) {
    lex.suffix();
    std::vector<Argument> own = blockArguments();
    if (!own.empty())
      out.arguments = std::move(own);
    lex.expect(":");
  }
  while (!lex.accept("}")) {
    if (lex.sees("^"))
      unsupported(placeOf(lex.all(), lex.here()) + ": a region of several blocks is not supported");
    out.operations.push_back(operation());
  }
  return out;
}

void Parser::genericBody(Operation &op) {
  lex.expect("(");
  uses(op, ")");
  if (lex.sees("["))
    unsupported(placeOf(lex.all(), lex.here()) + ": branches between blocks are not supported");
  if (lex.accept("<")) {
    if (lex.next() != '{')
      lex.fail("'{' must stand here, not " + lex.found());
    lex.expect("{");
    fields(op.attributes, "}");
    lex.expect(">");
  }
  if (lex.next() == '(') {
    lex.expect("(");
    do
      op.regions.push_back(region());
    while (lex.accept(","));
    lex.expect(")");
  }
  optionalDictionary(op);
  lex.expect(":");
  op.operandTypes = typesInParentheses();
  lex.expect("->");
  op.resultTypes = resultTypes();
}

/// Operands and "word = value", between commas, then a dictionary and types.
void Parser::plainBody(Operation &op, const Form &form) {
  const bool inParentheses = form.inParentheses && lex.accept("(");
  bool first = true;
  size_t words = 0;
  while (true) {
    if (lex.next() == ':' || lex.next() == '{' || lex.next() == '}' || lex.next() == ')')
      break;
    if (first &&
        (lex.seesWord("loc") || (!lex.sees("%") && !lex.seesIdentifier() && lex.next() != '[')))
      break;
    if (!first && lex.next() != '[')
      lex.expect(",");
    first = false;
    if (lex.sees("%")) {
      op.operands.push_back(use());
    } else if (lex.next() == '[' && op.name == "stablehlo.get_tuple_element") {
      lex.expect("[");
      op.attributes["index"] = numberAttribute();
      lex.expect("]");
    } else {
      const size_t offset = lex.here();
      const std::string word(lex.word());
      if (const auto found = form.words.find(word); found != form.words.end() && lex.accept("=")) {
        const char c = lex.next();
        const bool isNumber = (c >= '0' && c <= '9') || c == '-';
        op.attributes[std::string(found->second)] =
            isNumber   ? numberAttribute(false)
            : c == '"' ? named(Attribute::Kind::Text,
                               lex.string()) // the type behind it is the operation's
                       : attribute();
      } else if (words < form.values.size() && !lex.sees("=")) {
        op.attributes[std::string(form.values[words++])] = named(Attribute::Kind::Name, word);
      } else {
        lex.failAt(offset, "'" + word + "' has no place in " + op.name);
      }
    }
  }
  if (inParentheses)
    lex.expect(")");
  optionalDictionary(op);
  if (lex.accept(":"))
    types(op, op.name);
}

void Parser::sliceBody(Operation &op) {
  op.operands.push_back(use());
  std::vector<int64_t> starts, limits, strides;
  lex.expect("[");
  while (!lex.accept("]")) {
    if (!starts.empty())
      lex.expect(",");
    starts.push_back(lex.integer());
    lex.expect(":");
    limits.push_back(lex.integer());
    strides.push_back(lex.accept(":") ? lex.integer() : 1);
    if (starts.size() > maxRank)
      lex.fail("these are too many dimensions");
  }
  op.attributes["start_indices"] = integers(starts);
  op.attributes["limit_indices"] = integers(limits);
  op.attributes["strides"] = integers(strides);
  optionalDictionary(op);
  lex.expect(":");
  types(op, op.name);
}

void Parser::dotGeneralBody(Operation &op) {
  op.operands.push_back(use());
  lex.expect(",");
  op.operands.push_back(use());
  Attribute numbers = named(Attribute::Kind::Fields, "dot");
  while (lex.accept(",")) {
    const size_t offset = lex.here();
    const std::string word(lex.word());
    lex.expect("=");
    if (word == "batching_dims" || word == "contracting_dims") {
      const std::string what =
          word == "batching_dims" ? "batching_dimensions" : "contracting_dimensions";
      numbers.fields["lhs_" + what] = list();
      lex.expect("x");
      numbers.fields["rhs_" + what] = list();
    } else if (word == "precision" || word == "algorithm") {
      op.attributes[word] = attribute();
    } else {
      lex.failAt(offset, "'" + word + "' has no place in " + op.name);
    }
  }
  op.attributes["dot_dimension_numbers"] = std::move(numbers);
  optionalDictionary(op);
  lex.expect(":");
  types(op, op.name);
}

void Parser::convolutionBody(Operation &op) {
  lex.expect("(");
  uses(op, ")");
  lex.expectWord("dim_numbers");
  lex.expect("=");
  op.attributes["dimension_numbers"] = convolutionNumbers();
  lex.expect(",");
  lex.expectWord("window");
  lex.expect("=");
  lex.expect("{");
  std::map<std::string, Attribute> window;
  fields(window, "}");
  for (auto &[name, value] : window) {
    static const std::map<std::string_view, const char *> names{{"stride", "window_strides"},
                                                                {"pad", "padding"},
                                                                {"lhs_dilate", "lhs_dilation"},
                                                                {"rhs_dilate", "rhs_dilation"},
                                                                {"reverse", "window_reversal"}};
    const auto found = names.find(name);
    if (found == names.end())
      lex.failAt(value.offset, "'" + name + "' is nothing of a window");
    op.attributes[found->second] = std::move(value);
  }
  optionalDictionary(op);
  lex.expect(":");
  types(op, op.name);
}

void Parser::reduceBody(Operation &op) {
  std::vector<Use> initial;
  do {
    lex.expect("(");
    op.operands.push_back(use());
    lex.expectWord("init");
    lex.expect(":");
    initial.push_back(use());
    lex.expect(")");
  } while (lex.accept(","));
  op.operands.insert(op.operands.end(), initial.begin(), initial.end());
  std::string inner;
  const size_t innerOffset = lex.here();
  if (lex.acceptWord("applies"))
    inner = lex.word();
  lex.expectWord("across");
  lex.expectWord("dimensions");
  lex.expect("=");
  op.attributes["dimensions"] = list();
  optionalDictionary(op);
  lex.expect(":");
  types(op, op.name);
  Region body;
  body.offset = innerOffset;
  if (inner.empty()) {
    lex.expectWord("reducer");
    std::vector<Argument> second;
    while (lex.next() == '(') {
      const size_t offset = lex.here();
      std::vector<Argument> pair = blockArguments();
      if (pair.size() != 2)
        lex.failAt(offset, "two arguments must stand here");
      body.arguments.push_back(pair[0]);
      second.push_back(pair[1]);
    }
    body.arguments.insert(body.arguments.end(), second.begin(), second.end());
    op.regions.push_back(region(body.arguments));
    return;
  }
  if (op.operandTypes.empty() || op.operandTypes[0].kind != Type::Kind::Tensor)
    lex.failAt(innerOffset, "the types of operands and results must stand here");
  Type scalar = op.operandTypes[0];
  scalar.shape.clear();
  scalar.text = typeText(scalar);
  body.arguments = {{"lhs", scalar}, {"rhs", scalar}};
  Operation combine, end;
  combine.name = inner;
  combine.offset = end.offset = innerOffset;
  combine.operands = {{"lhs", 0, innerOffset}, {"rhs", 0, innerOffset}};
  combine.results = {{"both", 1}};
  combine.resultTypes = {scalar};
  end.name = "stablehlo.return";
  end.operands = {{"both", 0, innerOffset}};
  body.operations.push_back(std::move(combine));
  body.operations.push_back(std::move(end));
  op.regions.push_back(std::move(body));
}

void Parser::whileBody(Operation &op) {
  std::vector<Argument> arguments;
  lex.expect("(");
  if (!lex.accept(")")) {
    do {
      Argument argument;
      lex.expect("%");
      argument.name = lex.suffix();
      lex.expect("=");
      op.operands.push_back(use());
      arguments.push_back(std::move(argument));
    } while (lex.accept(","));
    lex.expect(")");
    const size_t offset = lex.here();
    lex.expect(":");
    op.resultTypes = op.operandTypes = typeList();
    if (op.resultTypes.size() != arguments.size())
      lex.failAt(offset, "there are " + std::to_string(arguments.size()) + " values, but " +
                             std::to_string(op.resultTypes.size()) + " types");
    for (size_t i = 0; i < arguments.size(); ++i)
      arguments[i].type = op.resultTypes[i];
  }
  if (lex.acceptWord("attributes"))
    optionalDictionary(op);
  lex.expectWord("cond");
  op.regions.push_back(region(arguments));
  lex.expectWord("do");
  op.regions.push_back(region(arguments));
}

/// "(%0) inits(%1) dimension=0 attributes {...} {...}"
void Parser::scanBody(Operation &op) {
  lex.expect("(");
  uses(op, ")");
  const auto inputs = static_cast<int64_t>(op.operands.size());
  lex.expectWord("inits");
  lex.expect("(");
  uses(op, ")");
  lex.expectWord("dimension");
  lex.expect("=");
  op.attributes["dimension"] = numberAttribute(false);
  if (lex.acceptWord("attributes"))
    optionalDictionary(op);
  op.attributes["operandSegmentSizes"] =
      integers({inputs, static_cast<int64_t>(op.operands.size()) - inputs});
  op.regions.push_back(region());
  lex.expect(":");
  types(op, op.name);
}

/// "(%0) in_shardings=[...] out_shardings=[...] manual_axes={...} (%arg0: ...) {...}"
void Parser::manualBody(Operation &op) {
  lex.expect("(");
  uses(op, ")");
  for (const std::string_view word : {"in_shardings", "out_shardings", "manual_axes"})
    if (lex.acceptWord(word)) {
      lex.expect("=");
      lex.skipBalanced();
    }
  const std::vector<Argument> arguments = blockArguments();
  op.regions.push_back(region(arguments));
  lex.expect(":");
  types(op, op.name);
}

/// "@name(%0)"
void Parser::callBody(Operation &op) {
  Attribute callee = attribute();
  if (callee.kind != Attribute::Kind::Symbol)
    lex.failAt(callee.offset, "the name of a function must stand here");
  op.attributes[op.name == "func.call" ? "callee" : "call_target_name"] = std::move(callee);
  lex.expect("(");
  uses(op, ")");
  optionalDictionary(op);
  lex.expect(":");
  types(op, op.name);
}

/// "name" %0 {...}
void Parser::compositeBody(Operation &op) {
  op.attributes["name"] = attribute();
  if (lex.sees("%"))
    do
      op.operands.push_back(use());
    while (lex.accept(","));
  optionalDictionary(op);
  lex.expect(":");
  types(op, op.name);
}

void Parser::writtenBody(Operation &op) {
  const std::string &name = op.name;
  if (name == "stablehlo.constant" || name == "chlo.constant") {
    optionalDictionary(op);
    const bool inParentheses = lex.accept("(");
    Attribute value = attribute();
    if (inParentheses)
      lex.expect(")");
    if (value.kind != Attribute::Kind::Dense && value.kind != Attribute::Kind::Resource)
      lex.failAt(value.offset, "a constant must stand here");
    op.resultTypes = {value.type};
    op.attributes["value"] = std::move(value);
  } else if (name == "stablehlo.slice") {
    sliceBody(op);
  } else if (name == "stablehlo.dot_general") {
    dotGeneralBody(op);
  } else if (name == "stablehlo.convolution" || name == "stablehlo.dynamic_conv") {
    convolutionBody(op);
  } else if (name == "stablehlo.reduce") {
    reduceBody(op);
  } else if (name == "stablehlo.while") {
    whileBody(op);
  } else if (name == "chlo.scan") {
    scanBody(op);
  } else if (name == "sdy.manual_computation") {
    manualBody(op);
  } else if (name == "func.call" || name == "stablehlo.custom_call") {
    callBody(op);
  } else if (name == "stablehlo.composite") {
    compositeBody(op);
  } else if (name == "sdy.sharding_constraint" || name == "sdy.reshard" ||
             name ==
                 "sdy.propagation_barrier") { // %0 <@mesh, [{"x"}, {}]>, or allowed_direction=NONE
    op.operands.push_back(use());
    if (lex.next() == '<') {
      lex.skipBalanced();
    } else if (lex.accept("allowed_direction")) {
      lex.expect("=");
      lex.word();
    }
    optionalDictionary(op);
    lex.expect(":");
    types(op, op.name);
  } else if (const Form *form = formOf(name)) {
    plainBody(op, *form);
  } else {
    unsupported(placeOf(lex.all(), op.offset) + ": the operation '" + name + "' is not supported");
  }
}

Operation Parser::operation() {
  const Level level(*this);
  Operation out;
  if (++operations > maxOperations)
    lex.fail("there are more than " + std::to_string(maxOperations) + " operations");
  if (lex.sees("%")) {
    do {
      const size_t offset = lex.here();
      lex.expect("%");
      const std::string_view name = lex.suffix();
      const int64_t count = lex.accept(":") ? lex.integer() : 1;
      if (count < 1 || count > static_cast<int64_t>(maxResults))
        lex.failAt(offset, "an operation has no " + std::to_string(count) + " results");
      out.results.emplace_back(name, static_cast<size_t>(count));
      if (out.results.size() > maxResults)
        lex.fail("these are too many results");
    } while (lex.accept(","));
    lex.expect("=");
  }
  out.offset = lex.here();
  if (lex.next() == '"') {
    out.name = lex.string();
    genericBody(out);
  } else {
    out.name = lex.word();
    if (out.name == "return" || out.name == "call")
      out.name = "func." + out.name;
    writtenBody(out);
  }
  location();
  return out;
}

} // namespace plim::importers::stablehlo
