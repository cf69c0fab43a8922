#include "tools/Text.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ostream>

namespace plim::tools {

std::string formatNumber(double value) {
  std::array<char, 32> text;
  const bool isLarge = value >= 1e4 && value < 1e15;
  std::snprintf(text.data(), text.size(), isLarge ? "%.0f" : "%.4g", value);
  return text.data();
}

std::string formatBytes(int64_t bytes) {
  constexpr std::array units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < units.size(); ++unit)
    value /= 1024;
  return formatNumber(value) + " " + units[unit];
}

std::string formatSeconds(double seconds) {
  if (seconds < 1e-3)
    return formatNumber(seconds * 1e6) + " us";
  return seconds < 1 ? formatNumber(seconds * 1e3) + " ms" : formatNumber(seconds) + " s";
}

std::string printable(std::string_view text) {
  std::string result;
  for (char each : text) {
    auto byte = static_cast<unsigned char>(each);
    if (byte >= 0x20 && byte != 0x7f) {
      result += each;
      continue;
    }
    constexpr std::string_view digits = "0123456789abcdef";
    result += {'\\', 'x', digits[byte / 16], digits[byte % 16]};
  }
  return result;
}

int fail(std::ostream &err, std::string_view message) {
  err << "error: " << message << "\n";
  return 1;
}

int exitStatus(std::ostream &err, const Status &status) {
  return status.ok() ? 0 : fail(err, status.message());
}

void pad(std::string &line, size_t column) {
  line.append(line.size() < column ? column - line.size() : 1, ' ');
}

void writeTable(std::ostream &out, const std::vector<std::vector<std::string>> &rows) {
  std::vector<size_t> widths;
  std::vector<bool> isNumeric;
  for (size_t r = 0; r < rows.size(); ++r) {
    widths.resize(std::max(widths.size(), rows[r].size()));
    isNumeric.resize(widths.size(), true);
    for (size_t i = 0; i < rows[r].size(); ++i) {
      const std::string &cell = rows[r][i];
      widths[i] = std::max(widths[i], cell.size());
      bool isNumber = cell == "-" || (!cell.empty() && cell[0] >= '0' && cell[0] <= '9');
      if (r > 0 && !isNumber)
        isNumeric[i] = false;
    }
  }
  for (const std::vector<std::string> &cells : rows) {
    std::string line;
    size_t column = tableIndent;
    for (size_t i = 0; i < cells.size(); ++i) {
      line.resize(column + (isNumeric[i] ? widths[i] - cells[i].size() : 0), ' ');
      line += cells[i];
      column += widths[i] + 2;
    }
    out << line << "\n";
  }
}

} // namespace plim::tools
