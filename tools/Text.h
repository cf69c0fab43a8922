// Text for people: sizes, times, names and tables. Any thread.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace plim::tools {

/// Blanks in front of every line of a table.
constexpr size_t tableIndent = 2;

/// Four significant digits, all digits of a large whole part.
std::string formatNumber(double value);

/// "64 KiB", "6.96 GiB".
std::string formatBytes(int64_t bytes);

/// "17.6 us", "41.65 ms", "1.075 s".
std::string formatSeconds(double seconds);

/// "; did you mean 'x'?" with the nearest of `names`; nothing where none is near.
std::string suggestion(std::string_view name, const std::vector<std::string> &names);

/// `text` with what a terminal would act on as "\\x1b": names come from sources.
std::string printable(std::string_view text);

/// Appends blanks up to the column, at least one.
void pad(std::string &line, size_t column);

/// Rows of cells, headings first, each column as wide as its widest cell. Columns of numbers, "-"
/// among them for none, are flush right.
void writeTable(std::ostream &out, const std::vector<std::vector<std::string>> &rows);

} // namespace plim::tools
