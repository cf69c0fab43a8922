#include "tools/io/ElementText.h"

#include "tools/io/SmallFloat.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>

namespace plim::tools {
namespace {

using runtime::ElementType;

Status malformed(ElementType type, std::string_view text) {
  return invalidArgumentError("'" + std::string(text) + "' is no value of type " +
                              std::string(elementTypeName(type)));
}

Status outOfRange(ElementType type, std::string_view text) {
  return invalidArgumentError(std::string(text) + " is out of range of " +
                              std::string(elementTypeName(type)));
}

/// The value of the low bits, with sign but for i1.
int64_t lowBits(ElementType type, uint64_t value) {
  if (type == ElementType::I1)
    return static_cast<int64_t>(value & 1);
  auto unused = static_cast<unsigned>(64 - elementBits(type));
  return static_cast<int64_t>(value << unused) >> unused;
}

void storeInteger(ElementType type, uint64_t value, void *out) {
  value = static_cast<uint64_t>(lowBits(type, value));
  // The low bytes come first on every machine that generated code runs on.
  std::memcpy(out, &value, static_cast<size_t>(elementBytes(type)));
}

Status parseInteger(ElementType type, std::string_view text, void *out) {
  std::string_view digits = text;
  bool negative = digits.starts_with('-');
  if (negative)
    digits.remove_prefix(1);
  int base = 10;
  if (digits.starts_with("0x") || digits.starts_with("0X")) {
    base = 16;
    digits.remove_prefix(2);
  }
  uint64_t magnitude = 0;
  const char *begin = digits.data();
  const char *end = begin + digits.size();
  auto [stop, error] = std::from_chars(begin, end, magnitude, base);
  if (error == std::errc::invalid_argument || stop != end)
    return malformed(type, text);
  int64_t bits = elementBits(type);
  uint64_t largest = negative ? uint64_t{1} << (bits - 1) : UINT64_MAX >> (64 - bits);
  if (error == std::errc::result_out_of_range || magnitude > largest)
    return outOfRange(type, text);
  storeInteger(type, negative ? 0 - magnitude : magnitude, out);
  return okStatus();
}

/// Reads all of `text`; nothing when it is no number. Numbers that are too small for `Float` become
/// what they round to, numbers that are too large become infinity.
template <typename Float> std::optional<Float> parseFloat(std::string_view text) {
  Float value = 0;
  const char *begin = text.data();
  const char *end = begin + text.size();
  auto [stop, error] = std::from_chars(begin, end, value);
  if (error == std::errc::invalid_argument || stop != end)
    return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    // Out of range at which end? A wider type knows, as far as it reaches.
    long double wide = HUGE_VALL;
    std::from_chars(begin, end, wide);
    value = static_cast<Float>(wide);
  }
  return value;
}

bool namesInfinity(std::string_view text) {
  return text.find_first_of("iI") != std::string_view::npos;
}

Status parseFloatElement(ElementType type, std::string_view text, void *out) {
  // from_chars also takes a payload, nan(...), which no type here would keep.
  if (text.find('(') != std::string_view::npos)
    return malformed(type, text);
  if (type == ElementType::F32) {
    std::optional<float> value = parseFloat<float>(text);
    if (!value)
      return malformed(type, text);
    if (std::isinf(*value) && !namesInfinity(text))
      return outOfRange(type, text);
    std::memcpy(out, &*value, sizeof(float));
    return okStatus();
  }
  std::optional<double> value = parseFloat<double>(text);
  if (!value)
    return malformed(type, text);
  double rounded = *value;
  uint16_t bits = 0;
  if (isSmallFloat(type)) {
    bits = smallFloatFromDouble(type, *value);
    rounded = smallFloatToDouble(type, bits);
  }
  // Infinity is out of range too where it is none of the type's.
  bool isNew = std::isnan(rounded) && !std::isnan(*value);
  if (isNew || (std::isinf(rounded) && !namesInfinity(text)))
    return outOfRange(type, text);
  if (type == ElementType::F64)
    std::memcpy(out, &*value, sizeof(double));
  else // The low byte comes first, as above.
    std::memcpy(out, &bits, static_cast<size_t>(elementBytes(type)));
  return okStatus();
}

template <typename Number> void appendNumber(Number value, std::string &out) {
  char text[64];
  auto [end, error] = std::to_chars(text, text + sizeof(text), value);
  out.append(text, end);
}

template <typename Float> void appendFloat(Float value, std::string &out) {
  if (std::isnan(value))
    out += "nan";
  else
    appendNumber(value, out);
}

/// Appends the decimal number with the fewest digits that reads back as `bits`.
void appendShort(ElementType type, uint16_t bits, std::string &out) {
  double value = smallFloatToDouble(type, bits);
  if (std::isfinite(value)) {
    // Five digits tell any two values of 11 significant bits apart.
    for (int precision = 0; precision < 5; ++precision) {
      char text[64];
      auto [end, error] =
          std::to_chars(text, text + sizeof(text), value, std::chars_format::scientific, precision);
      double candidate = 0;
      std::from_chars(text, end, candidate);
      if (smallFloatFromDouble(type, candidate) == bits) {
        value = candidate;
        break;
      }
    }
  }
  appendFloat(value, out);
}

ElementType partOf(ElementType complex) {
  return complex == ElementType::ComplexF32 ? ElementType::F32 : ElementType::F64;
}

/// `1.5`, `-2j` or `1.5-2j`.
Status parseComplex(ElementType type, std::string_view text, std::byte *out) {
  ElementType part = partOf(type);
  auto bytes = static_cast<size_t>(elementBytes(part));
  std::byte parts[16] = {};
  std::string_view real = text;
  if (text.ends_with('j')) {
    std::string_view imaginary = text.substr(0, text.size() - 1);
    // The last sign that is none of an exponent's.
    size_t split = imaginary.size();
    while (split > 0 && !((imaginary[split - 1] == '+' || imaginary[split - 1] == '-') &&
                          (split == 1 || (imaginary[split - 2] | 0x20) != 'e')))
      --split;
    size_t begin = split == 0 ? 0 : split - 1;
    real = imaginary.substr(0, begin);
    imaginary.remove_prefix(begin);
    if (imaginary.starts_with('+'))
      imaginary.remove_prefix(1);
    if (!parseFloatElement(part, imaginary, parts + bytes).ok())
      return malformed(type, text);
  }
  if ((!real.empty() || !text.ends_with('j')) && !parseFloatElement(part, real, parts).ok())
    return malformed(type, text);
  std::memcpy(out, parts, 2 * bytes);
  return okStatus();
}

void printComplex(ElementType part, const std::byte *element, std::string &out) {
  printElement(part, element, out);
  size_t begin = out.size();
  printElement(part, element + elementBytes(part), out);
  if (out[begin] != '-')
    out.insert(begin, 1, '+');
  out += 'j';
}

template <typename T> T load(const void *element) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  return value;
}

} // namespace

