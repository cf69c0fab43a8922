#include "importers/stablehlo/Dense.h"

#include "importers/emit/HalfFloat.h"
#include "importers/stablehlo/Parser.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace plim::importers::stablehlo {

namespace {

constexpr int digitOf(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

/// Of each character; -1 for what is no digit.
constexpr std::array<int, 256> digits = [] {
  std::array<int, 256> out{};
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = digitOf(static_cast<char>(i));
  return out;
}();

/// Behind "0x", two digits for each byte.
std::vector<std::byte> bytesOfDigits(std::string_view text) {
  if (!text.starts_with("0x") || text.size() % 2 != 0)
    invalid("the string of a constant must be hexadecimal: 0x and two digits for each byte");
  text.remove_prefix(2);
  std::vector<std::byte> out(text.size() / 2);
  for (size_t i = 0; i < out.size(); ++i) {
    const int high = digits[static_cast<unsigned char>(text[2 * i])];
    const int low = digits[static_cast<unsigned char>(text[2 * i + 1])];
    if ((high | low) < 0)
      invalid("the string of a constant has a character that is no hexadecimal digit");
    out[i] = static_cast<std::byte>(high * 16 + low);
  }
  return out;
}

size_t countOf(const Type &type) {
  size_t count = 1;
  for (int64_t extent : type.shape) {
    if (extent == open)
      invalid("the type of a constant must have known extents");
    count *= static_cast<size_t>(extent);
  }
  return count;
}

TensorPtr made(const Type &type, bool isSplat, std::vector<std::byte> bytes) {
  return makeTensor(type.element, isSplat ? std::vector<int64_t>() : type.shape, std::move(bytes));
}

/// Truth values may be packed: eight of them in a byte.
TensorPtr fromBytes(const Type &type, std::vector<std::byte> bytes) {
  const size_t count = countOf(type), width = bytesOf(type.element);
  if (bytes.size() == count * width && count != 1)
    return made(type, false, std::move(bytes));
  if (type.element == ElementType::I1 && count > 1 && bytes.size() == (count + 7) / 8) {
    std::vector<std::byte> out(count);
    for (size_t i = 0; i < count; ++i)
      out[i] = bytes[i / 8] >> (i % 8) & std::byte{1};
    return made(type, false, std::move(out));
  }
  if (bytes.size() != width)
    invalid("the constant has " + std::to_string(bytes.size()) + " bytes, but its type needs " +
            std::to_string(count * width));
  if (type.element == ElementType::I1 && bytes[0] != std::byte{0})
    bytes[0] = std::byte{1};
  return made(type, true, std::move(bytes));
}

/// To the nearest number of a format of 8 or 16 bits, ties to even. One without infinity has a single NaN, which all bits say.
uint16_t toNarrow(double value, int bits, int exponentBits, bool hasInfinity) {
  const int fractionBits = bits - 1 - exponentBits, bias = (1 << (exponentBits - 1)) - 1;
  const auto sign = static_cast<uint16_t>(std::signbit(value) ? 1 << (bits - 1) : 0);
  const int infinite =
      hasInfinity ? ((1 << exponentBits) - 1) << fractionBits : (1 << (bits - 1)) - 1;
  if (std::isnan(value))
    return static_cast<uint16_t>(sign | infinite | 1 << (fractionBits - 1));
  value = std::fabs(value);
  if (value == 0 || std::isinf(value))
    return static_cast<uint16_t>(sign | (value == 0 ? 0 : infinite));
  const int exponent = std::max(std::ilogb(value), 1 - bias);
  const double scaled = std::nearbyint(std::ldexp(value, fractionBits - exponent));
  // A carry out of the fraction is one into the exponent, as it should be.
  const double whole = scaled + std::ldexp(exponent + bias - 1, fractionBits);
  return static_cast<uint16_t>(sign |
                               (whole >= infinite ? infinite : static_cast<uint16_t>(whole)));
}

class ElementReader {
public:
  ElementReader(Lexer &lex, const Type &type)
      : lex(lex), type(type), part(partOf(type.element)), count(countOf(type)) {}

  TensorPtr read() {
    if (lex.next() != '[') {
      if (lex.next() == '>') { // "dense<>"
        if (count != 0)
          lex.fail("the elements are missing");
        return made(type, false, {});
      }
      element();
      return made(type, true, std::move(bytes));
    }
    nested(0);
    return made(type, false, std::move(bytes));
  }

private:
  void nested(size_t depth) {
    if (depth == type.shape.size())
      return element();
    const size_t offset = lex.here();
    lex.expect("[");
    int64_t length = 0;
    if (!lex.accept("]")) {
      do {
        nested(depth + 1);
        ++length;
      } while (lex.accept(","));
      lex.expect("]");
    }
    // Of a tensor without elements the last lists may be missing.
    const bool isEmpty = count == 0 && length == 0;
    if (length != type.shape[depth] && !isEmpty)
      lex.failAt(offset, "here are " + std::to_string(length) +
                             " elements or lists, but the type says " +
                             std::to_string(type.shape[depth]));
  }

  template <typename T> void append(T value) {
    const auto *from = reinterpret_cast<const std::byte *>(&value);
    bytes.insert(bytes.end(), from, from + sizeof value);
  }

  void element() {
    if (isFloat(type.element))
      return realElement();
    if (isComplex(type.element)) {
      lex.expect("(");
      realElement();
      lex.expect(",");
      realElement();
      lex.expect(")");
      return;
    }
    const size_t offset = lex.here();
    int64_t value = 0;
    if (lex.acceptWord("true"))
      value = 1;
    else if (!lex.acceptWord("false"))
      value = lex.integer();
    const size_t bits = type.element == ElementType::I1 ? 1 : bitsOf(type.element);
    if (bits < 64) {
      const int64_t least = -(int64_t(1) << (bits - 1)), most = (int64_t(1) << bits) - 1;
      if (value < least || value > most)
        lex.failAt(offset,
                   std::to_string(value) + " does not fit into " + elementText(type.element));
    }
    const auto low = static_cast<uint64_t>(type.element == ElementType::I1 ? value & 1 : value);
    const auto *from = reinterpret_cast<const std::byte *>(&low);
    bytes.insert(bytes.end(), from, from + bytesOf(type.element));
  }

  void realElement() {
    const size_t offset = lex.here();
    const std::string_view digits = lex.number();
    if (digits.find('x') != std::string_view::npos) {
      lex.moveTo(offset);
      const auto bits = static_cast<uint64_t>(lex.integer());
      const size_t width = bytesOf(part);
      if (width < 8 && bits >> (8 * width) != 0)
        lex.failAt(offset, "these bits do not fit into " + elementText(part));
      const auto *from = reinterpret_cast<const std::byte *>(&bits);
      bytes.insert(bytes.end(), from, from + width);
      return;
    }
    lex.moveTo(offset);
    const double value = lex.real();
    switch (part) {
    case ElementType::F64:
      return append(value);
    case ElementType::F32:
      return append(static_cast<float>(value));
    case ElementType::F16:
      return append(toNarrow(value, 16, 5, true));
    case ElementType::F8E5M2:
      return append(static_cast<uint8_t>(toNarrow(value, 8, 5, true)));
    case ElementType::F8E4M3FN:
      return append(static_cast<uint8_t>(toNarrow(value, 8, 4, false)));
    default:
      return append(toNarrow(value, 16, 8, true));
    }
  }

  Lexer &lex;
  const Type &type;
  ElementType part; // of a complex number
  size_t count;
  std::vector<std::byte> bytes;
};

} // namespace

double fromBits(ElementType type, uint64_t bits) {
  switch (type) {
  case ElementType::F64:
    return std::bit_cast<double>(bits);
  case ElementType::F32:
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  case ElementType::F16:
    return fromHalf(static_cast<uint16_t>(bits));
  default:
    return fromBrainFloat(static_cast<uint16_t>(bits));
  }
}

void skipElements(Lexer &lex) {
  if (lex.next() == '"')
    lex.rawString();
  else if (lex.next() == '[' || lex.next() == '(')
    lex.skipBalanced();
  else if (lex.seesIdentifier())
    lex.word();
  else if (lex.next() != '>')
    lex.number();
}

TensorPtr denseElements(Lexer &lex, const Type &type) {
  const size_t offset = lex.here();
  try {
    if (lex.next() == '"')
      return fromBytes(type, bytesOfDigits(lex.rawString()));
    return ElementReader(lex, type).read();
  } catch (const ImportError &error) {
    const std::string what = error.what();
    if (!what.empty() && what[0] >= '0' && what[0] <= '9' && what.find(": ") != std::string::npos)
      throw;
    lex.failAt(offset, what);
  }
}

TensorPtr resourceTensor(std::string_view digits, const Type &type, const std::string &name) {
  std::vector<std::byte> bytes = bytesOfDigits(digits);
  if (bytes.size() < 4)
    invalid("resource '" + name + "' does not say how it is aligned");
  bytes.erase(bytes.begin(), bytes.begin() + 4);
  const TensorPtr tensor = fromBytes(type, std::move(bytes));
  auto out = std::make_shared<Tensor>(*tensor);
  out->name = name;
  return out;
}

} // namespace plim::importers::stablehlo
