#include "tools/EarlyChecks.h"

#include "engine/io/Npy.h"
#include "engine/runtime/ElementType.h"
#include "support/Nearest.h"

#include <algorithm>
#include <optional>

namespace plim::tools {

namespace {

struct Header {
  std::string name;
  bool isPrivate = false;
  std::vector<std::string_view> results; // types; empty where they are not understood
};

void skipBlanks(std::string_view &text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\n\r"), text.size()));
}

bool skipWord(std::string_view &text, std::string_view word) {
  skipBlanks(text);
  if (!text.starts_with(word))
    return false;
  text.remove_prefix(word.size());
  return true;
}

/// Takes what is in front of the first `ends` that is in no brackets and no string, which stays.
std::string_view takeUntil(std::string_view &text, std::string_view ends) {
  int depth = 0;
  bool isString = false;
  size_t i = 0;
  for (; i < text.size(); ++i) {
    const char each = text[i];
    if (isString) {
      isString = each != '"';
      continue;
    }
    if (depth == 0 && ends.find(each) != std::string_view::npos)
      break;
    if (each == '"')
      isString = true;
    else if (text.substr(i, 2) == "->")
      ++i;
    else
      depth += int(each == '(' || each == '[' || each == '{' || each == '<') -
               int(each == ')' || each == ']' || each == '}' || each == '>');
  }
  const std::string_view taken = text.substr(0, i);
  text.remove_prefix(i);
  return taken;
}

/// Types of what stands behind "->": "f32", or "(f32, tensor<2xf32> {attribute})".
std::vector<std::string_view> resultsOf(std::string_view text) {
  std::vector<std::string_view> results;
  if (!skipWord(text, "("))
    return {takeUntil(text, " \t\n\r{")};
  do {
    std::string_view result = takeUntil(text, ",)");
    skipBlanks(result);
    results.push_back(takeUntil(result, " \t\n\r{"));
  } while (skipWord(text, ","));
  return results;
}

/// A name as it stands behind '@'; nothing for one with escapes.
std::optional<std::string> takeName(std::string_view &text) {
  if (!skipWord(text, "\"")) {
    const std::string_view name = text.substr(0, text.find_first_of("( \t\n\r"));
    text.remove_prefix(name.size());
    return std::string(name);
  }
  const std::string_view name = text.substr(0, text.find('"'));
  text.remove_prefix(std::min(name.size() + 1, text.size()));
  if (name.find('\\') != std::string_view::npos)
    return std::nullopt;
  return std::string(name);
}

/// The functions, or nothing where there may be others: in bytecode, in what is compiled, in the generic form.
std::optional<std::vector<Header>> headersOf(std::string_view text) {
  if (text.find('\0') != std::string_view::npos || text.find("sym_name") != std::string_view::npos)
    return std::nullopt;
  std::vector<Header> headers;
  constexpr std::string_view keyword = "func.func";
  for (size_t at = text.find(keyword); at != std::string_view::npos; at = text.find(keyword, at)) {
    at += keyword.size();
    std::string_view rest = text.substr(at);
    Header header;
    header.isPrivate = skipWord(rest, "private ");
    if (!header.isPrivate)
      skipWord(rest, "public ");
    if (!skipWord(rest, "@"))
      continue; // in a comment
    std::optional<std::string> name = takeName(rest);
    if (!name)
      return std::nullopt;
    header.name = std::move(*name);
    if (skipWord(rest, "(")) {
      takeUntil(rest, ")");
      if (skipWord(rest, ")") && skipWord(rest, "->"))
        header.results = resultsOf(rest);
    }
    headers.push_back(std::move(header));
  }
  if (headers.empty())
    return std::nullopt;
  return headers;
}

/// Of a scalar, tensor or memref as it is printed.
std::optional<runtime::ElementType> elementOf(std::string_view type) {
  if (skipWord(type, "tensor<") || skipWord(type, "memref<")) {
    const std::string_view inside = takeUntil(type, ",>");
    size_t begin = 0; // behind the extents
    while (begin < inside.size() &&
           (inside[begin] == '?' || (inside[begin] >= '0' && inside[begin] <= '9'))) {
      const size_t end = inside.find('x', begin);
      if (end == std::string_view::npos)
        return std::nullopt;
      begin = end + 1;
    }
    type = inside.substr(begin);
  }
  return runtime::elementTypeFromName(type);
}

} // namespace

Status checkCall(std::string_view text, const std::string &module, const std::string &function,
                 const std::vector<std::string> &outputs) {
  const std::optional<std::vector<Header>> headers = headersOf(text);
  if (!headers)
    return okStatus();
  std::vector<std::string> names;
  const Header *called = nullptr;
  for (const Header &header : *headers) {
    if (header.isPrivate)
      continue;
    names.push_back(header.name);
    if (function.empty() || header.name == function)
      called = &header;
  }
  const bool isSomewhere = text.find("@" + function) != std::string_view::npos ||
                           text.find("\"" + function + "\"") != std::string_view::npos;
  if (!isSomewhere)
    return notFoundError("no public function '" + function + "' in " + module +
                         suggestion(function, names));
  if (!called || (function.empty() && names.size() != 1))
    return okStatus();
  for (size_t i = 0; i < std::min(outputs.size(), called->results.size()); ++i)
    if (std::optional<runtime::ElementType> element = elementOf(called->results[i]))
      PLIM_RETURN_IF_ERROR(io::checkNpyElements(*element).withContext(outputs[i]));
  return okStatus();
}

} // namespace plim::tools
