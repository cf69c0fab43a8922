#include "importers/stablehlo/Parser.h"

#include "importers/stablehlo/Dense.h"
#include "importers/stablehlo/Forms.h"
#include "importers/stablehlo/Lexer.h"

#include <algorithm>
#include <optional>

namespace plim::importers::stablehlo {

namespace {

constexpr int maxDepth = 256;                     // of regions, attributes and types
constexpr size_t maxRank = 64;                    // as the engine has it
constexpr int64_t maxElements = int64_t(1) << 44; // of a type
constexpr size_t maxResults = 4096;               // of one operation
constexpr size_t maxOperations = size_t(1) << 20; // of a text

/// How much there is of what a name may stand for.
size_t sizeOf(const Type &type) {
  size_t size = 1 + type.shape.size();
  for (const std::vector<Type> *types : {&type.parts, &type.results})
    for (const Type &each : *types)
      size += sizeOf(each);
  return size;
}

size_t sizeOf(const Attribute &attribute) {
  size_t size = 1 + sizeOf(attribute.type);
  for (const Attribute &each : attribute.items)
    size += sizeOf(each);
  for (const auto &[name, each] : attribute.fields)
    size += sizeOf(each);
  return size;
}

class Parser {
public:
  explicit Parser(std::string_view text) : lex(text), mostExpanded(100000 + text.size()) {}

  Module run();

private:
  /// One level deeper, until it goes.
  struct Level {
    explicit Level(Parser &parser) : parser(parser) {
      if (++parser.depth > maxDepth)
        parser.lex.fail("this is nested more than " + std::to_string(maxDepth) + " deep");
    }
    ~Level() { --parser.depth; }
    Parser &parser;
  };

  /// What a name stands for. Names of names of names would else take memory that grows with a power of the text.
  template <typename T> const T &expand(const T &named, size_t offset) {
    expanded += sizeOf(named);
    if (expanded > mostExpanded)
      lex.failAt(offset, "the names of types and attributes stand for more than " +
                             std::to_string(mostExpanded) + " parts");
    return named;
  }

  // Types.
  Type type();
  Type tensorType(size_t start);
  std::vector<Type> typeList();
  std::vector<Type> typesInParentheses();
  std::vector<Type> resultTypes();
  void types(Operation &op, const std::string &name);

  // Attributes.
  Attribute attribute();
  Attribute numberAttribute(bool mayHaveType = true);
  Attribute dialectAttribute(std::string_view name, size_t offset);
  Attribute list();
  Attribute convolutionNumbers();
  Attribute dimensionWords();
  void fields(std::map<std::string, Attribute> &out, std::string_view close);
  Attribute named(Attribute::Kind kind, std::string text);
  Attribute integers(const std::vector<int64_t> &values);
  void optionalDictionary(Operation &op);

  // Operations.
  Use use();
  void uses(Operation &op, std::string_view close);
  Operation operation();
  void genericBody(Operation &op);
  void writtenBody(Operation &op);
  void plainBody(Operation &op, const Form &form);
  void sliceBody(Operation &op);
  void dotGeneralBody(Operation &op);
  void convolutionBody(Operation &op);
  void reduceBody(Operation &op);
  void whileBody(Operation &op);
  void callBody(Operation &op);
  void compositeBody(Operation &op);
  Region region(std::vector<Argument> arguments = {});
  std::vector<Argument> blockArguments();
  void location();

  void topLevel(Module &out, std::string_view close);
  void topLevelOperation(Module &out);
  void moduleBody(Module &out);
  Function function(size_t offset);
  Function genericFunction(Operation op);
  void metadata(Module &out);