Status parseElement(ElementType type, std::string_view text, void *out) {
  if (isComplex(type))
    return parseComplex(type, text, static_cast<std::byte *>(out));
  return isFloat(type) ? parseFloatElement(type, text, out) : parseInteger(type, text, out);
}

void printElement(ElementType type, const void *element, std::string &out) {
  switch (type) {
  case ElementType::I1:
    out += load<uint8_t>(element) ? '1' : '0';
    return;
  case ElementType::I2:
  case ElementType::I4:
  case ElementType::I8:
    return appendNumber(lowBits(type, load<uint8_t>(element)), out);
  case ElementType::I16:
    return appendNumber(load<int16_t>(element), out);
  case ElementType::I32:
    return appendNumber(load<int32_t>(element), out);
  case ElementType::I64:
  case ElementType::Index:
    return appendNumber(load<int64_t>(element), out);
  case ElementType::F8E4M3FN:
  case ElementType::F8E5M2:
    return appendShort(type, load<uint8_t>(element), out);
  case ElementType::F16:
  case ElementType::BF16:
    return appendShort(type, load<uint16_t>(element), out);
  case ElementType::F32:
    return appendFloat(load<float>(element), out);
  case ElementType::F64:
    return appendFloat(load<double>(element), out);
  case ElementType::ComplexF32:
  case ElementType::ComplexF64:
    return printComplex(partOf(type), static_cast<const std::byte *>(element), out);
  }
}

} // namespace plim::tools
