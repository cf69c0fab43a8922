#include "tools/io/ValueText.h"

#include "engine/io/File.h"
#include "engine/io/Npy.h"
#include "engine/runtime/ByteSize.h"
#include "tools/io/ElementText.h"
#include "tools/io/Random.h"
#include "tools/io/SmallFloat.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <vector>

namespace plim::tools {
namespace {

using runtime::Buffer;
using runtime::ElementType;
using runtime::MemoryPool;
using runtime::Scalar;
using runtime::Value;

bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// The text, and where in it the parser stands.
class Cursor {
public:
  explicit Cursor(std::string_view text) : text(text) {}

  bool atEnd() const { return position == text.size(); }
  /// The character at the position; NUL at the end.
  char peek() const { return atEnd() ? '\0' : text[position]; }
  void advance() { ++position; }
  bool consume(std::string_view token) {
    if (!rest().starts_with(token))
      return false;
    position += token.size();
    return true;
  }
  void skipBlanks() {
    while (isBlank(peek()))
      advance();
  }
  std::string_view rest() const { return text.substr(position); }
  std::string_view takeRest() {
    std::string_view all = rest();
    position = text.size();
    return all;
  }
  /// Everything up to a separator or a bracket.
  std::string_view takeElement() {
    size_t begin = position;
    while (!atEnd() && !isBlank(peek()) && peek() != ',' && peek() != '[' && peek() != ']')
      advance();
    return text.substr(begin, position - begin);
  }

  Status error(std::string_view message) const { return errorAt(position, message); }
  Status errorAt(size_t where, std::string_view message) const {
    return invalidArgumentError("column " + std::to_string(where + 1) + ": " +
                                std::string(message));
  }
  size_t where() const { return position; }

private:
  std::string_view text;
  size_t position = 0;
};

struct Type {
  std::vector<int64_t> shape;
  ElementType element = ElementType::F32;
  int64_t count = 0; // elements
};

StatusOr<Type> parseType(Cursor &cursor) {
  Type type;
  size_t begin = cursor.where();
  if (cursor.rest().ends_with(".npy") && cursor.rest().find('=') == std::string_view::npos)
    return cursor.error("a file is written with an @: '@" + std::string(cursor.rest()) + "'");
  while (isDigit(cursor.peek())) {
    std::string_view rest = cursor.rest();
    int64_t extent = 0;
    auto [stop, error] = std::from_chars(rest.data(), rest.data() + rest.size(), extent);
    if (error != std::errc())
      return cursor.error("the extent does not fit in 64 bits");
    while (isDigit(cursor.peek()))
      cursor.advance();
    if (!cursor.consume("x"))
      return cursor.error("expected 'x' after an extent");
    type.shape.push_back(extent);
  }
  std::string_view name = cursor.rest().substr(0, cursor.rest().find_first_of("= \t"));
  std::optional<ElementType> element = runtime::elementTypeFromName(name);
  if (!element)
    return cursor.error(
        "expected an element type, one of i1 i2 i4 i8 i16 i32 i64 f8E4M3FN f8E5M2 f16 bf16 f32 f64 "
        "index complex<f32> complex<f64>");
  type.element = *element;
  cursor.consume(name);
  if (!cursor.consume("="))
    return cursor.error("expected '=' after the type");
  StatusOr<int64_t> bytes = runtime::byteSizeOf(type.shape, elementBytes(type.element));
  if (!bytes.ok())
    return cursor.errorAt(begin, bytes.status().message());
  type.count = *bytes / elementBytes(type.element);
  return type;
}

/// Reads elements, with or without brackets, into memory for all of them, or only looks at them where that is null.
/// Not recursive: the depth of the brackets is the text's to choose.
class ElementsParser {
public:
  ElementsParser(Cursor &cursor, const Type &type, std::byte *out)
      : cursor(cursor), type(type), out(out),
        bytes(static_cast<size_t>(elementBytes(type.element))), rank(type.shape.size()) {}

  Status parse() {
    cursor.skipBlanks();
    if (cursor.peek() != '[')
      return parseFlat();
    // An empty tensor shows no structure when printed, whatever its rank.
    if (type.count == 0 && isEmptyList())
      return okStatus();
    return parseNested();
  }

private:
  Status parseFlat() {
    while (true) {
      PLIM_RETURN_IF_ERROR(separator());
      if (cursor.atEnd())
        break;
      if (cursor.peek() == '[' || cursor.peek() == ']')
        return cursor.error("a bracket among elements without brackets");
      // The first one may be there for all, even for none.
      if (parsed >= type.count && parsed > 0)
        return cursor.error("more elements than the " + std::to_string(type.count) +
                            " of the shape");
      PLIM_RETURN_IF_ERROR(element());
    }
    if (parsed == 1)
      for (int64_t i = 1; out && i < type.count; ++i)
        std::memcpy(out + static_cast<size_t>(i) * bytes, first, bytes);
    else if (parsed != type.count)
      return cursor.error(std::to_string(parsed) + " elements where the shape has " +
                          std::to_string(type.count));
    return okStatus();
  }

