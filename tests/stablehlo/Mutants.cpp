// Damages texts of StableHLO at random and imports each: the process must live, and every import end in time.
//
//   stablehlo_mutants SEED COUNT LAST FILE...
//
// LAST is a file that holds the text which is being imported, to look at if this process ends there.

#include "importers/emit/Error.h"
#include "importers/stablehlo/Stablehlo.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

using namespace plim::importers;

namespace {

constexpr double mostSeconds = 10; // of one import

// NOLINTNEXTLINE(bugprone-random-generator-seed)
std::mt19937_64 numbers; // until a seed is given

size_t below(size_t limit) { return limit ? numbers() % limit : 0; }

bool isWordPart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '%' || c == '#';
}

struct Token {
  size_t begin, end;
};

std::vector<Token> tokensOf(const std::string &text) {
  std::vector<Token> out;
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    if (isWordPart(text[i]))
      while (end < text.size() && isWordPart(text[end]))
        ++end;
    if (text[i] != ' ' && text[i] != '\n')
      out.push_back({i, end});
    i = end;
  }
  return out;
}

void damageBytes(std::string &text) {
  const size_t at = below(text.size());
  switch (below(5)) {
  case 0:
    text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
    break;
  case 1:
    text[at] = static_cast<char>(below(256));
    break;
  case 2:
    text.erase(at, 1 + below(9));
    break;
  case 3:
    text.resize(at);
    break;
  default:
    text.insert(at, 1 + below(3), "{}[]()<>\"#%@!:,x-?0"[below(19)]);
  }
}

void damageTokens(std::string &text) {
  const std::vector<Token> tokens = tokensOf(text);
  if (tokens.empty())
    return;
  const Token one = tokens[below(tokens.size())], other = tokens[below(tokens.size())];
  const std::string word = text.substr(other.begin, other.end - other.begin);
  static const char *const values[] = {"0",
                                       "-1",
                                       "1",
                                       "2",
                                       "65",
                                       "9223372036854775807",
                                       "-9223372036854775808",
                                       "1000000000000",
                                       "tensor<f32>",
                                       "tensor<?xf32>",
                                       "i1",
                                       "ui8",
                                       "f64",
                                       "[]",
                                       "dense<0>",
                                       "{}",
                                       "true",
                                       "4294967296"};
  switch (below(5)) {
  case 0:
    text.erase(one.begin, one.end - one.begin);
    break;
  case 1:
    text.insert(one.begin, word + " ");
    break;
  case 2:
    text.replace(one.begin, one.end - one.begin, word);
    break;
  default:
    text.replace(one.begin, one.end - one.begin, values[below(std::size(values))]);
  }
}

} // namespace

int main(int count, char **arguments) {
  if (count < 5)
    return 2;
  numbers.seed(std::strtoull(arguments[1], nullptr, 10));
  const long wanted = std::strtol(arguments[2], nullptr, 10);
  std::vector<std::string> texts;
  for (int i = 4; i < count; ++i) {
    std::ifstream file(arguments[i]);
    texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  long good = 0, wrong = 0, refused = 0, faults = 0;
  double longest = 0;
  for (long i = 0; i < wanted; ++i) {
    std::string text = texts[below(texts.size())];
    static constexpr size_t often[] = {1, 1, 1, 2, 5};
    for (size_t k = often[below(std::size(often))]; k > 0 && !text.empty(); --k)
      below(2) ? damageBytes(text) : damageTokens(text);
    std::ofstream(arguments[3]) << text;
    const auto start = std::chrono::steady_clock::now();
    std::string message;
    try {
      stablehlo::isStablehlo(text);
      stablehlo::import(text);
      ++good;
    } catch (const ImportError &error) {
      ++(error.kind == ImportError::Kind::Invalid ? wrong : refused);
      message = error.what();
      // All but a few have a place: a whole module that has no function has none.
      if (message.empty() ||
          ((message[0] < '0' || message[0] > '9') && !message.starts_with("the module has no")))
        std::printf("no place: %s\n", message.c_str()), ++faults;
    } catch (const std::exception &error) {
      std::printf("fault: %s\n", error.what());
      ++faults;
    }
    if (message.find('\n') != std::string::npos)
      std::printf("not one line: %s\n", message.c_str()), ++faults;
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    longest = std::max(longest, seconds.count());
    if (seconds.count() > mostSeconds)
      std::printf("%g s\n", seconds.count()), ++faults;
  }
  std::printf("imported %ld, wrong %ld, not supported %ld, faults %ld; the longest took %.3f s\n",
              good, wrong, refused, faults, longest);
  return faults ? 1 : 0;
}
