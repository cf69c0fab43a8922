// Text for people: sizes and tables. Any thread.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace plim::tools {

/// Blanks in front of every line of a table.
constexpr size_t tableIndent = 2;

/// Four significant digits.
std::string formatNumber(double value);

/// "64 KiB", "6.96 GiB".
std::string formatBytes(int64_t bytes);

/// `text` with what a terminal would act on as "\\x1b": names come from sources.
std::string printable(std::string_view text);

/// Appends blanks up to the column, at least one.
void pad(std::string &line, size_t column);

/// Rows of cells, headings first, each column as wide as its widest cell. Columns of numbers, "-"
/// among them for none, are flush right.
void writeTable(std::ostream &out, const std::vector<std::vector<std::string>> &rows);

} // namespace plim::tools
