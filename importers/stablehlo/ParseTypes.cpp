// Types and attributes.
#include "importers/stablehlo/Dense.h"
#include "importers/stablehlo/Parser.h"
#include "importers/stablehlo/TextParser.h"

#include <algorithm>
#include <optional>

namespace plim::importers::stablehlo {

namespace {

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

std::optional<ElementType> elementNamed(std::string_view name) {
  using enum ElementType;
  static const std::map<std::string_view, ElementType> names{{"f8E4M3FN", F8E4M3FN},
                                                             {"f8E5M2", F8E5M2},
                                                             {"f16", F16},
                                                             {"bf16", BF16},
                                                             {"f32", F32},
                                                             {"f64", F64},
                                                             {"i1", I1},
                                                             {"i8", I8},
                                                             {"i16", I16},
                                                             {"i32", I32},
                                                             {"i64", I64},
                                                             {"si8", I8},
                                                             {"si16", I16},
                                                             {"si32", I32},
                                                             {"si64", I64},
                                                             {"ui8", U8},
                                                             {"ui16", U16},
                                                             {"ui32", U32},
                                                             {"ui64", U64},
                                                             {"index", I64},
                                                             {"pred", I1},
                                                             {"complex<f32>", C64},
                                                             {"complex<f64>", C128}};
  const auto found = names.find(name);
  return found == names.end() ? std::nullopt : std::optional(found->second);
}

} // namespace

template <typename T> const T &Parser::expand(const T &named, size_t offset) {
  expanded += sizeOf(named);
  if (expanded > mostExpanded)
    lex.failAt(offset, "the names of types and attributes stand for more than " +
                           std::to_string(mostExpanded) + " parts");
  return named; // NOLINT(bugprone-return-const-ref-from-parameter): callers give what their maps hold
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
  std::string name(lex.word());
  if (name == "complex") {
    lex.expect("<");
    name = "complex<" + std::string(lex.word()) + ">";
    lex.expect(">");
  }
  const auto element = elementNamed(name);
  if (!element) {
    const bool isType =
        name.starts_with("complex") || name == "tensor" || name == "vector" || name == "tf32" ||
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
  if (name == "stablehlo.return" || name == "func.return" || name == "chlo.return" ||
      name == "sdy.return") {
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
    const bool same =
        name != "stablehlo.clamp" && name != "stablehlo.after_all" && name != "stablehlo.complex";
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

} // namespace plim::importers::stablehlo