  Status parseNested() {
    // counts[d]: members seen in the open list of dimension d; the last `depth` lists are open.
    std::vector<int64_t> counts(rank, 0);
    size_t leading = leadingBrackets();
    bool outermostImplied = leading + 1 == rank;
    if (leading != rank && !outermostImplied)
      return cursor.error(std::to_string(leading) + " brackets open where the shape has " +
                          std::to_string(rank) + " dimensions");
    size_t depth = outermostImplied ? 1 : 0;
    const size_t outermost = depth;
    while (true) {
      PLIM_RETURN_IF_ERROR(separator());
      char c = cursor.peek();
      bool done = depth == outermost && (depth == 0 ? sawMember : cursor.atEnd());
      if (done)
        break;
      if (cursor.atEnd())
        return cursor.error("expected ']'");
      if (depth == 0 && afterComma)
        return cursor.error("text after the last ']'");
      if (c == ']') {
        if (depth == outermost)
          return cursor.error("']' without '['");
        if (afterComma)
          return cursor.error("expected an element after ','");
        if (counts[depth - 1] != type.shape[depth - 1])
          return cursor.error(lengthMessage(counts[depth - 1], depth - 1));
        cursor.advance();
        --depth;
        sawMember = true;
        if (depth > 0)
          ++counts[depth - 1];
        continue;
      }
      if (depth > 0 && counts[depth - 1] == type.shape[depth - 1])
        return cursor.error("more than the " + std::to_string(type.shape[depth - 1]) +
                            " members of dimension " + std::to_string(depth - 1));
      if (c == '[') {
        if (depth == rank)
          return cursor.error("more brackets than dimensions");
        cursor.advance();
        ++depth;
        counts[depth - 1] = 0;
        sawMember = afterComma = false;
      } else {
        if (depth != rank)
          return cursor.error("expected '['");
        PLIM_RETURN_IF_ERROR(element());
        ++counts[depth - 1];
      }
    }
    if (!cursor.atEnd())
      return cursor.error("text after the last ']'");
    if (outermostImplied && counts[0] != type.shape[0])
      return cursor.error(lengthMessage(counts[0], 0));
    return okStatus();
  }

  /// Skips blanks and at most one comma, which must stand between two members.
  Status separator() {
    cursor.skipBlanks();
    if (cursor.peek() == ',') {
      if (!sawMember)
        return cursor.error("expected an element before ','");
      cursor.advance();
      sawMember = false;
      afterComma = true;
      cursor.skipBlanks();
    }
    if (afterComma && (cursor.atEnd() || cursor.peek() == ','))
      return cursor.error("expected an element after ','");
    return okStatus();
  }

  Status element() {
    size_t where = cursor.where();
    std::string_view token = cursor.takeElement();
    std::byte *slot =
        out && parsed < type.count ? out + static_cast<size_t>(parsed) * bytes : first;
    Status status = parseElement(type.element, token, slot);
    if (!status.ok())
      return cursor.errorAt(where, status.message());
    if (parsed == 0 && slot != first)
      std::memcpy(first, slot, bytes);
    ++parsed;
    sawMember = true;
    afterComma = false;
    return okStatus();
  }

  bool isEmptyList() {
    Cursor ahead = cursor;
    ahead.advance();
    ahead.skipBlanks();
    if (!ahead.consume("]"))
      return false;
    ahead.skipBlanks();
    if (!ahead.atEnd())
      return false;
    cursor = ahead;
    return true;
  }

  size_t leadingBrackets() const {
    Cursor ahead = cursor;
    size_t count = 0;
    for (; ahead.peek() == '['; ++count) {
      ahead.advance();
      ahead.skipBlanks();
    }
    return count;
  }

  std::string lengthMessage(int64_t count, size_t dimension) const {
    return std::to_string(count) + " members where dimension " + std::to_string(dimension) +
           " has " + std::to_string(type.shape[dimension]);
  }

