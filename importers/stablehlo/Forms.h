// How operations are written that have nothing but operands, words and values: "stablehlo.pad %0, %1, low = [0], high = [1]".
#pragma once

#include <map>
#include <string_view>
#include <vector>

namespace plim::importers::stablehlo {

struct Form {
  std::map<std::string_view, std::string_view>
      words;                            // "low" of "low = [0]", and the attribute that it is
  std::vector<std::string_view> values; // attributes that stand as bare words, in their order
  bool inParentheses = false;           // operands and words
};

/// Of an operation by its whole name; none if it is not known or written in another way.
const Form *formOf(std::string_view name);

} // namespace plim::importers::stablehlo
