// Text for people: sizes, times, names, tables, and what went wrong. Any thread.
#pragma once

#include "support/Status.h"

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

/// `text` with what a terminal would act on as "\\x1b": names come from sources.
std::string printable(std::string_view text);

/// How a command ends: 1 after one line on `err`; 0 without one where the status is good. Messages of the compiler begin with
/// their place, which is worth more than the name of the code.
int fail(std::ostream &err, std::string_view message);
int exitStatus(std::ostream &err, const Status &status);

/// Appends blanks up to the column, at least one.
void pad(std::string &line, size_t column);

/// Rows of cells, headings first, each column as wide as its widest cell. Columns of numbers, "-"
/// among them for none, are flush right.
void writeTable(std::ostream &out, const std::vector<std::vector<std::string>> &rows);

} // namespace plim::tools
