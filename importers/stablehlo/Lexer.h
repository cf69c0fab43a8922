// Characters of a text, with its comments left out, and what words are made of.
//
// Throws ImportError that begins with "line:column: ".
#pragma once

#include "importers/emit/Error.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace plim::importers::stablehlo {

class Lexer {
public:
  explicit Lexer(std::string_view text) : text(text) {}

  size_t here() {
    skip();
    return position;
  }
  bool atEnd() { return here() == text.size(); }
  /// The next character that means something; 0 at the end.
  char next() { return here() < text.size() ? text[position] : '\0'; }
  bool sees(std::string_view what) { return text.substr(here()).starts_with(what); }
  /// Of letters: and no more of the word follows.
  bool seesWord(std::string_view what);
  bool accept(std::string_view what);
  bool acceptWord(std::string_view what);
  void expect(std::string_view what);
  void expectWord(std::string_view what);

  /// A word with dots: "stablehlo.add".
  std::string_view word();
  bool seesIdentifier();
  /// What follows '%', '#', '@', '!' or '^': letters, digits, and "$._-".
  std::string_view suffix();
  int64_t integer();
  double real();
  /// Of digits, sign and exponent as they are written; hexadecimal ones too.
  std::string_view number();
  /// A string's content, with what it escapes replaced.
  std::string string();
  /// The same as it stands between the quotes.
  std::string_view rawString();
  /// Over what stands between brackets, of any kind, beginning with the one that is next.
  void skipBalanced();

  [[noreturn]] void fail(const std::string &message) { failAt(here(), message); }
  [[noreturn]] void failAt(size_t offset, const std::string &message) const;
  /// What is next, for messages.
  std::string found();

  std::string_view slice(size_t from, size_t to) const { return text.substr(from, to - from); }
  std::string_view all() const { return text; }
  void moveTo(size_t offset) { position = offset; }

private:
  void skip();

  std::string_view text;
  size_t position = 0;
};

} // namespace plim::importers::stablehlo