  Cursor &cursor;
  const Type &type;
  std::byte *const out;
  const size_t bytes; // of an element
  const size_t rank;
  int64_t parsed = 0;     // elements
  std::byte first[16];    // the first element
  bool sawMember = false; // a comma may follow
  bool afterComma = false;
};

/// Only looks at the text, and at no file, where `out` is null.
Status parsePayload(Cursor &cursor, const Type &type, std::byte *out) {
  size_t where = cursor.where();
  if (cursor.consume("@")) {
    if (!out)
      return okStatus();
    PLIM_ASSIGN_OR_RETURN(io::File file, io::File::open(std::string(cursor.takeRest())));
    auto bytes = static_cast<size_t>(type.count * elementBytes(type.element));
    if (file.size() != bytes)
      return invalidArgumentError(file.path() + ": " + std::to_string(file.size()) +
                                  " bytes where the type takes " + std::to_string(bytes));
    PLIM_RETURN_IF_ERROR(file.read(0, {out, bytes}));
    if (type.element == ElementType::I1 &&
        std::any_of(out, out + bytes, [](std::byte b) { return b > std::byte{1}; }))
      return invalidArgumentError(file.path() + ": an i1 that is neither 0 nor 1");
    return okStatus();
  }
  if (cursor.consume("rnd:")) {
    uint64_t seed = 0;
    std::string_view digits = cursor.takeRest();
    const char *begin = digits.data();
    const char *end = begin + digits.size();
    auto [stop, error] = std::from_chars(begin, end, seed);
    if (error != std::errc() || stop != end)
      return cursor.errorAt(where + 4, "expected a decimal seed below 2^64");
    if (out)
      fillRandom(type.element, seed, type.count, out);
    return okStatus();
  }
  return ElementsParser(cursor, type, out).parse();
}

struct Description {
  ElementType element;
  std::span<const int64_t> shape;
  const std::byte *data;
};

// Those of NumPy.
constexpr int64_t mostElementsInFull = 1000;
constexpr int64_t elementsAtEdges = 3;

Description describe(const Value &value) {
  if (const auto *buffer = std::get_if<Buffer>(&value))
    return {buffer->type(), buffer->shape(), static_cast<const std::byte *>(buffer->data())};
  const auto &scalar = std::get<Scalar>(value);
  return {scalar.type, {}, reinterpret_cast<const std::byte *>(&scalar.bits)};
}

} // namespace

StatusOr<Value> parseValue(std::string_view text, const std::shared_ptr<MemoryPool> &pool) {
  Cursor cursor(text);
  if (cursor.consume("@")) {
    PLIM_ASSIGN_OR_RETURN(Buffer buffer, io::readNpy(std::string(cursor.rest()), pool));
    return Value(std::move(buffer));
  }
  PLIM_ASSIGN_OR_RETURN(Type type, parseType(cursor));
  if (type.shape.empty() && !isComplex(type.element)) { // a scalar has no room for two parts
    Scalar scalar{.type = type.element, .bits = 0};
    PLIM_RETURN_IF_ERROR(parsePayload(cursor, type, reinterpret_cast<std::byte *>(&scalar.bits)));
    return Value(scalar);
  }
  PLIM_ASSIGN_OR_RETURN(Buffer buffer, Buffer::allocate(pool, type.element, type.shape));
  PLIM_RETURN_IF_ERROR(parsePayload(cursor, type, static_cast<std::byte *>(buffer.mutableData())));
  return Value(std::move(buffer));
}

Status checkValue(std::string_view text) {
  if (text.starts_with('@'))
    return okStatus();
  Cursor cursor(text);
  PLIM_ASSIGN_OR_RETURN(Type type, parseType(cursor));
  return parsePayload(cursor, type, nullptr);
}

std::string printType(const Value &value) {
  Description description = describe(value);
  std::string out;
  for (int64_t extent : description.shape)
    out += std::to_string(extent) + "x";
  return out + std::string(elementTypeName(description.element));
}

std::string printValue(const Value &value, bool summarize) {
  auto [element, shape, data] = describe(value);
  std::string out = printType(value) + "=";
  if (std::find(shape.begin(), shape.end(), 0) != shape.end())
    return out + "[]";
  std::vector<int64_t> strides(shape.size());
  int64_t bytes = elementBytes(element);
  for (size_t dimension = shape.size(); dimension-- > 0; bytes *= shape[dimension])
    strides[dimension] = bytes;
  const int64_t count = bytes / elementBytes(element);
  summarize = summarize && count > mostElementsInFull;
  // Of numbers of 16 bits there are few, and their shortest texts are searched for.
  std::vector<std::string> known(isSmallFloat(element) && count >= 1 << 14 ? 1 << 16 : 0);
  std::vector<int64_t> index(shape.size(), 0);
  out.append(shape.size(), '[');
  while (true) {
    if (known.empty()) {
      printElement(element, data, out);
    } else {
      uint16_t bits = 0;
      std::memcpy(&bits, data, static_cast<size_t>(elementBytes(element)));
      if (known[bits].empty())
        printElement(element, data, known[bits]);
      out += known[bits];
    }
    size_t dimension = shape.size();
    while (dimension > 0 && index[dimension - 1] + 1 == shape[dimension - 1]) {
      --dimension;
      data -= index[dimension] * strides[dimension];
      index[dimension] = 0;
    }
    const size_t closed = shape.size() - dimension;
    out.append(closed, ']');
    if (dimension == 0)
      return out;
    out += ", ";
    int64_t step = 1;
    const int64_t behind = shape[dimension - 1] - index[dimension - 1] - 1;
    if (summarize && index[dimension - 1] + 1 == elementsAtEdges && behind > elementsAtEdges) {
      out += "..., ";
      step += behind - elementsAtEdges;
    }
    index[dimension - 1] += step;
    data += step * strides[dimension - 1];
    out.append(closed, '[');
  }
}

} // namespace plim::tools
