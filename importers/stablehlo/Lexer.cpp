#include "importers/stablehlo/Lexer.h"

#include "importers/stablehlo/Parser.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>

namespace plim::importers::stablehlo {

namespace {

bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isWordPart(char c) { return isLetter(c) || isDigit(c) || c == '.' || c == '$'; }
bool isHexDigit(char c) { return isDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
int hexValue(char c) { return isDigit(c) ? c - '0' : (c | 0x20) - 'a' + 10; }

} // namespace

std::string placeOf(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const size_t lines = static_cast<size_t>(std::count(before.begin(), before.end(), '\n'));
  const size_t start = before.rfind('\n') + 1; // 0 if there is none
  return std::to_string(lines + 1) + ":" + std::to_string(offset - start + 1);
}

void Lexer::failAt(size_t offset, const std::string &message) const {
  invalid(placeOf(text, offset) + ": " + message);
}

std::string Lexer::found() {
  if (atEnd())
    return "the end of the file";
  std::string out = "'";
  for (const char c : text.substr(position, 24)) {
    if (c == '\n' || (out.size() > 1 && !isWordPart(c)))
      break;
    out += static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7F ? c : '?';
  }
  return out + "'";
}

void Lexer::skip() {
  while (position < text.size()) {
    const char c = text[position];
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      ++position;
    } else if (c == '/' && text.substr(position, 2) == "//") {
      position = std::min(text.find('\n', position), text.size());
    } else {
      return;
    }
  }
}

bool Lexer::seesWord(std::string_view what) {
  if (!sees(what))
    return false;
  const size_t end = position + what.size();
  return end == text.size() || !isWordPart(text[end]);
}

bool Lexer::accept(std::string_view what) {
  const bool is = sees(what);
  if (is)
    position += what.size();
  return is;
}

bool Lexer::acceptWord(std::string_view what) {
  const bool is = seesWord(what);
  if (is)
    position += what.size();
  return is;
}

void Lexer::expect(std::string_view what) {
  if (!accept(what))
    fail("'" + std::string(what) + "' must stand here, not " + found());
}

void Lexer::expectWord(std::string_view what) {
  if (!acceptWord(what))
    fail("'" + std::string(what) + "' must stand here, not " + found());
}

bool Lexer::seesIdentifier() { return isLetter(next()); }

std::string_view Lexer::word() {
  if (!seesIdentifier())
    fail("a word must stand here, not " + found());
  const size_t start = position;
  while (position < text.size() && isWordPart(text[position]))
    ++position;
  return slice(start, position);
}

std::string_view Lexer::suffix() {
  const size_t start = position; // nothing may stand in between
  while (position < text.size() && (isWordPart(text[position]) || text[position] == '-') &&
         text.substr(position, 2) != "->")
    ++position;
  if (position == start)
    fail("a name must stand here, not " + found());
  return slice(start, position);
}

std::string_view Lexer::number() {
  const size_t start = here();
  size_t at = position;
  auto peek = [&](size_t i) { return i < text.size() ? text[i] : '\0'; };
  if (peek(at) == '-' || peek(at) == '+')
    ++at;
  if (!isDigit(peek(at)))
    fail("a number must stand here, not " + found());
  if (peek(at) == '0' && peek(at + 1) == 'x' && isHexDigit(peek(at + 2))) {
    at += 2;
    while (isHexDigit(peek(at)))
      ++at;
  } else {
    while (isDigit(peek(at)))
      ++at;
    if (peek(at) == '.') {
      ++at;
      while (isDigit(peek(at)))
        ++at;
      const size_t sign = peek(at + 1) == '-' || peek(at + 1) == '+';
      if ((peek(at) == 'e' || peek(at) == 'E') && isDigit(peek(at + 1 + sign))) {
        at += 1 + sign;
        while (isDigit(peek(at)))
          ++at;
      }
    }
  }
  position = at;
  return slice(start, at);
}

int64_t Lexer::integer() {
  const size_t start = here();
  std::string_view digits = number();
  const bool negative = digits[0] == '-';
  if (negative || digits[0] == '+')
    digits.remove_prefix(1);
  const bool isHex = digits.starts_with("0x");
  if (isHex)
    digits.remove_prefix(2);
  uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, isHex ? 16 : 10);
  if (error != std::errc() || end != digits.data() + digits.size() ||
      (negative && value > uint64_t(1) << 63))
    failAt(start, "'" + std::string(digits.substr(0, 40)) + "' is no integer of 64 bits");
  return static_cast<int64_t>(negative ? 0 - value : value);
}

double Lexer::real() {
  const size_t start = here();
  const std::string_view digits = number();
  if (digits.find('x') != std::string_view::npos) {
    moveTo(start);
    return std::bit_cast<double>(integer());
  }
  return std::strtod(std::string(digits).c_str(), nullptr);
}

std::string_view Lexer::rawString() {
  const size_t start = here();
  expect("\"");
  size_t end = std::min(text.find('"', position), text.size());
  if (text.substr(position, end - position).find('\\') != std::string_view::npos)
    for (end = position; end < text.size() && text[end] != '"';)
      end += text[end] == '\\' ? 2 : 1;
  if (end >= text.size() ||
      text.substr(position, end - position).find('\n') != std::string_view::npos)
    failAt(start, "this string has no end");
  position = end + 1;
  return slice(start + 1, end);
}

std::string Lexer::string() {
  const std::string_view raw = rawString();
  std::string out;
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\' || i + 1 == raw.size()) {
      out += raw[i];
    } else if (i + 2 < raw.size() && isHexDigit(raw[i + 1]) && isHexDigit(raw[i + 2])) {
      out += static_cast<char>(hexValue(raw[i + 1]) * 16 + hexValue(raw[i + 2]));
      i += 2;
    } else {
      ++i;
      out += raw[i] == 'n' ? '\n' : raw[i] == 't' ? '\t' : raw[i];
    }
  }
  return out;
}

void Lexer::skipBalanced() {
  const size_t start = here();
  std::string expected;
  do {
    const char c = next();
    if (c == '\0')
      failAt(start, "this bracket is not closed");
    if (c == '"') {
      rawString();
      continue;
    }
    if (sees("->")) {
      position += 2;
      continue;
    }
    ++position;
    static constexpr std::string_view opening = "(<[{", closing = ")>]}";
    if (const size_t kind = opening.find(c); kind != std::string_view::npos)
      expected += closing[kind];
    else if (closing.find(c) != std::string_view::npos) {
      if (expected.empty() || expected.back() != c)
        failAt(position - 1, std::string("'") + c + "' closes nothing");
      expected.pop_back();
    }
  } while (!expected.empty());
}

} // namespace plim::importers::stablehlo