  Lexer lex;
  int depth = 0;
  size_t operations = 0;
  size_t mostExpanded, expanded = 0;
  std::map<std::string, Attribute, std::less<>> aliases;
  std::map<std::string, Type, std::less<>> typeAliases;
};

// --- Types ----------------------------------------------------------------------------------------

std::optional<ElementType> elementNamed(std::string_view name) {
  using enum ElementType;
  static const std::map<std::string_view, ElementType> names{
      {"f16", F16},  {"bf16", BF16}, {"f32", F32},   {"f64", F64}, {"i1", I1},
      {"i8", I8},    {"i16", I16},   {"i32", I32},   {"i64", I64}, {"si8", I8},
      {"si16", I16}, {"si32", I32},  {"si64", I64},  {"ui8", U8},  {"ui16", U16},
      {"ui32", U32}, {"ui64", U64},  {"index", I64}, {"pred", I1}};
  const auto found = names.find(name);
  return found == names.end() ? std::nullopt : std::optional(found->second);
}

Type Parser::tensorType(size_t start) {
  Type out;
  out.kind = Type::Kind::Tensor;
  lex.expect("<");
  int64_t elements = 1;
  // Extents and element types grow together: "2x3xf32".
  while (true) {
    const size_t offset = lex.here();
    if (lex.accept("*"))
      lex.failAt(offset, "the rank must be known");
    if (lex.accept("?")) {
      out.shape.push_back(open);
    } else if (const char c = lex.next(); c >= '0' && c <= '9') {
      const std::string_view text = lex.all();
      size_t end = offset;
      int64_t extent = 0;
      while (end < text.size() && text[end] >= '0' && text[end] <= '9') {
        if (extent > maxElements)
          lex.failAt(offset, "this extent is too large");
        extent = extent * 10 + (text[end++] - '0');
      }
      lex.moveTo(end);
      out.shape.push_back(extent);
      if (extent != 0 && elements > maxElements / extent)
        lex.failAt(start, "a tensor of this type has too many elements");
      elements *= std::max<int64_t>(extent, 1);
    } else {
      break;
    }
    if (out.shape.size() > maxRank)
      lex.failAt(start, "a tensor has at most " + std::to_string(maxRank) + " dimensions");
    if (lex.next() != 'x')
      lex.fail("'x' must stand here, not " + lex.found());
    lex.moveTo(lex.here() + 1);
  }
  const size_t offset = lex.here();
  if (lex.accept("!")) {
    const std::string name(lex.suffix());
    if (lex.next() == '<')
      lex.skipBalanced();
    unsupported(placeOf(lex.all(), offset) + ": elements of type !" + name + " are not supported");
  }
  const std::string name(lex.word());
  const auto element = elementNamed(name);
  if (!element) {
    const bool isType =
        name == "complex" || name == "tensor" || name == "vector" || name == "tf32" ||
        ((name[0] == 'f' || name[0] == 'i' || name.starts_with("ui")) && name.size() > 1);
    const std::string message = placeOf(lex.all(), offset) + ": ";
    if (isType)
      unsupported(message + "elements of type " + name + " are not supported");
    invalid(message + "'" + name + "' is no type of elements");
  }
  out.element = *element;
  if (lex.accept(",")) // bounds of open extents, layouts
    attribute();
  lex.expect(">");
  return out;
}

Type Parser::type() {
  const Level level(*this);
  const size_t start = lex.here();
  Type out;
  if (lex.acceptWord("tensor")) {
    out = tensorType(start);
  } else if (lex.acceptWord("tuple")) {
    out.kind = Type::Kind::Tuple;
    lex.expect("<");
    if (!lex.accept(">")) {
      out.parts = typeList();
      lex.expect(">");
    }
  } else if (lex.next() == '(') {
    out.kind = Type::Kind::Function;
    out.parts = typesInParentheses();
    lex.expect("->");
    out.results = resultTypes();
  } else if (lex.accept("!")) {
    const std::string_view name = lex.suffix();
    if (const auto alias = typeAliases.find(name); alias != typeAliases.end())
      return expand(alias->second, start);
    out.kind = name == "stablehlo.token" ? Type::Kind::Token : Type::Kind::Other;
    if (lex.next() == '<')
      lex.skipBalanced();
  } else {
    const std::string_view name = lex.word();
    if (const auto element = elementNamed(name)) // of an attribute
      out.element = *element;
    else if (name != "none" && name[0] != 'f' && name[0] != 'i' && name[0] != 'u')
      lex.failAt(start, "a type must stand here, not '" + std::string(name.substr(0, 24)) + "'");
    if (lex.next() == '<')
      lex.skipBalanced();
  }
  out.text = lex.slice(start, lex.here());
  while (!out.text.empty() && (out.text.back() == ' ' || out.text.back() == '\n'))
    out.text.pop_back();
  if (out.text.size() > 100)
    out.text.resize(100);
  return out;
}

std::vector<Type> Parser::typeList() {
  std::vector<Type> out;
  do {
    if (out.size() > maxResults)
      lex.fail("there are more than " + std::to_string(maxResults) + " types");
    out.push_back(type());
  } while (lex.accept(","));
  return out;
}

std::vector<Type> Parser::typesInParentheses() {
  lex.expect("(");
  if (lex.accept(")"))
    return {};
  std::vector<Type> out = typeList();
  lex.expect(")");
  return out;
}

std::vector<Type> Parser::resultTypes() {
  return lex.next() == '(' ? typesInParentheses() : std::vector<Type>{type()};
}

/// Behind the colon: "(a, b) -> c", or fewer where they follow from each other.
void Parser::types(Operation &op, const std::string &name) {
  const size_t start = lex.here();
  if (lex.next() == '(') {
    op.operandTypes = typesInParentheses();
    lex.expect("->");
    op.resultTypes = resultTypes();
    return;
  }
  std::vector<Type> list = typeList();
  if (lex.accept("->")) {
    op.operandTypes = std::move(list);
    op.resultTypes = resultTypes();
    return;
  }
  if (name == "stablehlo.return" || name == "func.return" || name == "chlo.return") {
    op.operandTypes = std::move(list);
  } else if (name == "stablehlo.optimization_barrier") {
    op.operandTypes = op.resultTypes = std::move(list);
  } else if (name == "stablehlo.select") {
    if (list.size() != 2)
      lex.failAt(start, "two types must stand here: of the condition and of the result");
    op.operandTypes = {list[0], list[1], list[1]};
    op.resultTypes = {list[1]};
  } else if (name == "stablehlo.tuple" && list.size() == 1) {
    op.operandTypes = list[0].parts;
    op.resultTypes = std::move(list);
  } else {
    if (list.size() != 1)
      lex.failAt(start, "one type must stand here, or those of operands and results");
    const bool same = name != "stablehlo.clamp" && name != "stablehlo.after_all";
    if (same && list[0].kind == Type::Kind::Tensor)
      op.operandTypes.assign(op.operands.size(), list[0]);
    op.resultTypes = std::move(list);
  }
}

// --- Attributes -----------------------------------------------------------------------------------

Attribute Parser::named(Attribute::Kind kind, std::string text) {
  Attribute out;
  out.kind = kind;
  out.offset = lex.here();
  out.text = std::move(text);
  return out;
}

Attribute Parser::integers(const std::vector<int64_t> &values) {
  Attribute out = named(Attribute::Kind::List, "");
  for (int64_t value : values) {
    Attribute item = named(Attribute::Kind::Integer, "");
    item.integer = value;
    out.items.push_back(std::move(item));
  }
  return out;
}

Attribute Parser::numberAttribute(bool mayHaveType) {
  Attribute out = named(Attribute::Kind::Integer, "");
  const std::string_view digits = lex.number();
  lex.moveTo(out.offset);
  if (digits.find('.') != std::string_view::npos) {
    out.kind = Attribute::Kind::Real;
    out.real = lex.real();
  } else {
    out.integer = lex.integer();
    out.real = static_cast<double>(out.integer);
  }
  if (mayHaveType && lex.accept(":")) {
    const Type declared = type();
    const bool isFloatType = declared.text.starts_with("f") || declared.text == "bf16";
    if (isFloatType && digits.find('x') != std::string_view::npos) // the bits of one
      out.real = fromBits(declared.element, static_cast<uint64_t>(out.integer));
    if (isFloatType)
      out.kind = Attribute::Kind::Real;
  }
  return out;
}

/// "[b, 0, 1, f]", of which the words stay words.
Attribute Parser::dimensionWords() {
  Attribute out = named(Attribute::Kind::List, "");
  lex.expect("[");
  while (!lex.accept("]")) {
    if (!out.items.empty())
      lex.expect(",");
    if (lex.seesIdentifier())
      out.items.push_back(named(Attribute::Kind::Name, std::string(lex.word())));
    else if (lex.accept("?"))
      out.items.push_back(named(Attribute::Kind::Name, "?"));
    else {
      const size_t offset = lex.here();
      Attribute item = named(Attribute::Kind::Integer, "");
      item.offset = offset;
      item.integer = lex.integer();
      out.items.push_back(std::move(item));
    }
    if (out.items.size() > maxRank)
      lex.fail("these are too many dimensions");
  }
  return out;
}

/// "[b, 0, f]x[0, i, o]->[b, 0, f]"
Attribute Parser::convolutionNumbers() {
  Attribute out = named(Attribute::Kind::Fields, "conv");
  out.fields["input"] = dimensionWords();
  lex.expect("x");
  out.fields["kernel"] = dimensionWords();
  lex.expect("->");
  out.fields["output"] = dimensionWords();
  return out;
}

Attribute Parser::list() {
  Attribute out = named(Attribute::Kind::List, "");
  lex.expect("[");
  if (lex.accept("]"))
    return out;
  do
    out.items.push_back(attribute());
  while (lex.accept(","));
  lex.expect("]");
  return out;
}

void Parser::fields(std::map<std::string, Attribute> &out, std::string_view close) {
  if (lex.accept(close))
    return;
  do {
    if (lex.sees(close)) // a comma behind the last
      break;
    const size_t offset = lex.here();
    const std::string name = lex.next() == '"' ? lex.string() : std::string(lex.word());
    Attribute value = lex.accept("=") ? attribute() : named(Attribute::Kind::Unit, "");
    if (!out.emplace(name, std::move(value)).second)
      lex.failAt(offset, "'" + name + "' is there twice");
  } while (lex.accept(","));
  lex.expect(close);
}

/// Behind "#stablehlo.gather" or "#stablehlo".
Attribute Parser::dialectAttribute(std::string_view name, size_t offset) {
  Attribute out = named(Attribute::Kind::Other, std::string(name));
  out.offset = offset;
  const size_t dot = name.find('.');
  const std::string_view dialect = name.substr(0, dot);
  const bool isOwn = dialect == "stablehlo" || dialect == "chlo";
  if (!isOwn) {
    if (lex.next() == '<')
      lex.skipBalanced();
    return out;
  }
  if (lex.next() != '<') {
    out.kind = Attribute::Kind::Name;
    return out;
  }
  std::string_view kind = dot == std::string_view::npos ? "" : name.substr(dot + 1);
  if (kind == "bounds" || kind == "type_extensions") {
    lex.skipBalanced();
    return out;
  }
  lex.expect("<");
  if (dot == std::string_view::npos)
    kind = lex.word(); // "#stablehlo<precision HIGHEST>"
  if (kind == "conv" || lex.next() == '[') {
    const bool inner = lex.accept("<"); // "#stablehlo<conv<...>>"
    Attribute conv = convolutionNumbers();
    lex.expect(">");
    if (inner)
      lex.expect(">");
    return conv;
  }
  const bool inner = dot == std::string_view::npos && lex.accept("<");
  const size_t start = lex.here();
  if (lex.seesIdentifier()) {
    const std::string word(lex.word());
    if (lex.sees(">")) {
      out.kind = Attribute::Kind::Name;
      out.text = word;
      lex.expect(">");
      if (inner)
        lex.expect(">");
      return out;
    }
    lex.moveTo(start);
  }
  out.kind = Attribute::Kind::Fields;
  out.text = kind;
  fields(out.fields, ">");
  if (inner)
    lex.expect(">");
  return out;
}

Attribute Parser::attribute() {
  const Level level(*this);
  const size_t offset = lex.here();
  Attribute out = named(Attribute::Kind::Other, "");
  switch (lex.next()) {
  case '[':
    return list();
  case '{':
    lex.expect("{");
    out.kind = Attribute::Kind::Fields;
    fields(out.fields, "}");
    return out;
  case '"':
    out.kind = Attribute::Kind::Text;
    out.text = lex.string();
    if (lex.accept(":"))
      type();
    return out;
  case '@':
    lex.expect("@");
    out.kind = Attribute::Kind::Symbol;
    out.text = lex.next() == '"' ? lex.string() : std::string(lex.suffix());
    while (lex.accept("::")) {
      lex.expect("@");
      out.text += "::" + std::string(lex.suffix());
    }
    return out;
  case '#': {
    lex.expect("#");
    const std::string_view name = lex.suffix();
    if (const auto alias = aliases.find(name); alias != aliases.end()) {
      out = expand(alias->second, offset);
      out.offset = offset;
      return out;
    }
    return dialectAttribute(name, offset);
  }
  case '<': // "algorithm = <...>"
    lex.skipBalanced();
    return out;
  case '(':
  case '!':
    out.kind = Attribute::Kind::Type;
    out.type = type();
    return out;
  default:
    break;
  }
  const char c = lex.next();
  if ((c >= '0' && c <= '9') || c == '-' || c == '+')
    return numberAttribute();
  if (!lex.seesIdentifier())
    lex.fail("a value must stand here, not " + lex.found());
  if (lex.acceptWord("true") || lex.acceptWord("false")) {
    out.kind = Attribute::Kind::Truth;
    out.integer = lex.all()[offset] == 't';
    return out;
  }
  if (lex.acceptWord("unit")) {
    out.kind = Attribute::Kind::Unit;
    return out;
  }
  if (lex.acceptWord("dense")) {
    out.kind = Attribute::Kind::Dense;
    lex.expect("<");
    // The type tells what the elements are, and stands behind them.
    const size_t elements = lex.here();
    skipElements(lex);
    lex.expect(">");
    lex.expect(":");
    out.type = type();
    const size_t end = lex.here();
    if (out.type.kind != Type::Kind::Tensor)
      lex.failAt(offset, "a constant must be a tensor");
    lex.moveTo(elements);
    out.dense = denseElements(lex, out.type);
    lex.expect(">");
    lex.moveTo(end);
    return out;
  }
  if (lex.acceptWord("array")) {
    lex.expect("<");
    out.kind = Attribute::Kind::List;
    type();
    if (lex.accept(":")) {
      do
        out.items.push_back(attribute());
      while (lex.accept(","));
    }
    lex.expect(">");
    return out;
  }
  if (lex.acceptWord("dense_resource")) {
    out.kind = Attribute::Kind::Resource;
    lex.expect("<");
    out.text = lex.next() == '"' ? lex.string() : std::string((lex.here(), lex.suffix()));
    lex.expect(">");
    lex.expect(":");
    out.type = type();
    if (out.type.kind != Type::Kind::Tensor)
      lex.failAt(offset, "a constant must be a tensor");
    return out;
  }
  for (const std::string_view other :
       {"loc", "affine_map", "affine_set", "strided", "opaque", "sparse"})
    if (lex.acceptWord(other)) {
      if (lex.next() == '<' || lex.next() == '(')
        lex.skipBalanced();
      return out;
    }
  for (const std::string_view typeName : {"tensor", "tuple", "vector", "memref", "none"})
    if (lex.seesWord(typeName)) {
      out.kind = Attribute::Kind::Type;
      out.type = type();
      return out;
    }
  const std::string word(lex.word());
  if (elementNamed(word)) {
    out.kind = Attribute::Kind::Type;
    out.type.element = *elementNamed(word);
    out.type.text = word;
    return out;
  }
  out.kind = Attribute::Kind::Name;
  out.text = word;
  return out;
}

void Parser::optionalDictionary(Operation &op) {
  if (lex.accept("{"))
    fields(op.attributes, "}");
}

// --- Operations -----------------------------------------------------------------------------------

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
        op.attributes[std::string(found->second)] = isNumber ? numberAttribute(false) : attribute();
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
  } else if (name == "func.call" || name == "stablehlo.custom_call") {
    callBody(op);
  } else if (name == "stablehlo.composite") {
    compositeBody(op);
  } else if (name == "sdy.sharding_constraint") { // %0 <@mesh, [{"x"}, {}]>
    op.operands.push_back(use());
    if (lex.next() == '<')
      lex.skipBalanced();
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

// --- Modules --------------------------------------------------------------------------------------

Function Parser::function(size_t offset) {
  Function out;
  out.offset = offset;
  if (lex.acceptWord("private") || lex.acceptWord("nested"))
    out.isPrivate = true;
  else
    lex.acceptWord("public");
  const Attribute name = attribute();
  if (name.kind != Attribute::Kind::Symbol)
    lex.failAt(name.offset, "the name of a function must stand here");
  out.name = name.text;
  std::map<std::string, Attribute> ignored;
  auto afterType = [&] {
    ignored.clear();
    if (lex.accept("{"))
      fields(ignored, "}");
    location();
  };
  lex.expect("(");
  if (!lex.accept(")")) {
    do {
      Argument argument;
      if (lex.accept("%")) {
        argument.name = lex.suffix();
        lex.expect(":");
      }
      argument.type = type();
      afterType();
      out.body.arguments.push_back(std::move(argument));
    } while (lex.accept(","));
    lex.expect(")");
  }
  if (lex.accept("->")) {
    if (lex.accept("(")) {
      if (!lex.accept(")")) {
        do {
          out.resultTypes.push_back(type());
          afterType();
        } while (lex.accept(","));
        lex.expect(")");
      }
    } else {
      out.resultTypes.push_back(type());
    }
  }
  if (lex.acceptWord("attributes"))
    afterType();
  if (lex.next() == '{') {
    out.hasBody = true;
    Region body = region(out.body.arguments);
    out.body = std::move(body);
  }
  location();
  return out;
}

/// "func.func"() <{sym_name = "main", function_type = () -> ()}> ({...})
Function Parser::genericFunction(Operation op) {
  Function out;
  out.offset = op.offset;
  const Attribute &name = op.attributes["sym_name"], &signature = op.attributes["function_type"];
  if (name.kind != Attribute::Kind::Text || signature.type.kind != Type::Kind::Function)
    lex.failAt(op.offset, "a function needs sym_name and function_type");
  out.name = name.text;
  const Attribute &visibility = op.attributes["sym_visibility"];
  out.isPrivate = visibility.text == "private" || visibility.text == "nested";
  out.resultTypes = signature.type.results;
  if (!op.regions.empty() && !op.regions[0].operations.empty()) {
    out.hasBody = true;
    out.body = std::move(op.regions[0]);
  }
  return out;
}

/// {-# dialect_resources: { builtin: { name: "0x..." } } #-}
void Parser::metadata(Module &out) {
  const size_t start = lex.here();
  const auto key = [&] {
    std::string name = lex.next() == '"' ? lex.string() : std::string((lex.here(), lex.suffix()));
    lex.expect(":");
    return name;
  };
  lex.expect("{-#");
  while (!lex.accept("#-}")) {
    if (lex.atEnd())
      lex.failAt(start, "this section has no end");
    const bool isResources = key() == "dialect_resources";
    if (!isResources) {
      lex.skipBalanced();
    } else {
      lex.expect("{");
      while (!lex.accept("}")) {
        key(); // of the dialect
        lex.expect("{");
        while (!lex.accept("}")) {
          const std::string name = key();
          out.resources[name] = lex.rawString();
          lex.accept(",");
        }
        lex.accept(",");
      }
    }
    lex.accept(",");
  }
}

void Parser::moduleBody(Module &out) {
  if (lex.sees("@")) {
    const Attribute name = attribute();
    out.name = name.text;
  }
  std::map<std::string, Attribute> ignored;
  if (lex.acceptWord("attributes")) {
    lex.expect("{");
    fields(ignored, "}");
  }
  lex.expect("{");
  topLevel(out, "}");
  location();
}

void Parser::topLevelOperation(Module &out) {
  const size_t offset = lex.here();
  if (lex.next() == '"') {
    const std::string name = lex.string();
    if (name == "builtin.module") {
      const Level level(*this);
      lex.expect("(");
      lex.expect(")");
      std::map<std::string, Attribute> own;
      if (lex.accept("<")) {
        lex.expect("{");
        fields(own, "}");
        lex.expect(">");
      }
      out.name = own["sym_name"].text;
      lex.expect("(");
      lex.expect("{");
      if (lex.accept("^")) {
        lex.suffix();
        lex.expect(":");
      }
      topLevel(out, "}");
      lex.expect(")");
      own.clear();
      if (lex.accept("{"))
        fields(own, "}");
      lex.expect(":");
      type();
      location();
      return;
    }
    lex.moveTo(offset);
    Operation op = operation();
    if (op.name != "func.func")
      lex.failAt(offset, "a function must stand here, not '" + op.name + "'");
    out.functions.push_back(genericFunction(std::move(op)));
    return;
  }
  if (lex.next() == '#' || lex.next() == '!') {
    const bool isType = lex.next() == '!';
    lex.moveTo(offset + 1);
    const std::string name(lex.suffix());
    lex.expect("=");
    if (isType) {
      typeAliases[name] = type();
    } else if (name.starts_with("loc")) {
      if (!lex.acceptWord("loc"))
        aliases[name] = attribute();
      else if (lex.next() == '(')
        lex.skipBalanced();
    } else {
      aliases[name] = attribute();
    }
    return;
  }
  const std::string_view word = lex.word();
  if (word == "func.func" || word == "func") {
    out.functions.push_back(function(offset));
  } else if (word == "module" || word == "builtin.module") {
    const Level level(*this);
    moduleBody(out);
  } else if (word == "sdy.mesh") { // one partition: shardings say nothing
    attribute();
    lex.expect("=");
    attribute();
    location();
  } else {
    lex.failAt(offset, "a function must stand here, not '" + std::string(word.substr(0, 40)) + "'");
  }
}

void Parser::topLevel(Module &out, std::string_view close) {
  while (close.empty() ? !lex.atEnd() : !lex.accept(close)) {
    if (lex.sees("{-#"))
      metadata(out);
    else
      topLevelOperation(out);
  }
}

Module Parser::run() {
  Module out;
  topLevel(out, "");
  return out;
}

} // namespace

Module parseModule(std::string_view text) { return Parser(text).run(); }

} // namespace plim::importers::stablehlo
